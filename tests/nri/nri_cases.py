# nri_cases.py - what cpubind-nri does for a runtime, case by case; nri.sh starts it; prints TAP
# SPDX-License-Identifier: MIT
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import traceback

from runtime import (MESSAGE_MAX, PLUGIN, REQUEST, RESPONSE, RUNTIME, Runtime, call, container,
                     first, frame, message, pack, pod, resources, unpack)

OUT, COMMAND, PLUGIN_FILE = os.environ["NRI_OUT"], os.environ["CPUBIND"], os.environ["NRI_PLUGIN"]
SOCKET, RUNTIME_SOCKET = "/run/cpubind/service.sock", "/run/nri/nri.sock"
ALL, MEMS = "0-191", "0-7"
NPU = 236  # the driver's number

# -- Processes -------------------------------------------------------------------------------


def start_service():
    process = subprocess.Popen(
        [COMMAND, "service", OUT + "/conf", "--root", OUT + "/root"],
        stderr=open(OUT + "/service.log", "ab"))
    for _ in range(200):
        if ask_service("status"):
            return process
        time.sleep(0.05)
    raise AssertionError("the service does not start")


def ask_service(line):
    try:
        with socket.socket(socket.AF_UNIX) as fd:
            fd.connect(SOCKET)
            fd.sendall(line.encode() + b"\n")
            fd.settimeout(5)
            text = b""
            while True:
                got = fd.recv(65536)
                if not got:
                    return json.loads(text.splitlines()[-1])
                text += got
    except (OSError, IndexError):
        return None


def start_plugin(*options, program=PLUGIN_FILE):
    return subprocess.Popen([program, "--cgroups", OUT + "/cgroups", *options],
                            stderr=open(OUT + "/plugin.log", "ab"))


def said():
    with open(OUT + "/plugin.log") as log:
        return log.read()


def becomes(words, seconds=5.0):
    end = time.monotonic() + seconds
    while words not in said():
        assert time.monotonic() < end, "not said: " + words
        time.sleep(0.02)


def end(process):
    process.kill()
    process.wait()


def put(path, text):
    path = OUT + "/cgroups" + path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def numbers(text):
    out = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        out |= set(range(int(low), int(high or low) + 1))
    return out


def plan():
    """{NPU: CPUs} of all NPUs, as plan gives them."""
    text = subprocess.run([COMMAND, "plan", "--root", OUT + "/root", "--json", "--allowed", ALL,
                           "--devices", "npu0-7"], check=True, capture_output=True).stdout
    return {npu["npu"]: numbers(npu["pool"]) for npu in json.loads(text)["devices"]}


def worker(name="worker", npus=(3,), cpus=ALL, mems=MEMS, **more):
    return container(name, [(NPU, n) for n in npus], cpus=cpus, mems=mems, **more)


# -- Cases -----------------------------------------------------------------------------------


def a_container_is_placed_by_its_device_files():
    for npu in range(8):
        code, text, cpus, mems, env = peer.create(worker(npus=[npu]))
        assert code == 0 and numbers(cpus) == pools[npu], (npu, cpus)
        assert mems and numbers(mems) < numbers(MEMS), mems
        assert env == {"OMP_NUM_THREADS": str(len(pools[npu]) - 4)}, env
    becomes("pod default/pod-1, container worker: CPUs ")
    becomes(" of 0-191, memory nodes ")
    becomes(", OMP_NUM_THREADS=20")


def by_the_variable_of_its_runtime():
    for value in "Ascend910-2,Ascend910-5", "2,5", "2, 5":
        _, _, cpus, _, env = peer.create(
            container("v", env=["A=b", "ASCEND_VISIBLE_DEVICES=" + value], cpus=ALL, mems=MEMS))
        assert numbers(cpus) == pools[2] | pools[5], cpus
        assert env["OMP_NUM_THREADS"] == "20"
    _, _, cpus, _, _ = peer.create(container("v", env=["ASCEND_VISIBLE_DEVICES=4-7"], cpus=ALL))
    assert numbers(cpus) == pools[4] | pools[5] | pools[6] | pools[7]
    # The variable counts, whatever files there are.
    _, _, cpus, _, _ = peer.create(
        container("v", [(NPU, 1), (1, 11)], env=["ASCEND_VISIBLE_DEVICES=3"], cpus=ALL))
    assert numbers(cpus) == pools[3]


