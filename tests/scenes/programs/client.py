#!/usr/bin/env python3
"""Clients of the service that say what they like.

    client.py ask SOCKET [TEXT]...       sends each text on a connection of its own, or each line of
                                         stdin with its line feed, and prints what comes: one line
                                         each, `-` for a connection that is closed without a word
    client.py hold SOCKET N TEXT         keeps N connections open that have sent the text, and read
                                         nothing; prints "ready", and at the end of stdin how many
                                         the service has closed
    client.py listen ADDRESS             a manager at a path or an abstract name (@NAME): prints
                                         each message that comes, its lines joined by a blank
Bytes are written as in Python: \\n. CLIENT_UID is the user that it becomes before it connects,
CLIENT_LIMIT how many seconds it waits.
"""

import os
import select
import socket
import struct
import sys


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    if "CLIENT_LIMIT" in os.environ:
        limit = struct.pack("ll", int(os.environ["CLIENT_LIMIT"]), 0)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)  # of connect, too
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    client.connect(path)
    return client


def send(client, text):
    try:
        client.sendall(text.encode().decode("unicode_escape").encode("latin-1"))
    except OSError:  # it is dropped
        pass


def ask(path, texts):
    for text in texts or (line.rstrip("\n") + "\\n" for line in sys.stdin):
        answer = b""
        with connect(path) as client:
            send(client, text)
            try:
                while part := client.recv(65536):
                    answer += part
            except OSError:
                pass
        print(answer.decode().strip().replace("\n", " ") or "-", flush=True)


def hold(path, n, text):
    clients = [connect(path) for _ in range(int(n))]
    for client in clients:
        send(client, text)
    print("ready", flush=True)
    sys.stdin.read()
    closed = 0
    for client in clients:
        client.setblocking(False)
        try:
            while part := client.recv(65536):
                pass
            closed += part == b""
        except BlockingIOError:
            pass
        except OSError:
            closed += 1
    print(closed, flush=True)


def listen(address):
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind("\0" + address[1:] if address[0] == "@" else address)
    print("ready", flush=True)
    while select.select([manager], [], []):
        print(manager.recv(4096).decode().strip().replace("\n", " "), flush=True)


if "CLIENT_UID" in os.environ:  # it may not read the files of Python then
    b"x".decode("unicode_escape").encode("latin-1")
    os.setgid(int(os.environ["CLIENT_UID"]))
    os.setuid(int(os.environ["CLIENT_UID"]))
CALLS = {"ask": lambda path, *texts: ask(path, texts), "hold": hold, "listen": listen}
CALLS[sys.argv[1]](*sys.argv[2:])
