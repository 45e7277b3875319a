# loader.py - a loader of data as engines have it: multiprocessing with a GPU's files open
# SPDX-License-Identifier: MIT
#
#   loader.py NAME METHOD N uses|none     N children by fork, spawn or forkserver, each of which
#                                         writes its number to NAME.I; with "uses" it opens the GPU
import multiprocessing, os, sys, time

def use():
    return [os.open(name, os.O_RDWR) for name in ("/dev/nvidia5", "/dev/nvidia-uvm")]

def work(name, parent, uses):
    files = use() if uses else []
    with open(name + ".new", "w") as file:
        file.write("%d\n" % os.getpid())
    os.rename(name + ".new", name)
    while os.path.exists("/proc/%d/exe" % parent):
        time.sleep(0.1)

if __name__ == "__main__":
    files = use()
    method, n, uses = sys.argv[2], int(sys.argv[3]), sys.argv[4] == "uses"
    context = multiprocessing.get_context(method)
    for i in range(n):
        name = "%s.%d" % (sys.argv[1], i)
        context.Process(target=work, args=(name, os.getpid(), uses), daemon=True).start()
    time.sleep(1000)