def a_variable_that_is_set_stays():
    _, _, cpus, _, env = peer.create(worker(env=["OMP_NUM_THREADS=3"]))
    assert numbers(cpus) == pools[3] and env == {}


def a_quota_bounds_the_threads():
    def threads(**more):
        return peer.create(worker(**more))[4]["OMP_NUM_THREADS"]

    put("/podQ/cpu.max", "max 100000\n")
    assert threads(cgroup="/podQ/id") == "20"
    assert threads(cgroup="/podQ/id", quota=850000) == "8"
    assert threads(cgroup="/podQ/id", quota=30000) == "1"
    assert threads(cgroup="/podQ/id", quota=9000000) == "20"
    put("/podQ/cpu.max", "300000 50000\n")
    assert threads(cgroup="/podQ/id") == "6"
    assert threads(cgroup="/podQ/id", quota=400000) == "4"
    put("/podQ/cpu.max", "x\n")
    assert threads(cgroup="/podQ/id") == "20"


def what_has_no_device_is_untouched():
    before = said()
    for c in (container("a", cpus=ALL), container("b", [(10, 229), (5, 1)], cpus=ALL),
              container("c", env=["ASCEND_VISIBLE_DEVICES=all"], cpus=ALL),
              container("d", env=["ASCEND_VISIBLE_DEVICES=void"], cpus=ALL),
              container("e", env=["ASCEND_VISIBLE_DEVICES="], cpus=ALL),
              container("privileged", [(NPU, n) for n in range(8)] + [(1, 11)], cpus=ALL)):
        assert peer.create(c) == (0, "", "", "", {}), c
    assert said() == before, "it says something"


def a_grant_is_never_left():
    seen = 0
    for seed in range(300):
        dice = random.Random(seed)
        chosen = set()
        for _ in range(dice.randint(1, 4)):
            low = dice.randrange(192)
            chosen |= set(range(low, min(192, low + dice.randint(1, 90))))
        nodes = {n for n in range(8) if dice.random() < 0.6} or {0}
        grant = ",".join(sequence(sorted(chosen)))
        npus = dice.sample(range(8), dice.randint(1, 3))
        mems = ",".join(sequence(sorted(nodes)))
        code, _, cpus, got, env = peer.create(worker(npus=npus, cpus=grant, mems=mems))
        wanted = set().union(*(pools[n] for n in npus)) & chosen
        assert code == 0
        assert numbers(got) <= nodes
        if all(len(pools[n] & chosen) >= 5 for n in npus):
            assert numbers(cpus or grant) == wanted, (grant, cpus)
            assert int(env["OMP_NUM_THREADS"]) == min(
                max(1, len(pools[n] & chosen) - 4) for n in npus)
            seen += 1
        else:
            assert (cpus, got, env) == ("", "", {}), (grant, cpus)
    assert 20 < seen < 280, seen


def sequence(ids):
    start = None
    for i, n in enumerate(ids):
        start = n if start is None else start
        if i + 1 == len(ids) or ids[i + 1] != n + 1:
            yield str(n) if n == start else "%d-%d" % (start, n)
            start = None


def a_grant_that_is_right_is_left_alone():
    pool = ",".join(sequence(sorted(pools[3])))
    code, _, cpus, _, env = peer.create(worker(cpus=pool))
    assert (code, cpus) == (0, "") and "OMP_NUM_THREADS" in env


