#!/usr/bin/env python3
"""A process that answers as irqbalance does, and moves no interrupt.

    irqbalance_double.py DIR PLACE [stays]     prints a line once it listens

PLACE is `run` for /run/irqbalance/irqbalancePID.sock, `named` or `nameless` for the abstract
sockets of older versions, `none` for no socket. DIR/bans has its list, a number a line; DIR/asked
all commands. It serves its own user. As irqbalance(1), "API", it reads a command once and at most
500 bytes of it, serves one connection after the other, and dies of SIGPIPE if the client is gone
before the answer, unless it `stays`. DIR/how has a word and a number, if it is to be otherwise:
    nobody 0      closes every connection
    nothing 0     accepts a connection, and does nothing
    nonsense 0    as the answer to `setup`
    chatter 0     answers all commands
    cuts N        keeps N bytes of a list
    rival N       another program bans 77, and the next ones, after each of N lists
    slow MS       so long for each command
    thinks MS     so long for `setup`
"""

import contextlib
import os
import pathlib
import signal
import socket
import struct
import sys
import time

folder, place = pathlib.Path(sys.argv[1]), sys.argv[2]
if "stays" not in sys.argv:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
pathlib.Path("/proc/self/comm").write_text("irqbalance")
rivals = 0


def bans():
    return [int(number) for number in (folder / "bans").read_text().split()]


def keep(numbers):
    once = list(dict.fromkeys(numbers))
    (folder / "bans.new").write_text("".join(f"{number}\n" for number in once))
    os.rename(folder / "bans.new", folder / "bans")


def how():
    word, number = (folder / "how").read_text().split() if (folder / "how").exists() else ("", 0)
    return word, int(number)


def replace(text, word, number):
    global rivals
    numbers = []
    text = text[:number] if word == "cuts" else text
    for at, part in enumerate(text.split()):
        if part == "NONE" or part == "0" and at > 0:
            break
        numbers.append(int(part))
    if word == "rival" and rivals < number:
        numbers.append(77 + rivals)
        rivals += 1
    keep(numbers)


def serve(connection):
    text, control, *_ = connection.recvmsg(500, socket.CMSG_SPACE(12))
    uids = [struct.unpack("3i", data)[1] for _, kind, data in control
            if kind == socket.SCM_CREDENTIALS]
    word, number = how()
    if uids != [os.geteuid()] or word == "nobody":
        return
    text = text.decode()
    while word == "nothing":
        time.sleep(1)
    time.sleep(number / 1000 if word == "slow" else 0)
    with open(folder / "asked", "a") as asked:
        asked.write(text + "\n")
    if text.startswith("settings ban irqs "):
        replace(text[len("settings ban irqs "):], word, number)
    if text.startswith("setup"):
        time.sleep(number / 1000 if word == "thinks" else 0)
        answer = "SLEEP 10 " + "".join(f"IRQ {irq} LOAD 7 DIFF 0 CLASS 0 " for irq in bans())
        connection.sendall(b"SLEEP soundly" if word == "nonsense" else
                           (answer + "BANNED 00000000").encode())
    elif word == "chatter" and text.startswith("s"):
        connection.sendall(b"OK")


listener = socket.socket(socket.AF_UNIX)
if place == "run":
    os.makedirs("/run/irqbalance", exist_ok=True)
    listener.bind(f"/run/irqbalance/irqbalance{os.getpid()}.sock")
elif place != "none":  # the name has the length of sun_path
    name = f"irqbalance{os.getpid()}.sock".encode() if place == "named" else b""
    listener.bind(b"\0" + name.ljust(107, b"\0"))
print("ready", flush=True)
if place == "none":
    signal.pause()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
listener.listen(1)
while True:
    client, _ = listener.accept()
    with contextlib.suppress(ConnectionError, ValueError):
        serve(client)
    client.close()
