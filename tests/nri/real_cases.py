# real_cases.py - pods of a real containerd with cpubind-nri, case by case; real.sh starts it
# SPDX-License-Identifier: MIT
import os
import shutil
import signal
import subprocess
import time
import traceback

from cri import Client, Refused, wait_for, write_image

OUT, COMMAND, PLUGIN_FILE = os.environ["NRI_OUT"], os.environ["CPUBIND"], os.environ["NRI_PLUGIN"]
A, B = os.environ["a"], os.environ["b"]
BOTH = A + "-" + B if int(B) == int(A) + 1 else A + "," + B
TOP = "/" + os.environ["NRI_CGROUP"]
N_POD = int(os.environ.get("CPUBIND_NRI_PODS", "500"))
CONTAINERD = "/run/containerd/containerd.sock"
IMAGE = "localhost/busybox:test"
NEAR_A, NEAR_B = "/dev/nvidia5", "/dev/nvidia7"
USED = "/dev/nvidia-uvm"  # which a process that computes has open, too

# -- Processes -------------------------------------------------------------------------------


def log(name):
    with open("%s/%s.log" % (OUT, name)) as file:
        return file.read()


def run(name, *command):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL,
                            stderr=open("%s/%s.log" % (OUT, name), "ab"))


def end(process, number=signal.SIGKILL):
    process.send_signal(number)
    process.wait()


def start_service():
    process = run("service", COMMAND, "service", OUT + "/conf", "--root", OUT + "/root")
    assert wait_for(lambda: subprocess.run([COMMAND, "status", "--json"], capture_output=True)
                    .stdout.find(b'"service": {"pid": %d' % process.pid) > 0), log("service")
    return process


def start_plugin(*options):
    before = log("plugin").count("containers that run") if os.path.exists(OUT + "/plugin.log") else 0
    process = run("plugin", PLUGIN_FILE, *options)
    assert wait_for(lambda: log("plugin").count("containers that run") > before, 30), log("plugin")
    return process


def start_containerd():
    process = run("containerd", "containerd", "--config", OUT + "/containerd.toml")
    assert wait_for(client.is_ready, 60), log("containerd")[-3000:]
    return process


def said(name, words, seconds=10):
    assert wait_for(lambda: words in log(name), seconds), "not said by %s: %s" % (name, words)


# -- Pods ------------------------------------------------------------------------------------

pods = []


def pod(name, qos="besteffort"):
    made = client.run_pod(name, "%s/%s/pod-%s" % (TOP, qos, name))
    pods.append(made)
    return made


def remove_pods():
    while pods:
        client.remove(pods.pop())


def cpus_of(pid):
    with open("/proc/%d/status" % pid) as status:
        rows = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
    return rows["Cpus_allowed_list"]


def seen_in(container):
    return client.execute(container, "grep", "Cpus_allowed_list", "/proc/self/status").split()[1]


def worker(made, name="worker", device=NEAR_A, **more):
    """A process that uses the device, as the service finds out."""
    command = ["sh", "-c", "exec 3<%s 5<%s; exec sleep 1000000" % (device, USED)]
    return client.run(made, name, command, devices=[(device, device)], mounts=[USED], **more)


def is_bound(container, cpus, seconds=20):
    pid = client.pid(container)
    return wait_for(lambda: cpus_of(pid) == cpus, seconds)


# -- Cases -----------------------------------------------------------------------------------


def pods_are_placed_before_they_start():
    for name, device, cpus in ("first", NEAR_A, A), ("second", NEAR_B, B):
        one = client.run(pod(name), "worker", ["sleep", "1000000"], devices=[(device, device)])
        assert seen_in(one) == cpus, seen_in(one)
        assert "OMP_NUM_THREADS=1\n" in client.execute(one, "env")
        said("plugin", "pod default/%s, container worker: CPUs %s of %s" % (name, cpus, BOTH))


def a_pod_without_a_device_is_untouched():
    one = client.run(pod("plain"), "web", ["sleep", "1000000"])
    assert seen_in(one) == BOTH and "OMP_" not in client.execute(one, "env")
    assert "container web" not in log("plugin")


def every_qos_class():
    for qos, limits in (("guaranteed", {"cpus": A + "," + B, "shares": 2048, "quota": 200000}),
                        ("burstable", {"shares": 512}), ("besteffort", {"shares": 2})):
        one = worker(pod("qos-" + qos, qos), **limits)
        assert seen_in(one) == A, (qos, seen_in(one))
        assert is_bound(one, A)


def a_refused_pod_starts():
    one = client.run(pod("refused"), "far", ["sleep", "1000000"], devices=[(NEAR_A, NEAR_A)], cpus=B)
    assert seen_in(one) == B
    said("plugin", "container far: left where it is: gpu0 has 0 of its CPUs")


def other_cpus_are_cut_again():
    one = worker(pod("updated"))
    client.update(one, A + "," + B)
    assert seen_in(one) == A, seen_in(one)


def without_the_plugin_the_service_binds():
    global plugin
    end(plugin)
    one = worker(pod("unplugged"))
    assert seen_in(one) == BOTH
    assert is_bound(one, A)
    said("service", "process %d (busybox), gpu0: " % client.pid(one))
    # Synchronize: its cpuset is too wide.
    plugin = start_plugin()
    said("plugin", "pod default/unplugged, container worker: CPUs %s of %s" % (A, BOTH))
    assert wait_for(lambda: seen_in(one) == A) and is_bound(one, A)