def without_a_request_the_cgroup_counts():
    put("/cpuset.cpus.effective", ALL + "\n")
    put("/cpuset.mems.effective", MEMS + "\n")
    put("/kubepods/burstable/podX/cpuset.cpus.effective", "100-191\n")
    put("/kubepods/burstable/podX/cpuset.mems.effective", "\n")
    _, _, cpus, mems, _ = peer.create(worker(cpus="", mems="", cgroup="/kubepods/burstable/podX/id"))
    assert numbers(cpus) == pools[3] & set(range(100, 192)) and mems
    # systemd: slice:prefix:name
    put("/kubepods.slice/kubepods-podY.slice/cpuset.cpus.effective", "100-115\n")
    _, _, cpus, _, _ = peer.create(worker(cpus="", cgroup="kubepods-podY.slice:cri-containerd:id"))
    assert numbers(cpus) == pools[3] & set(range(100, 116))
    # cgroup v1
    put("/v1/podZ/cpuset.effective_cpus", "110-191\n")
    _, _, cpus, _, _ = peer.create(worker(cpus="", cgroup="/v1/podZ/id"))
    assert numbers(cpus) == pools[3] & set(range(110, 192))
    # The parent of the pod, where the container has no path.
    _, _, cpus, _, _ = peer.create(worker(cpus=""), pod("/kubepods/burstable/podX"))
    assert numbers(cpus) == pools[3] & set(range(100, 192))
    # What is there and cannot be read, or makes no sense, is no grant.
    put("/bad/cpuset.cpus.effective", "all of them\n")
    os.makedirs(OUT + "/cgroups/worse/cpuset.cpus.effective", exist_ok=True)
    for cgroup in "/bad/id", "/worse/id", "/../../etc":
        assert peer.create(worker(cpus="", cgroup=cgroup)) == (0, "", "", "", {})
    becomes("left where it is: the cpus that it may have are not known: Protocol error")
    becomes("left where it is: the cpus that it may have are not known: Is a directory")


def a_refusal_leaves_the_container_alone():
    far = ",".join(sequence(sorted(numbers(ALL) - pools[3])))
    assert peer.create(worker(cpus=far)) == (0, "", "", "", {})
    becomes("container worker: left where it is: npu3 has 0 of its CPUs among those that the "
            "container may have (%s), and needs 5; the service binds its workers" % far)
    assert peer.create(container("u", env=["ASCEND_VISIBLE_DEVICES=8"], cpus=ALL))[2] == ""
    becomes("container u: left where it is: this host has no device ascend=8; ")
    assert peer.create(container("w", env=["ASCEND_VISIBLE_DEVICES=0;reboot"], cpus=ALL))[2] == ""
    becomes("container w: left where it is: the name of a device has a byte that none may have")
    assert peer.create(container("x", [(NPU, n) for n in range(400)], cpus=ALL))[2] == ""
    becomes("container x: left where it is: it has too many devices")
    for bad in "1,0", "0-", "-1", "0-191,", "99999999999", " 0-3":
        assert peer.create(worker(cpus=bad)) == (0, "", "", "", {}), bad
    becomes("left where it is: what it may have is no list of numbers")


def names_of_pods_make_no_lines():
    peer.create(container("n\n<3>forged\x1b[2J", [(NPU, 3)], cpus="0"))
    becomes("container n?<3>forged?[2J: left")


def an_update_is_cut_again():
    def update(c, *fields):
        code, text, reply = peer.ask("UpdateContainer", pack((1, pod()), (2, c), *fields))
        assert code == 0, text
        return [(first(u, 1).decode(), first(u, 2, 1, 2, 6).decode(), first(u, 2, 1, 2, 7).decode())
                for u in unpack(reply).get(1, [])]

    got = update(worker(), (3, resources("100-191")))
    assert len(got) == 1 and got[0][0] == "id-worker" and got[0][2] == "", got
    assert numbers(got[0][1]) == pools[3] & set(range(100, 192)), got
    assert update(worker(), (3, resources())) == []
    assert update(worker()) == []
    assert update(container("plain", cpus=ALL), (3, resources("3-9"))) == []
    assert update(worker(), (3, resources("0-3"))) == []  # refused: as the runtime has it
    # Memory that is there would be moved while the runtime waits.
    assert update(worker(), (3, resources("100-191", MEMS)))[0][2] == ""


