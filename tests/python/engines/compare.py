# SPDX-License-Identifier: MIT
"""compare.py - cpubind.vllm_ascend beside the module of vllm-ascend that it replaces

  compare.py plans CHECKOUT [HOST...]
      masks and log lines of each rank. The module of the checkout runs with an execute_command
      that prints what a captured host printed; cpubind runs as in an engine, as a dry run.
      Prints a line for each host, and the first difference. Exit status 0: no difference
  compare.py time CHECKOUT
      how long bind_cpus takes, and how many processes it starts, of 1 rank and of 16 at once.
      Both bind for real, in a lab (lab.sh): SHIM is the path of affinity_shim.so. npu-smi takes
      LAB_NPU_SMI_SECONDS (default 0.2) there, the other commands nothing

CHECKOUT is a checkout of vllm-ascend. Not a part of make check: it needs that checkout.
"""
import ctypes
import glob
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import fixture_hosts  # noqa: E402
from reference_tests import STANDINS, import_or_stand_in, load  # noqa: E402

HOSTS = """a2-192cpu-8npu a2-192cpu-8npu-cpuset a2-192cpu-8npu-training a2-192cpu-odd-homes
    a2-192cpu-4node-8npu a2-256cpu-8npu a2-96cpu-wrap a2-cards-host a2-cpuset-half-nodes
    a2-cpuset-node a2-cpuset-pieces a2-cpuset-second-cpus a2-no-affinity a2-x86-one-thread
    a2-x86-siblings-48-apart a2-x86-snc-4nodes 910a-192cpu-8npu 300i-duo-vm-32cpu
    a3-320cpu-8npu-smt a3-640cpu-16npu a3-superpod-640cpu-16npu a3-x86-192cpu-16npu
    950-smt1-256cpu 950-smt2-640cpu 950-smt2-one-thread""".split()
PRODUCTS = {"a2": "A2", "a3": "A3", "300i": "_310P", "950": "A5"}


