#!/usr/bin/env python3
"""A process that holds memory: a mapping of so many MiB of each argument, between pages of its own.

    holder.py MIB...     prints the address of each and "ready"; ends with its standard input

With an l behind its number, a mapping is locked.
"""

import ctypes
import mmap
import sys

PAGE = 4096
libc = ctypes.CDLL(None, use_errno=True)
kept = []
for word in sys.argv[1:]:
    size = int(word.rstrip("l")) << 20
    memory = mmap.mmap(-1, size + 2 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for guard in start, start + PAGE + size:
        if libc.mprotect(ctypes.c_void_p(guard), PAGE, 0) != 0:
            sys.exit("mprotect")
    for at in range(PAGE, PAGE + size, PAGE):
        memory[at] = 1
    if word.endswith("l") and libc.mlock(ctypes.c_void_p(start + PAGE), size) != 0:
        sys.exit("mlock")
    kept.append(memory)
    print(f"{start + PAGE:x}", end=" ")
print("ready", flush=True)
sys.stdin.read()