def synchronize_moves_what_has_too_many():
    pool = ",".join(sequence(sorted(pools[6])))
    for name, cpus in ("wide", ALL), ("right", pool), ("far", "0"), ("plain", ALL):
        put("/run/%s/cpuset.cpus.effective" % name, cpus + "\n")
        put("/run/%s/cpuset.mems.effective" % name, "%s\n" % (7 if name == "right" else MEMS))
    rows = [container(name, [(NPU, 6)] if name != "plain" else [], cgroup="/run/" + name,
                      state=4 if name == "stopped" else 3)
            for name in ("wide", "right", "far", "plain", "stopped")]
    code, _, reply = peer.ask("Synchronize", pack((1, pod()), *[(2, c) for c in rows]))
    updates = unpack(reply).get(1, [])
    assert code == 0 and 2 not in unpack(reply)
    assert [first(u, 1) for u in updates][0] == b"id-wide"
    assert numbers(first(updates[0], 2, 1, 2, 6).decode()) == pools[6]
    assert all(unpack(u)[3] == [1] for u in updates), "a container that ended would stop all"
    assert len(updates) == 1 and first(updates[0], 2, 1, 2, 7) == b"", "memory is left alone"
    becomes("containers that run: 1 on the CPUs of their devices, 1 moved there, 1 left to the "
            "service, 1 without devices")
    becomes("pod default/pod-1, container far: left where it is: npu6 has 0")


def synchronize_in_several_calls():
    put("/run/wide/cpuset.cpus.effective", ALL + "\n")
    wide = [container("wide%d" % i, [(NPU, i % 8)], cgroup="/run/wide") for i in range(12)]
    for i in range(0, 8, 4):
        code, _, reply = peer.ask("Synchronize",
                                  pack((1, pod()), *[(2, c) for c in wide[i:i + 4]], (3, 1)))
        assert code == 0 and unpack(reply) == {2: [1]}, reply
    code, _, reply = peer.ask("Synchronize", pack(*[(2, c) for c in wide[8:]]))
    assert code == 0 and 2 not in unpack(reply)
    assert [first(u, 1).decode() for u in unpack(reply)[1]] == ["id-wide%d" % i for i in range(12)]
    becomes("containers that run: 0 on the CPUs of their devices, 12 moved there, 0 left")


def calls_that_it_has_not():
    assert peer.ask("ValidateContainerAdjustment", b"")[0] == 12
    assert peer.ask("UpdatePodSandbox", b"")[0] == 12
    assert peer.ask("CreateContainer", b"", service="nri.pkg.api.v2.Plugin")[0] == 12
    for method in "StateChange", "StopContainer", "Shutdown":
        assert peer.ask(method, pack((1, pod())))[::2] == (0, b""), method
    becomes("the runtime ends")
    assert peer.ask("CreateContainer", pack((1, pod())))[0] == 3  # without a container
    assert peer.ask("CreateContainer", b"\x0a\x7f")[0] == 3  # a damaged request
    assert numbers(peer.create(worker())[2]) == pools[3]


def frames_in_pieces():
    data = pack((1, pod()), (2, worker()))
    code, _, reply = peer.ask("CreateContainer", data, step=1)
    assert code == 0 and numbers(first(reply, 1, 6, 2, 2, 6).decode()) == pools[3]
    # A message in many frames, those of another connection between; two messages in one frame.
    text = message(9001, REQUEST, call("nri.pkg.api.v1alpha1.Plugin", "CreateContainer", data))
    split = b"".join(frame(PLUGIN, text[i:i + 7]) + frame(77, b"?" * 5) + frame(PLUGIN, b"")
                     for i in range(0, len(text), 7))
    peer.send(split)
    assert peer.take(PLUGIN)[:2] == (9001, RESPONSE)
    peer.send(frame(PLUGIN, text + text))
    assert peer.take(PLUGIN)[0] == 9001 and peer.take(PLUGIN)[0] == 9001
    # The largest that there may be.
    env = ["X%d=" % i + "y" * 100000 for i in range(41)]
    code, _, cpus, _, _ = peer.create(worker(env=env))
    assert code == 0 and numbers(cpus) == pools[3]


