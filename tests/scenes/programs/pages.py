#!/usr/bin/env python3
"""A server that answers as it is told, whatever is right: for scenes that read pages over HTTP.

    pages.py DIR [ADDRESS]     prints the port, then serves

The answer to GET /NAME is the file DIR/NAME, head and all, or DIR/NAME.0 and DIR/NAME.1 by turns;
HTTP 503 without one. The file DIR/NAME.how has a number and a word, how it is from the N-th on:
    N busy      HTTP 503
    N pieces    a byte at a time
    N hangs     the connection stays open without an answer
    N head      a head without an end
    N page      a page without an end
The last request is kept as DIR/NAME.asked.
"""

import pathlib
import socket
import sys
import threading
import time

BUSY = b"HTTP/1.0 503 Service Unavailable\r\n\r\n"
ENDLESS = {"head": b"HTTP/1.0 200 OK\r\nx: " + b"x" * (17 << 20),
           "page": b"HTTP/1.0 200 OK\r\n\r\n# " + b"x" * (17 << 20)}
folder = pathlib.Path(sys.argv[1])
asked = {}
lock = threading.Lock()


def answer(connection):
    request = b""
    while b"\r\n\r\n" not in request:
        part = connection.recv(4096)
        if not part:
            return
        request += part
    name = request.split()[1].decode().lstrip("/")
    with lock:
        n = asked[name] = asked.get(name, -1) + 1
    (folder / (name + ".asked")).write_bytes(request)
    how = folder / (name + ".how")
    after, word = how.read_text().split() if how.exists() else ("0", "")
    word = word if n >= int(after) else ""
    if word == "hangs":
        time.sleep(60)
    page = folder / f"{name}.{n % 2}" if (folder / (name + ".0")).exists() else folder / name
    if word in ENDLESS:
        text = ENDLESS[word]
    elif word == "busy" or not page.exists():
        text = BUSY
    else:
        text = page.read_bytes()
    step = 1 if word == "pieces" else len(text) or 1
    for at in range(0, len(text), step):
        connection.sendall(text[at:at + step])
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(4096):
        pass


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        answer(connection)
    except OSError:  # the client has seen enough
        pass
    connection.close()


address = sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1"
with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as listener:
    listener.bind((address, 0))
    listener.listen(64)
    print(listener.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