def text_of(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def as_printed(folder, expand):
    """An execute_command that prints what the commands printed on a captured host."""
    system = folder + "/sys/devices/system/"

    def execute_command(cmd):
        if cmd[0] == "npu-smi":
            return text_of(folder + "/cmd/" + "-".join(w.strip("-") for w in cmd) + ".txt"), 0
        if cmd == ["lscpu"]:
            siblings = text_of(system + "cpu/cpu0/topology/thread_siblings_list").strip()
            return "Thread(s) per core: %d" % len(expand(siblings or "0")), 0
        if cmd[0] == "lscpu":
            return "".join("%d %s\n" % (cpu, node.rsplit("node", 1)[1])
                           for node in glob.glob(system + "node/node*")
                           for cpu in expand(text_of(node + "/cpulist").strip() or "0")), 0
        return "", 0
    return execute_command


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def lines_of(logger, act):
    heard = Lines()
    logger.addHandler(heard)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        act()
    except Exception as error:
        heard.lines.append("%s: %s" % (type(error).__name__, error))
    finally:
        logger.removeHandler(heard)
    # A dry run does not look for threads.
    return [line for line in heard.lines
            if not line.startswith(("[cpubind]", "[cpu_bind_ascend_950] uvb"))]


def reference_lines(reference, folder, rank):
    def plan():
        worker = reference.CpuAlloc(rank)
        if worker.build_cpu_pools():
            worker.allocate()
            worker.print_plan()
    with mock.patch.object(reference, "execute_command",
                           as_printed(folder, reference.DeviceInfo.expand_cpu_list)), \
            mock.patch.object(reference, "ALLOWED_CPUS_PATH", folder + "/proc/self/status"):
        return lines_of(reference.logger, plan)


def our_lines(ours, folder, rank, npu, options):
    environment = {"CPUBIND_ROOT": folder, "CPUBIND_RULES": "reference",
                   "CPUBIND_OPTIONS": "running=yes " + options}
    with mock.patch.dict(os.environ, environment):
        return lines_of(ours.logger, lambda: ours.bind_cpus(rank, npu_id=npu))


def running_npus(reference, folder):
    with mock.patch.object(reference, "execute_command",
                           as_printed(folder, reference.DeviceInfo.expand_cpu_list)), \
            mock.patch.object(reference, "ALLOWED_CPUS_PATH", folder + "/proc/self/status"):
        return reference.DeviceInfo().running_npu_list


def compare_host(reference, ours, folder):
    import cpubind
    with cpubind.Host.folder(folder) as host:
        facts = host.plan(rules="reference", overlap="keep").dict()
    os.environ["STANDIN_PRODUCT"] = PRODUCTS[facts["device_type"]]
    keep, resolve, first = 0, 0, None
    npus = running_npus(reference, folder)
    for rank, npu in enumerate(npus):
        theirs = reference_lines(reference, folder, rank)
        mine = our_lines(ours, folder, rank, npu, "overlap=keep")
        keep += theirs == mine
        resolve += theirs == our_lines(ours, folder, rank, npu, "")
        if theirs != mine and first is None:
            first = (rank, theirs, mine)
    print("%-28s %-5s %2d ranks, same lines and masks: %2d with overlap=keep, %2d without"
          % (os.path.basename(folder), os.environ["STANDIN_PRODUCT"], len(npus), keep,
             resolve))
    for name, lines in zip(("reference", "cpubind"), first[1:] if first else ()):
        print("\n".join("    rank %d %-9s %s" % (first[0], name, line) for line in lines))
    return keep == len(npus)


def compare(checkout, hosts):
    sys.path.insert(0, STANDINS)
    import_or_stand_in("psutil")
    import_or_stand_in("regex")
    reference = load("reference", os.path.join(checkout, "vllm_ascend", "cpu_binding.py"))
    import cpubind.vllm_ascend as ours
    same = [compare_host(reference, ours, fixture_hosts.folder(name))
            for name in hosts or HOSTS]
    print("%d of %d hosts: every rank has the lines and masks of the reference"
          % (sum(same), len(same)))
    return 0 if all(same) else 1


def name_thread(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)  # PR_SET_NAME


def work(which, rank, checkout):
    """Binds this process, with threads as a worker has them; prints the milliseconds."""
    sys.path.insert(0, STANDINS)
    import_or_stand_in("psutil")
    import_or_stand_in("regex")
    os.environ["STANDIN_PRODUCT"] = "A3"
    end = threading.Event()

    def run(name):
        name_thread(name)
        end.wait()
    names = ["acl_thread", "release_thread"] * 2 + ["hccl_watchdog"] * 8 + ["python"] * 28
    for name in names:
        threading.Thread(target=run, args=(name,), daemon=True).start()
    if which == "reference":
        module = load("reference", os.path.join(checkout, "vllm_ascend", "cpu_binding.py"))
        module.ALLOWED_CPUS_PATH = os.environ["LAB_HOST"] + "/proc/self/status"
        module.is_arm_cpu = lambda: True
    else:
        import cpubind.vllm_ascend as module
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    module.logger.setLevel(logging.INFO)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    started = time.perf_counter()
    module.bind_cpus(rank)
    print("%.1f" % (1000 * (time.perf_counter() - started)))
    sys.stdout.flush()
    os._exit(0)


def run_ranks(which, n, checkout):
    """Starts n workers, lets them bind at once, and prints the milliseconds of each."""
    command = [sys.executable, __file__, "worker", which]
    workers = [subprocess.Popen(command + [str(rank), checkout], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True) for rank in range(n)]
    for worker in workers:
        worker.stdout.readline()
    for worker in workers:
        worker.stdin.write("bind\n")
        worker.stdin.flush()
    print(" ".join(worker.stdout.readline().strip() for worker in workers))
    return max(worker.wait() for worker in workers)


def measure(checkout):
    folder = fixture_hosts.folder("a3-640cpu-16npu")
    lab = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lab.sh")
    environment = dict({"LAB_NPU_SMI_SECONDS": "0.2"}, **os.environ)
    print("%-10s %5s  %12s %12s  %s" % ("", "ranks", "median ms", "slowest ms", "processes"))
    for n in (1, 16):
        for which in ("reference", "cpubind"):
            with tempfile.TemporaryDirectory() as place:
                done = subprocess.run(
                    [lab, folder, place, sys.executable, __file__, "ranks", which, str(n),
                     checkout], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    env=environment)
                if done.returncode != 0:
                    sys.exit(done.stderr)
                took = sorted(map(float, done.stdout.split()))
                started = {}
                for line in text_of(place + "/started").splitlines():
                    started[line.split()[0]] = started.get(line.split()[0], 0) + 1
            print("%-10s %5d  %12.1f %12.1f  %d %s" % (which, n, took[n // 2], took[-1],
                                                       sum(started.values()), started))
    return 0


def main(words):
    if words[:1] == ["plans"] and len(words) > 1:
        return compare(words[1], words[2:])
    if words[:1] == ["time"] and len(words) == 2:
        return measure(words[1])
    if words[:1] == ["ranks"]:
        return run_ranks(words[1], int(words[2]), words[3])
    if words[:1] == ["worker"]:
        return work(words[1], int(words[2]), words[3])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