def damaged_frames_end_the_connection():
    global peer
    good = call("nri.pkg.api.v1alpha1.Plugin", "StateChange", b"")
    for data, words in (
            (struct.pack(">II", PLUGIN, MESSAGE_MAX + 11), "the length is too large"),
            (struct.pack(">II", 77, 0xffffffff), "the length is too large"),
            (frame(PLUGIN, struct.pack(">IIBB", MESSAGE_MAX + 1, 1, 1, 0)), "the length is too large"),
            (frame(PLUGIN, message(1, 3, good)), "neither a request nor a response"),
            (frame(PLUGIN, message(1, RESPONSE, good)), "came over the wrong connection"),
            (frame(RUNTIME, message(1, REQUEST, good)), "came over the wrong connection"),
            (frame(RUNTIME, message(1, RESPONSE, b"\xff")), "a response makes no sense"),
            (frame(PLUGIN, message(1, REQUEST, b"\x0a\xff")), "a request makes no sense")):
        before = said().count(words)
        peer.send(data)
        assert peer.is_closed(), words
        peer.close()
        peer = runtime.meet()
        assert said().count(words) == before + 1, words
    assert numbers(peer.create(worker())[2]) == pools[3]


def a_runtime_that_restarts():
    global peer
    peer.send(frame(PLUGIN, message(1, REQUEST, b"x" * 100))[:50])  # ends within a frame
    peer.close()
    runtime.end()
    becomes("the runtime has closed the connection")
    becomes("no runtime calls this plugin: /var/run/nri/nri.sock: No such file or directory")
    time.sleep(1)
    runtime.listen()
    peer = runtime.meet()
    assert numbers(peer.create(worker())[2]) == pools[3]


def a_registration_that_is_refused():
    global peer
    peer.close()
    refused = runtime.meet(refusal="no plugins today")
    assert refused.is_closed()
    becomes("the runtime refuses this plugin: no plugins today")
    refused.close()
    peer = runtime.meet()


def a_service_that_hangs():
    service.send_signal(signal.SIGSTOP)
    for _ in range(3):
        start = time.monotonic()
        got = peer.create(worker("hang"))
        took = time.monotonic() - start
        assert got == (0, "", "", "", {}) and took < 2, (got, took)  # a runtime's limit
        print("# a container waited %.0f ms for a service that hangs" % (1000 * took))
    becomes("container hang: left where it is: the service is at work or hangs; the service binds")
    many = [worker("s%d" % i, cgroup="/run/wide") for i in range(50)]
    start = time.monotonic()
    code, _, reply = peer.ask("Synchronize", pack((1, pod()), *[(2, c) for c in many]))
    assert code == 0 and reply == b"" and time.monotonic() - start < 2
    becomes("50 left to the service, which does not answer")
    service.send_signal(signal.SIGCONT)
    time.sleep(0.2)
    assert numbers(peer.create(worker())[2]) == pools[3]


def a_service_that_is_dead_and_one_that_is_late():
    global service
    end(service)
    assert peer.create(worker("dead")) == (0, "", "", "", {})
    becomes("container dead: left where it is: the service has ended; ")
    os.unlink(SOCKET)
    assert peer.create(worker("none")) == (0, "", "", "", {})
    becomes("container none: left where it is: no service runs; ")
    service = start_service()
    assert numbers(peer.create(worker())[2]) == pools[3]


