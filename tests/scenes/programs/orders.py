#!/usr/bin/env python3
"""Plays random orders of commands on the made host of orders.sh, and compares what is left.

    orders.py CPUBIND WORKER DIR PRELOAD ORDERS SEED

An order is some steps: a worker is bound, doctor mends, one of them is put back, a command is
killed or refused a file, somebody else moves a thread or an interrupt, a worker ends, the host
boots again. Then all is put back, each user once, in a random order: the host must be as at
first, or as somebody else has left it, and nothing on record. DIR is the folder of the scene.
Prints the seed, the first order that has left something, and what.
"""

import os
import pathlib
import random
import re
import subprocess
import sys
import time

cpubind, worker, folder, preload, n_order, seed = sys.argv[1:7]
folder = pathlib.Path(folder)
shim, records = folder / "shim", pathlib.Path("/run/cpubind")
names = ["pt_a", "pt_b"]
env = dict(os.environ, LD_PRELOAD=preload, CPUBIND_REFUSED=str(folder / "refused"))
cpu = "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor"
irqs = {f"/proc/irq/{irq}/smp_affinity_list": ["100", "30", "31"] for irq in range(400, 404)}
knobs = {
    "/proc/sys/kernel/numa_balancing": ["1", "2"],
    cpu % 146: ["powersave", "ondemand"],
    cpu % 147: ["powersave", "ondemand"],
    **irqs,
    str(folder / "daemon/bans"): ["17", "17\n401", "17\n402\n403"],
}
draw = random.Random(int(seed))
table = (folder / "live/cmd/npu-smi-info.txt").read_text()
live, ended, played, may_be, counts = [], [], [], set(), {}


def write(path, value):
    pathlib.Path(path).write_text(value + "\n")


def read(path):
    return sorted(pathlib.Path(path).read_text().split())


