#!/usr/bin/env python3
"""A kubelet that answers List of podresources on a socket, in one way.

    kubelet_double.py SOCKET CASE CPU CPU

The CPUs are two of this machine. Frames of HTTP/2 and fields of protobuf are written by hand, so
that each can be wrong; headers are literals without an index. The case `grpc` is a server of
python3-grpcio. Prints a line once it listens.
"""
import os
import socket
import struct
import sys
import time

path, case, a, b = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
DATA, HEADERS, SETTINGS = 0, 1, 4
END_STREAM, END_HEADERS = 1, 4


# == Protobuf ====================================================================

def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def topology(nodes):
    return fields(1, [field(1, node) for node in nodes])


def devices(resource, ids, nodes):
    return field(1, resource) + fields(2, ids) + field(3, topology(nodes))


def container(name, cpus=(), gave=(), memory=(), claims=()):
    return (field(1, name) + fields(2, gave) + field(3, b"".join(varint(cpu) for cpu in cpus)) +
            fields(4, memory) + fields(5, claims))


def pod(space, name, *containers):
    return field(1, name) + field(2, space) + fields(3, containers)


# The GPU of the worker, which is on node 0, has the address 0000:01:00.0.
GPU = devices("nvidia.com/gpu", ["0000:01:00.0"], [0])
MEMORY = field(1, "memory") + field(2, 1 << 30) + field(3, topology([0]))
CLAIM = (field(2, "gpus") + field(3, "prod") +
         field(4, field(1, field(1, "nvidia.com/gpu=0")) + field(2, "gpu.nvidia.com") +
               field(4, "gpu-0")) +
         field(4, field(2, "cpu.example.com") + field(4, "numa0")))
# A pod of the same name in another namespace, without CPUs to itself.
OTHER = pod("test", "vllm-0", container("worker"))

PODS = {
    "right": [OTHER, pod("prod", "vllm-0", container("worker", [a, b], [GPU], [MEMORY]))],
    "lacks": [OTHER, pod("prod", "vllm-0", container("worker", [a, b, 500], [GPU]))],
    "more": [OTHER, pod("prod", "vllm-0", container("worker", [a], [GPU]))],
    "taken": [pod("test", "vllm-0", container("worker", [b])),
              pod("prod", "vllm-0", container("worker", [a], [GPU]))],
    "none": [OTHER, pod("prod", "vllm-0", container("worker"))],
    "claim": [pod("prod", "vllm-0", container("worker", claims=[CLAIM]))],
    "other_device": [pod("prod", "vllm-0", container(
        "worker", [a, b], [devices("nvidia.com/gpu", ["0000:02:00.0::1"], [0])]))],
    "other_node": [pod("prod", "vllm-0", container(
        "worker", [a, b], [devices("nvidia.com/gpu", ["0000:01:00.0"], [1])]))],
    "unlisted": [OTHER],
    "bad_cpu": [pod("prod", "vllm-0", container("worker", [65536]))],
}


# == HTTP/2 ======================================================================

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(
        ">I", stream) + payload


def headers(flags, **values):
    block = b""
    for name, value in values.items():
        name = name.replace("__", ":").replace("_", "-").encode()
        block += bytes([0, len(name)]) + name + bytes([len(value)]) + value.encode()
    return frame(HEADERS, flags | END_HEADERS, 1, block)


def message(pods, flag=0):
    body = fields(1, pods)
    return bytes([flag]) + struct.pack(">I", len(body)) + body


START = frame(SETTINGS, 0, 0) + headers(0, __status="200", content_type="application/grpc")
END = headers(END_STREAM, grpc_status="0")


def data(text, size):
    return b"".join(frame(DATA, 0, 1, text[at:at + size]) for at in range(0, len(text), size))


def reply():
    if case in PODS:
        return START + data(message(PODS[case]), 16384) + END
    text = message(PODS["right"])
    return {
        "two_frames": lambda: START + data(text, len(text) // 2 + 1) + END,
        "compressed": lambda: START + data(message(PODS["right"], 1), 16384) + END,
        "truncated": lambda: START + data(text[:-3], 16384) + END,
        "ends": lambda: START + data(text[:-3], 16384),
        "refused": lambda: frame(SETTINGS, 0, 0) + headers(
            END_STREAM, __status="200", content_type="application/grpc", grpc_status="12",
            grpc_message="unknown service v1.Pod%52esources%4Cister"),
        "http1": lambda: b"HTTP/1.1 400 Bad Request\r\n\r\n",
        "slow": lambda: b"",
    }[case]()


def read_windows(connection, state):
    """Adds what the client grants; returns once something has come."""
    state["text"] += connection.recv(65536)
    while len(state["text"]) >= 9:
        size = int.from_bytes(state["text"][:3], "big")
        if len(state["text"]) < 9 + size:
            break
        kind, stream = state["text"][3], state["text"][8]
        if kind == 8:
            state[stream] += int.from_bytes(state["text"][9:9 + size], "big")
        state["text"] = state["text"][9 + size:]


# More than 4 MiB, and so many empty pods that they need too much memory.
LONG = {
    "huge": lambda: bytes(300 * 16384),
    "grows": lambda: b"\0" + struct.pack(">I", 4 << 20) + bytes([10, 0]) * (2 << 20),
}


def send_long(connection, text):
    """By the rules of flow control."""
    connection.sendall(START)
    preface = b""
    while len(preface) < 24:
        preface += connection.recv(24 - len(preface))
    state = {0: 65535, 1: 65535, "text": b""}
    for at in range(0, len(text), 16384):
        while min(state[0], state[1]) < 16384:
            read_windows(connection, state)
        connection.sendall(frame(DATA, 0, 1, text[at:at + 16384]))
        state[0] -= 16384
        state[1] -= 16384
    connection.sendall(END)


def fill(path):
    """Connections that wait in the queue of a server until it has room for no more."""
    waiting = []
    try:
        while True:
            waiting.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            waiting[-1].setblocking(False)
            waiting[-1].connect(path)
    except BlockingIOError:
        return waiting


def serve():
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(0 if case == "full" else 8)
    waiting = fill(path) if case == "full" else []
    print("listening", flush=True)
    while waiting:
        time.sleep(60)
    while True:
        connection, _ = listener.accept()
        try:
            if case in LONG:
                send_long(connection, LONG[case]())
            else:
                connection.sendall(reply())
            if case == "ends":
                connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        except OSError:
            pass
        connection.close()


def serve_grpc():
    from concurrent import futures
    import grpc

    class Lister(grpc.GenericRpcHandler):
        def service(self, details):
            if details.method != "/v1.PodResourcesLister/List":
                return None
            return grpc.unary_unary_rpc_method_handler(
                lambda request, context: message(PODS["right"])[5:])

    server = grpc.server(futures.ThreadPoolExecutor(max_workers=1))
    server.add_generic_rpc_handlers((Lister(),))
    server.add_insecure_port("unix:" + path)
    server.start()
    print("listening", flush=True)
    while True:
        time.sleep(60)


if os.path.exists(path):
    os.unlink(path)
serve_grpc() if case == "grpc" else serve()