def only_a_refusal_is_strict():
    global peer
    peer.close()
    if plugin.poll() is None:
        end(plugin)
    strict = start_plugin("--strict", "--keep-mems")
    try:
        peer = runtime.meet()
        code, text, cpus, _, _ = peer.create(worker(cpus="0-3"))
        assert code == 9 and cpus == "" and text.startswith("cpubind: npu3 has 0 of its CPUs"), text
        code, _, cpus, mems, _ = peer.create(worker())
        assert (code, mems) == (0, "") and numbers(cpus) == pools[3]
        service.send_signal(signal.SIGSTOP)
        assert peer.create(worker())[:3] == (0, "", "")
    finally:
        service.send_signal(signal.SIGCONT)
        end(strict)
        peer.close()


def an_answer_with_more_is_not_believed():
    """Services that were made to answer wrong."""
    place = OUT + "/false"
    os.makedirs(place, mode=0o755, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place + "/sock")
    listener.listen(8)
    lines = [b'{"devices": 1, "cpus": "0-200", "mems": "0", "omp": 4}\n',
             b'{"devices": 1, "cpus": "0-3", "mems": "0-9", "omp": 4}\n',
             b'{"devices": 1, "cpus": "x", "mems": "0", "omp": 4}\n',
             b'{"devices": 1, "cpus": "' + b"1," * 3000 + b'1"}\n', b'{"devices": 1}\n',
             b'{"devices": "1"}\n', b"[]\n", b"no json\n", b"no line feed", b"", b"\xff\x00\n",
             b'{"accepted": true}\n', b'{"devices": 1, "cpus": "0-3", "mems": null, "omp": -4}\n']
    asked = []

    def answer():
        for line in lines:
            fd, _ = listener.accept()
            asked.append(fd.recv(4096))
            fd.sendall(line)
            fd.close()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    other = start_plugin("--service", place + "/sock")
    try:
        made = runtime.meet()
        for line in lines[:-1]:
            assert made.create(worker()) == (0, "", "", "", {}), line
        assert made.create(worker()) == (0, "", "0-3", "", {})
        thread.join(5)
        assert asked[0] == b"place 0-191 0-7 236:3\n", asked[0]
    finally:
        end(other)
    becomes("the service answers with more than it may have")
    becomes("the answer of the service makes no sense")


def five_hundred_containers_come_and_go():
    """Of the plugin without sanitizers, which keep what was freed."""
    global peer

    def memory():
        with open("/proc/%d/status" % lean.pid) as status:
            rows = dict(line.split(":", 1) for line in status)
        return int(rows["VmRSS"].split()[0]), len(os.listdir("/proc/%d/fd" % lean.pid))

    times = []
    rng = random.Random(7)

    def hundred():
        for i in range(100):
            start = time.monotonic()
            got = peer.create(worker("c%d" % i, npus=[i % 8], env=["E=" + "x" * rng.randrange(20000)]))
            times.append(time.monotonic() - start)
            assert numbers(got[2]) == pools[i % 8]
            peer.ask("StateChange", pack((1, 11), (2, pod()), (3, worker())))

    peer.close()
    end(plugin)
    lean = start_plugin(program=os.environ["NRI_LEAN"])
    peer = runtime.meet()
    hundred()
    before = memory()
    for _ in range(5):
        hundred()
    after = memory()
    times.sort()
    print("# 600 containers: median %.2f ms, slowest %.1f ms; %d KiB and %d descriptors before, "
          "%d and %d after" % (1000 * times[300], 1000 * times[-1], *before, *after))
    end(lean)
    assert after[1] == before[1] and after[0] <= before[0] + 512, (before, after)


def bad_options():
    for options, words in ((["--index", "9"], "two digits"), (["x"], "takes options alone"),
                           (["--service", "rel"], "begins with /"), (["--no-such"], "no-such")):
        got = subprocess.run([PLUGIN_FILE, *options], capture_output=True, timeout=10)
        assert got.returncode == 2 and words in got.stderr.decode(), got
    text = subprocess.run([PLUGIN_FILE, "--help"], capture_output=True, timeout=10).stdout
    assert b"--strict" in text and all(len(line) <= 96 for line in text.splitlines())