def a_late_plugin_costs_the_runtimes_limit():
    global plugin
    plugin.send_signal(signal.SIGSTOP)
    made = pod("late")
    start = time.monotonic()
    one = worker(made)
    print("# a pod waited %.1f s for a plugin that hangs" % (time.monotonic() - start))
    assert is_bound(one, A)
    plugin.send_signal(signal.SIGCONT)
    assert wait_for(lambda: seen_in(one) == A, 40), "it is not called again"


def without_the_service_pods_start():
    global service
    end(service)
    one = worker(pod("dead"))
    assert seen_in(one) == BOTH
    said("plugin", "pod default/dead, container worker: left where it is: the service has ended")
    service = start_service()
    assert is_bound(one, A)
    said("service", "process %d (busybox), gpu0: " % client.pid(one))


def a_service_that_hangs_costs_half_a_second():
    service.send_signal(signal.SIGSTOP)
    made = pod("hang")
    start = time.monotonic()
    one = worker(made)
    print("# a pod waited %.1f s for a service that hangs" % (time.monotonic() - start))
    assert seen_in(one) == BOTH
    service.send_signal(signal.SIGCONT)
    assert is_bound(one, A)
    two = worker(pod("after"))
    assert seen_in(two) == A  # the runtime has kept the plugin


def containerd_restarts():
    global containerd
    before = log("plugin").count("containers that run")
    end(containerd, signal.SIGTERM)
    containerd = start_containerd()
    assert wait_for(lambda: log("plugin").count("containers that run") > before, 40), log("plugin")
    one = worker(pod("restarted"), device=NEAR_B)
    assert seen_in(one) == B


def strict_refuses():
    global plugin
    end(plugin)
    plugin = start_plugin("--strict")
    made = pod("strict")
    try:
        client.create(made, "far", ["sleep", "1"], devices=[(NEAR_A, NEAR_A)], cpus=B)
        raise AssertionError("it was created")
    except Refused as refused:
        assert "cpubind: gpu0 has 0 of its CPUs among those" in str(refused), refused
    assert seen_in(worker(made)) == A
    end(plugin)
    plugin = start_plugin()


def many_pods_come_and_go():
    def memory():
        with open("/proc/%d/status" % plugin.pid) as status:
            rows = dict(line.split(":", 1) for line in status)
        return int(rows["VmRSS"].split()[0]), len(os.listdir("/proc/%d/fd" % plugin.pid))

    times = []
    before = None
    start = time.monotonic()
    for i in range(N_POD):
        device, cpus = ((NEAR_A, A), (NEAR_B, B))[i % 2]
        made = pod("many%d" % i)
        at = time.monotonic()
        one = client.create(made, "worker", ["sleep", "1000000"], devices=[(device, device)])
        times.append(time.monotonic() - at)
        client.start(one)
        assert cpus_of(client.pid(one)) == cpus, i
        if i % 10 == 9:
            remove_pods()
        if i == 20:
            before = memory()
    remove_pods()
    after = memory()
    times.sort()
    print("# %d pods in %.0f s; CreateContainer: median %.0f ms; the plugin has %s KiB and "
          "descriptors before, %s after" % (N_POD, time.monotonic() - start,
                                            1000 * times[len(times) // 2], before, after))
    assert before is None or (after[1] == before[1] and after[0] <= before[0] + 512)


CASES = (
    ("a pod is on the CPUs of its device before it starts", pods_are_placed_before_they_start),
    ("a pod without a device is untouched", a_pod_without_a_device_is_untouched),
    ("a pod of every QoS class is placed, and stays", every_qos_class),
    ("a pod that is refused starts, and it is said", a_refused_pod_starts),
    ("other CPUs for a container that runs are cut again", other_cpus_are_cut_again),
    ("without the plugin the service binds; the plugin then narrows", without_the_plugin_the_service_binds),
    ("a plugin that hangs costs the limit of the runtime", a_late_plugin_costs_the_runtimes_limit),
    ("without the service pods start, and it binds them later", without_the_service_pods_start),
    ("a service that hangs costs half a second", a_service_that_hangs_costs_half_a_second),
    ("containerd ends and starts again", containerd_restarts),
    ("--strict refuses a pod with our sentence", strict_refuses),
    ("%d pods come and go" % N_POD, many_pods_come_and_go),
)

with open(OUT + "/containerd.toml", "w") as conf:
    conf.write("""version = 2
root = "%s/lib"
state = "/run/containerd/state"
[grpc]
address = "%s"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "%s"
restrict_oom_score_adj = true
disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
[plugins."io.containerd.nri.v1.nri"]
disable = false
plugin_path = "%s/none"
plugin_config_path = "%s/none"
""" % (OUT, CONTAINERD, IMAGE, OUT, OUT))
client = Client(CONTAINERD, IMAGE)
write_image(OUT + "/image.tar", shutil.which("busybox"), IMAGE)
containerd = start_containerd()
subprocess.run(["ctr", "-a", CONTAINERD, "-n", "k8s.io", "images", "import", "--snapshotter", "native",
                OUT + "/image.tar"], check=True, stdout=subprocess.DEVNULL)
service = start_service()
plugin = start_plugin()
failed = 0
for i, (name, case) in enumerate(CASES):
    try:
        case()
        print("ok %d - %s" % (i + 1, name), flush=True)
    except Exception:  # each case is one test
        failed += 1
        print("not ok %d - %s" % (i + 1, name))
        print("".join("# %s\n" % line for line in traceback.format_exc().splitlines()), end="",
              flush=True)
    finally:
        plugin.send_signal(signal.SIGCONT)
        service.send_signal(signal.SIGCONT)
        remove_pods()
end(plugin)
end(service)
end(containerd, signal.SIGTERM)
print("1..%d" % len(CASES))
raise SystemExit(failed > 0)