def threads(pid):
    """The number of each thread of a worker, by its name."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return {(task / "comm").read_text().strip(): task.name for task in tasks}


def mask(tid):
    path = shim / tid
    return path.read_text().strip() if path.exists() else "0-191"


class Worker:
    """A process that drives NPU 0, two threads of which share a CPU."""

    def __init__(self):
        self.process = subprocess.Popen([worker, "acl_thread", *names], stdout=subprocess.PIPE)
        self.process.stdout.readline()
        self.pid = self.process.pid
        self.thread = threads(self.pid)
        for tid in self.thread.values():
            (shim / tid).unlink(missing_ok=True)
        for name in names:  # doctor goes by what the kernel says
            os.sched_setaffinity(int(self.thread[name]), {min(os.sched_getaffinity(0))})

    def end(self):
        self.process.kill()
        self.process.communicate()

    def state(self):
        return {f"{self.pid} {name}": [mask(tid)] for name, tid in self.thread.items()}


def list_workers():
    """Lets npu-smi print the workers, and no other process."""
    row = re.search(r"^\| 0 +0 +\| 73201 .*\n", table, re.M).group()
    listed = "".join(row.replace(f"{73201:<13}", f"{w.pid:<13}") for w in live)
    text = re.sub(r"^\| [1-7] +0 +\| 73\d* .*\n", "", table, flags=re.M)
    text = re.sub(r"(^\| 0 +0 +\| 73\d* .*\n)+", listed, text, flags=re.M)
    (folder / "live/cmd/npu-smi-info.txt").write_text(text)
    for path in records.glob("npu-smi*"):
        path.unlink()


def begin():
    """Draws how the host is, and starts a worker or two."""
    for path, values in knobs.items():
        write(path, draw.choice(values))
    while len(live) < draw.choice([1, 2]):
        live.append(Worker())
    for w in live:
        for name in names:
            write(shim / w.thread[name], draw.choice(["0", "0", "30"]))
    list_workers()


def state():
    """Each value of the host and of the workers that live, by its name."""
    all_of = {path: read(path) for path in knobs}
    for w in live:
        all_of.update(w.state())
    return all_of


def run(*words, limit=None, refused=""):
    (folder / "refused").write_text(refused)
    words = [str(word) for word in words]
    command = subprocess.Popen([cpubind, *words], env=env, text=True, encoding="latin-1",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if limit is not None:
        time.sleep(limit)
        command.kill()
    said = command.communicate()[0]
    played.append(f"{' '.join(words)}: {command.returncode}"
                  + (f", killed after {limit:.3f}" if limit is not None else "")
                  + (f", refused {refused.strip()}" if refused else ""))
    row = counts.setdefault(f"{words[0]} {words[1]}" if words[0] == "doctor" else words[0], {})
    row[command.returncode] = row.get(command.returncode, 0) + 1
    if command.returncode not in (0, 1, 4, -9):
        raise SystemError(said)


def fix():
    return ["doctor", "--fix", "--allowed", "0-191", "-o", "rules=reference"]


def apply():
    words = ["apply", "--pid", draw.choice(live).pid, "--device", "npu0", "--allowed", "0-191",
             "--memory", "none", "-o", "irqbalance=" + draw.choice(["leave", "ban", "ban"])]
    return words + draw.choice([[], ["--thread", "pt_*=150"], ["--thread", "pt_b=leave"],
                                ["--exclude", "144-145"], ["--exclude", "144-145"]])


def restore():
    users = [["--pid", w.pid] for w in live + ended]
    return ["restore", *draw.choice([*users, ["--all"], ["--ended"]])]


def unfix():
    return ["doctor", "--restore"]


def end():
    if len(live) > 1:
        gone = live.pop(draw.randrange(2))
        gone.end()
        ended.append(gone)
        list_workers()
        played.append(f"worker {gone.pid} ends")


def move():
    """Somebody else moves a thread or an interrupt: it may stay there."""
    path = draw.choice(list(irqs))
    if draw.randrange(3) == 0:
        w, name = draw.choice(live), draw.choice(names)
        write(shim / w.thread[name], "32")
        may_be.add((f"{w.pid} {name}", "32"))
    else:
        write(path, "32")
        may_be.add((path, "32"))
    played.append(f"moved: {may_be}")


def boot():
    """Nothing of before is left but the records, which say nothing now."""
    for w in live:
        w.end()
    live.clear()
    ended.clear()
    may_be.clear()
    write("/proc/sys/kernel/random/boot_id", f"boot-{draw.randrange(1 << 30)}")
    begin()
    played.append("boot")


def step():
    what = draw.choice([apply, apply, apply, fix, fix, restore, unfix, move, move, end, boot])
    if what in (move, end, boot):
        what()
        return what is boot
    how = draw.randrange(6)
    limit = draw.random() * 0.06 if how == 0 else None
    refused = f"{draw.choice(list(knobs))} {draw.choice([5, 28, 16])}\n" if how == 1 else ""
    run(*what(), limit=limit, refused=refused)
    return False


def put_back():
    users = [unfix(), *(["restore", "--pid", w.pid] for w in live)]
    if ended:
        users.append(["restore", "--ended"])
    draw.shuffle(users)
    for words in users:
        run(*words)


def play():
    """Plays an order. Returns what it has left: what was, and what is."""
    played.clear()
    may_be.clear()
    begin()
    before = state()
    played.append(before)
    for _ in range(draw.randint(1, 6)):
        if step():
            before = state()
            played.append(before)
    put_back()
    ended.clear()
    after = state()
    left = [path.name for path in records.glob("*.record")]
    return left + [f"{key}: {is_now}, not {before[key]}" for key, is_now in after.items()
                   if is_now != before[key] and (key, " ".join(is_now)) not in may_be]


print(f"seed {seed}")
for order in range(int(n_order)):
    left = play()
    if left:
        print(f"order {order}:", *played, "left:", *left, sep="\n")
        sys.exit(1)
print(f"{n_order} orders:", ", ".join(f"{name} {row}" for name, row in counts.items()))
