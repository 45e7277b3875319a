/* test_doctor_inputs.c - which inputs doctor alone reads, and what is kept of them
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "../../adapters/ascend/doctor_inputs.h"
#include "../../adapters/ascend/input_list.h"
#include "../../adapters/ascend/redact.h"
#include "../support/test.h"

TEST(names_are_those_of_processes_interrupts_and_nics)
{
    static const struct {
        const char *name;
        int is_known;
    } names[] = {
        {"proc/self/mountinfo", 1},
        {"proc/1/stat", 1},
        {"proc/61000/task/61010/status", 1},
        {"proc/61000/environ", 1},
        {"run/cpubind/4711.record", 1},
        {"run/user/1000/cpubind/4711.record", 1},
        {"run/cpubind/host.record", 0},
        {"run/cpubind/4711.record.lock", 0},
        {"proc/irq/0/smp_affinity_list", 1},
        {"sys/class/net/eth0/mtu", 1},
        {"sys/class/net/eth0/device/msi_irqs/301", 1},
        {"sys/fs/cgroup/cpuset.mems", 1},
        {"sys/fs/cgroup/a/b/cpuset.mems.effective", 1},
        {"proc/061000/stat", 0},
        {"proc/self/environ", 0},
        {"proc/1/mem", 0},
        {"proc/1/task/a/stat", 0},
        {"proc/1/task/1/environ", 0},
        {"proc/1234567890/stat", 0},
        {"proc/irq/1/smp_affinity", 0},
        {"sys/class/net//mtu", 0},
        {"sys/class/net/a/b/mtu", 0},
        {"sys/class/net/eth0/address", 0},
        {"sys/fs/cgroup/acpuset.mems", 0},
        {"sys/fs/cgroup/", 0},
        {"proc/1/stat/", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(cpubind_doctor_input_has(names[i].name), names[i].is_known);
        if (names[i].is_known)
            assert_true(cpubind_input_list_has(names[i].name));
    }
}

/* "\a" stands for a NUL. */
static void expect(const char *name, const char *text, const char *kept)
{
    char bytes[256];
    const int32_t n = (int32_t)strlen(text);
    for (int32_t i = 0; i <= n; i++)
        bytes[i] = text[i] == '\a' ? '\0' : text[i];
    const int32_t len = cpubind_doctor_input_distill(name, bytes, n);
    assert_int_equal(len, strlen(kept));
    for (int32_t i = 0; i < len; i++)
        if (bytes[i] != (kept[i] == '\a' ? '\0' : kept[i]))
            fail_msg("%s: \"%s\", byte %d", name, kept, (int)i);
}

TEST(environments_keep_what_pins_threads_alone)
{
    static const char environ[] = "proc/1/environ";
    expect(environ, "HF_TOKEN=secret\aOMP_PROC_BIND=close\aHOME=/root\a",
           "OMP_PROC_BIND=close\a");
    expect(environ, "KMP_AFFINITY=a\aGOMP_CPU_AFFINITY=0-3",
           "KMP_AFFINITY=a\aGOMP_CPU_AFFINITY=0-3");
    expect(environ, "XOMP_PROC_BIND=close\a", "");
    expect(environ, "", "");
}

TEST(command_lines_keep_words_of_engines_alone)
{
    static const char line[] = "proc/1/cmdline";
    expect(line,
           "/home/me/bin/python\a/home/me/bin/vllm\aserve\asecret-model\a--api-key\asecret\a",
           "x\avllm\aserve\ax\ax\ax\a");
    expect(line,
           "vllm\a--additional-config\a{\"key\": \"secret\", \"enable_cpu_binding\": false}\a",
           "vllm\ax\aenable_cpu_binding\": false\a");
    expect(line, "vllm\a--no-numa-bind\a--enable_cpu_binding\afalse",
           "vllm\a--no-numa-bind\aenable_cpu_binding\afalse");
    expect(line, "/usr/sbin/irqbalance\a--banirq=232\a-i\a17\a",
           "irqbalance\a--banirq=232\a-i\a17\a");
    expect(line, "VLLM::Worker_TP0\a", "VLLM::Worker_TP0\a");
    expect(line, "python\a-m\avllm.entrypoints.openai.api_server\a",
           "x\a-m\avllm.entrypoints.openai.api_server\a");
}

TEST(of_a_record_its_process_and_rules_are_kept)
{
    expect("run/cpubind/4711.record",
           "cpubind-record 3 0.1.0\nprocess 4711 12345\nboot b\nmain 1\nrules near\n"
           "rule 1 secret\nsum 00000000\n",
           "process 4711 12345\nrules near\n");
    expect("run/user/1000/cpubind/4711.record", "boot b\nsum 0", "");
}

TEST(mounts_keep_those_of_proc_alone)
{
    static const char mounts[] = "proc/self/mountinfo";
    expect(mounts,
           "1 2 0:1 / / rw - nfs secret rw\n2 2 0:1 / /proc rw - proc proc rw\n"
           "3 2 0:1 /irq /proc/irq ro - proc proc rw\n4 2 0:1 / /procfs rw - proc proc rw",
           "2 2 0:1 / /proc rw - proc proc rw\n3 2 0:1 /irq /proc/irq ro - proc proc rw\n");
    expect("proc/1/status", "Name:\tsecret\n", "Name:\tsecret\n");
}

static void expect_redacted(const char *input, const char *text, const char *after)
{
    cpubind_redacted counts = {0};
    char bytes[128];
    strcpy(bytes, text);
    cpubind_redact(input, bytes, (int32_t)strlen(bytes), NULL, &counts);
    assert_string_equal(bytes, after);
    assert_int_equal(counts.process_names, strcmp(text, after) != 0);
}

/* Names that say what a thread is for stay: the checks ask them. */
TEST(names_of_processes_are_redacted_but_for_roles)
{
    expect_redacted("proc/1/comm", "my_app\n", "xxxxxx\n");
    expect_redacted("proc/1/comm", "irqbalance\n", "irqbalance\n");
    expect_redacted("proc/1/stat", "1 (a) b) S 1 1\n", "1 (xx x) S 1 1\n");
    expect_redacted("proc/1/task/2/stat", "2 (acl_thread) S 1 1\n", "2 (acl_thread) S 1 1\n");
    expect_redacted("proc/1/task/2/status", "Name:\tmy_app\nPid:\t2\n",
                    "Name:\txxxxxx\nPid:\t2\n");
    expect_redacted("proc/1/task/2/status", "Name:\tacl_thread\n", "Name:\tacl_thread\n");
}

TEST_FILE(NULL, NULL)
