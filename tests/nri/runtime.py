# runtime.py - a runtime that calls an NRI plugin, for tests: frames, ttrpc and protobuf
# SPDX-License-Identifier: MIT
#
# Written from the grammars of containerd/nri and ttrpc, and shares no code with the plugin.
import os
import select
import socket
import struct
import time

PLUGIN, RUNTIME = 1, 2
REQUEST, RESPONSE = 1, 2
MESSAGE_MAX = 4 << 20


# -- protobuf: a message is a list of (field, value) -------------------------------------------


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def pack(*fields):
    """int: a varint; str, bytes: bytes of a length; list of fields: a message."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
            continue
        if isinstance(value, str):
            value = value.encode()
        elif isinstance(value, (list, tuple)):
            value = pack(*value)
        out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def unpack(data):
    """{field: [value, ...]}"""
    out, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        else:
            assert key & 7 == 2, "a wire type that NRI does not use: %d" % (key & 7)
            size = number()
            value = data[at : at + size]
            assert len(value) == size, "a field is cut"
            at += size
        out.setdefault(key >> 3, []).append(value)
    return out


def first(message, *path):
    """The value at a path of fields, as bytes; b"" where there is none."""
    for field in path:
        message = unpack(message).get(field, [b""])[-1]
    return message


def resources(cpus="", mems="", quota=0):
    cpu = [(2, [(1, quota)]), (3, [(1, 100000)])] * bool(quota)
    cpu += [(6, cpus)] * bool(cpus) + [(7, mems)] * bool(mems)
    return [(2, cpu)]


def container(name, devices=(), env=(), cpus="", mems="", cgroup="", state=3, pod="p1", quota=0):
    linux = [(2, [(1, "/dev/x"), (2, "c"), (3, a), (4, b)]) for a, b in devices]
    linux += [(3, resources(cpus, mems, quota)), (5, cgroup)]
    return [(1, "id-" + name), (2, pod), (3, name), (4, state), (5, [(1, "k"), (2, "v")])] + [
        (8, e) for e in env
    ] + [(11, linux), (12, 4711), (15, 1 << 60)]


def pod(parent="", name="pod-1", ident="p1"):
    return [(1, ident), (2, name), (4, "default"), (8, [(3, parent)])]


# -- frames ----------------------------------------------------------------------------------


def frame(connection, payload):
    return struct.pack(">II", connection, len(payload)) + payload


def message(stream, kind, data):
    return struct.pack(">IIBB", len(data), stream, kind, 0) + data


def call(service, method, payload):
    return pack((1, service), (2, method), (3, payload), (4, 2000000000))


class Closed(Exception):
    pass


class Peer:
    """One connection of the plugin."""

    def __init__(self, fd):
        self.fd = fd
        self.trunk = b""
        self.stream = {PLUGIN: b"", RUNTIME: b""}
        self.next = 1

    def close(self):
        self.fd.close()

    def send(self, data, step=0):
        """step: bytes of a write; 0: all at once."""
        if not step:
            return self.fd.sendall(data)
        for at in range(0, len(data), step):
            self.fd.sendall(data[at : at + step])
        return None

    def take(self, connection, seconds=5.0):
        """The next message of a connection: (stream, kind, data)."""
        end = time.monotonic() + seconds
        while True:
            text = self.stream[connection]
            if len(text) >= 10:
                size, stream, kind, flags = struct.unpack(">IIBB", text[:10])
                assert size <= MESSAGE_MAX and flags == 0
                if len(text) >= 10 + size:
                    self.stream[connection] = text[10 + size :]
                    return stream, kind, text[10 : 10 + size]
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise TimeoutError("no message within %.1f s" % seconds)
            try:
                got = self.fd.recv(65536)
            except ConnectionResetError:
                got = b""
            if not got:
                raise Closed()
            self.trunk += got
            while len(self.trunk) >= 8:
                to, size = struct.unpack(">II", self.trunk[:8])
                # containerd reads a frame into 4,096 bytes.
                assert to in self.stream and 0 < size <= 4096, (to, size)
                if len(self.trunk) < 8 + size:
                    break
                self.stream[to] += self.trunk[8 : 8 + size]
                self.trunk = self.trunk[8 + size :]

    def is_closed(self, seconds=5.0):
        try:
            self.take(PLUGIN, seconds)
        except Closed:
            return True
        except TimeoutError:
            return False
        return False

    def ask(self, method, payload, step=0, service="nri.pkg.api.v1alpha1.Plugin"):
        """(code, text, reply)"""
        stream, self.next = self.next, self.next + 2
        self.send(frame(PLUGIN, message(stream, REQUEST, call(service, method, payload))), step)
        got, kind, data = self.take(PLUGIN)
        assert (got, kind) == (stream, RESPONSE), (got, kind, stream)
        status = unpack(first(data, 1))
        text = status.get(2, [b""])[0].decode()
        return status.get(1, [0])[0], text, first(data, 2)

    def create(self, c, p=None):
        """(code, text, cpus, mems, {variable: value})"""
        code, text, reply = self.ask("CreateContainer", pack((1, p or pod()), (2, c)))
        adjust = first(reply, 1)
        cpu = first(adjust, 6, 2, 2)
        env = {}
        for one in unpack(adjust).get(4, []):
            env[first(one, 1).decode()] = first(one, 2).decode()
        assert set(unpack(reply)) <= {1} and set(unpack(adjust)) <= {4, 6}
        return code, text, first(cpu, 6).decode(), first(cpu, 7).decode(), env


class Runtime:
    """Listens as containerd does, at a path."""

    def __init__(self, path):
        self.path = path
        self.listen()

    def listen(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.fd = socket.socket(socket.AF_UNIX)
        self.fd.bind(self.path)
        self.fd.listen(8)

    def end(self):
        self.fd.close()
        os.unlink(self.path)

    def accept(self, seconds=10.0):
        self.fd.settimeout(seconds)
        fd, _ = self.fd.accept()
        fd.setblocking(True)
        return Peer(fd)

    def meet(self, seconds=10.0, containers=(), refusal=""):
        """Accepts a plugin that registers, and configures it."""
        peer = self.accept(seconds)
        stream, kind, data = peer.take(RUNTIME)
        assert (stream, kind) == (1, REQUEST)
        assert first(data, 1) == b"nri.pkg.api.v1alpha1.Runtime", data
        assert first(data, 2) == b"RegisterPlugin"
        assert first(data, 3, 1) == b"cpubind" and first(data, 3, 2) == b"90"
        reply = pack((1, [(1, 2), (2, refusal)])) if refusal else pack((2, b""))
        peer.send(frame(RUNTIME, message(1, RESPONSE, reply)))
        if refusal:
            return peer
        asked = pack((2, "fake"), (3, "v1"), (4, 5000), (5, 2000), (6, "v0.6.1"))
        code, text, reply = peer.ask("Configure", asked)
        assert code == 0, text
        assert unpack(reply)[2] == [1 << 3 | 1 << 7]
        peer.synchronized = peer.ask("Synchronize", pack((1, pod()), *[(2, c) for c in containers]))
        return peer