def the_package_is_whole():
    made = []
    for i in range(2):
        folder = "%s/package%d" % (OUT, i)
        os.makedirs(folder)
        program = shutil.copy(os.environ["NRI_LEAN"], folder)
        subprocess.run(["adapters/packaging/nri.sh", program, folder], check=True,
                       env=dict(os.environ, VERSION="1.2.3", SOURCE_DATE_EPOCH="1700000000"))
        name, = [n for n in os.listdir(folder) if n.startswith("cpubind-nri_1.2.3-1_")]
        with open(folder + "/" + name, "rb") as file:
            made.append(file.read())
    assert made[0] == made[1], "two packages of one program differ"
    text = subprocess.run(["dpkg-deb", "-c", folder + "/" + name], check=True,
                          capture_output=True).stdout.decode()
    for path in ("./usr/bin/cpubind-nri", "./lib/systemd/system/cpubind-nri.service",
                 "./usr/share/doc/cpubind-nri/NRI.md", "./usr/share/doc/cpubind-nri/copyright"):
        assert path + "\n" in text, text


CASES = (
    ("a container is placed by its device files", a_container_is_placed_by_its_device_files),
    ("by the variable of its runtime, which goes before files", by_the_variable_of_its_runtime),
    ("OMP_NUM_THREADS that is set stays", a_variable_that_is_set_stays),
    ("OMP_NUM_THREADS is no more than a quota has time for", a_quota_bounds_the_threads),
    ("a container without a device, and a privileged one, are untouched", what_has_no_device_is_untouched),
    ("300 grants are never left, and what is near in them is chosen", a_grant_is_never_left),
    ("CPUs that are right already are left alone", a_grant_that_is_right_is_left_alone),
    ("without CPUs in the request those of the cgroup count", without_a_request_the_cgroup_counts),
    ("a refusal leaves the container alone, and is said", a_refusal_leaves_the_container_alone),
    ("the name of a pod makes no line of the log", names_of_pods_make_no_lines),
    ("other CPUs for a container that runs are cut again", an_update_is_cut_again),
    ("Synchronize moves what has more than the CPUs of its devices", synchronize_moves_what_has_too_many),
    ("Synchronize comes in several calls", synchronize_in_several_calls),
    ("a call that it has not is said to be unimplemented", calls_that_it_has_not),
    ("frames come in pieces, and as large as may be", frames_in_pieces),
    ("damaged frames end the connection, and it is made again", damaged_frames_end_the_connection),
    ("a runtime that closes and starts again is found", a_runtime_that_restarts),
    ("a registration that is refused is tried again", a_registration_that_is_refused),
    ("a service that hangs costs half a second, once a list", a_service_that_hangs),
    ("a service that is dead, gone and late", a_service_that_is_dead_and_one_that_is_late),
    ("500 containers that come and go leave the memory steady", five_hundred_containers_come_and_go),
    ("--strict refuses what the service refuses, and nothing else", only_a_refusal_is_strict),
    ("an answer with more than the grant is not believed", an_answer_with_more_is_not_believed),
    ("bad options are refused, and the help fits", bad_options),
    ("the package has the program, its unit and its page", the_package_is_whole),
)

OF_LEAN = (five_hundred_containers_come_and_go, the_package_is_whole)

runtime = Runtime(RUNTIME_SOCKET)
service = start_service()
pools = plan()
plugin = start_plugin()
peer = runtime.meet()
failed = 0
for i, (name, case) in enumerate(CASES):
    if case in OF_LEAN and not os.environ["NRI_LEAN"]:
        print("ok %d - %s # SKIP the plugin without sanitizers is not built" % (i + 1, name))
        continue
    try:
        case()
        print("ok %d - %s" % (i + 1, name), flush=True)
    except Exception:  # each case is one test
        failed += 1
        print("not ok %d - %s" % (i + 1, name))
        print("".join("# %s\n" % line for line in traceback.format_exc().splitlines()), end="",
              flush=True)
if plugin.poll() is None:
    end(plugin)
end(service)
print("1..%d" % len(CASES))
raise SystemExit(failed > 0)
