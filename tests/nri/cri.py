# cri.py - a client of CRI, and an image, for tests of a real containerd
# SPDX-License-Identifier: MIT
#
# Calls what kubelet calls, over gRPC (python3-grpcio); messages are those of runtime.py.
import hashlib
import io
import json
import os
import tarfile
import time

import grpc

from runtime import first, pack, unpack

NODE = 2  # a namespace of the host


def write_image(path, busybox, name):
    """An OCI image with busybox alone, as a tar file."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        for folder in "bin", "dev", "proc", "sys", "tmp", "etc":
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(info)
        with open(busybox, "rb") as file:
            data = file.read()
        info = tarfile.TarInfo("bin/busybox")
        info.size, info.mode = len(data), 0o755
        tar.addfile(info, io.BytesIO(data))
        for command in "sh", "sleep", "cat", "grep", "env":
            info = tarfile.TarInfo("bin/" + command)
            info.type, info.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(info)
    blobs = {}

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": kind, "digest": "sha256:" + digest, "size": len(data)}

    of = "application/vnd.oci.image."
    layer = blob(layer.getvalue(), of + "layer.v1.tar")
    config = blob(json.dumps({
        "architecture": "amd64" if os.uname().machine == "x86_64" else "arm64", "os": "linux",
        "config": {"Env": ["PATH=/bin"], "Cmd": ["/bin/sleep", "1000000"]},
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}).encode(), of + "config.v1+json")
    manifest = blob(json.dumps({"schemaVersion": 2, "mediaType": of + "manifest.v1+json",
                                "config": config, "layers": [layer]}).encode(), of + "manifest.v1+json")
    manifest["annotations"] = {"io.containerd.image.name": name}
    with tarfile.open(path, "w") as tar:
        files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
                 "index.json": json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode()}
        files.update(("blobs/sha256/" + digest, data) for digest, data in blobs.items())
        for file, data in files.items():
            info = tarfile.TarInfo(file)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


class Refused(Exception):
    pass


class Client:
    def __init__(self, socket, image):
        self.channel = grpc.insecure_channel("unix://" + socket)
        self.image = image
        self.n = 0

    def call(self, method, *fields):
        ask = self.channel.unary_unary("/runtime.v1.RuntimeService/" + method,
                                       request_serializer=bytes, response_deserializer=bytes)
        try:
            return ask(pack(*fields), timeout=60)
        except grpc.RpcError as error:
            raise Refused(error.details()) from None

    def is_ready(self):
        try:
            conditions = unpack(first(self.call("Status"), 1)).get(1, [])
        except Refused:
            return False
        return any(first(c, 1) == b"RuntimeReady" and unpack(c).get(2) == [1] for c in conditions)

    def run_pod(self, name, parent):
        self.n += 1
        security = [(1, [(1, NODE)])]
        config = [(1, [(1, name), (2, "uid-%s-%d" % (name, self.n)), (3, "default"), (4, 0)]),
                  (3, "/tmp"), (8, [(1, parent), (2, security)])]
        return first(self.call("RunPodSandbox", (1, config)), 1).decode(), config

    def create(self, pod, name, command, devices=(), env=(), mounts=(), cpus="",
               shares=0, quota=0):
        """The id of a container, which was created."""
        limits = [(1, 100000), (2, quota)] * bool(quota) + [(3, shares)] * bool(shares)
        limits += [(6, cpus)] * bool(cpus)
        config = [(1, [(1, name), (2, 0)]), (2, [(1, self.image)])]
        config += [(3, word) for word in command]
        config += [(6, list(zip((1, 2), one.split("=", 1)))) for one in env]
        config += [(7, [(1, path), (2, path)]) for path in mounts]
        config += [(8, [(1, to), (2, of), (3, "rwm")]) for of, to in devices]
        config += [(11, name + ".log"), (15, [(1, limits), (2, [(3, [(1, NODE)])])])]
        got = self.call("CreateContainer", (1, pod[0]), (2, config), (3, pod[1]))
        return first(got, 1).decode()

    def start(self, container):
        self.call("StartContainer", (1, container))

    def run(self, pod, *args, **more):
        container = self.create(pod, *args, **more)
        self.start(container)
        return container

    def update(self, container, cpus):
        self.call("UpdateContainerResources", (1, container), (2, [(6, cpus)]))

    def execute(self, container, *command):
        got = self.call("ExecSync", (1, container), *[(2, word) for word in command], (3, 30))
        return first(got, 1).decode()

    def pid(self, container):
        for one in unpack(self.call("ContainerStatus", (1, container), (2, 1))).get(2, []):
            if first(one, 1) == b"info":
                return json.loads(first(one, 2))["pid"]
        raise AssertionError("the runtime tells no pid")

    def remove(self, pod):
        self.call("StopPodSandbox", (1, pod[0]))
        self.call("RemovePodSandbox", (1, pod[0]))


def wait_for(test, seconds=10.0):
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
