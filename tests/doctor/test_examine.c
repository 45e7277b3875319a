/* test_examine.c - cpubind_doctor_examine without a plan, with a slow npu-smi, in small arenas
 * SPDX-License-Identifier: MIT
 */
#include "../ascend/memory_source.h"

#include "../../adapters/doctor/doctor.h"
#include "../../adapters/plan/plan.h"

enum { ENOUGH = 4 << 20 };

/* Examines a host in memory in an arena of `size` bytes, which stays allocated in *arena. */
static cpubind_problem_code examine(memory_host *h, int is_live, int ms, size_t size,
                                    cpubind_arena *arena, cpubind_doctor_report *out)
{
    static const cpubind_request request = {.is_auto_strategy = 1, .wants_pci = 1};
    const cpubind_source source = {h, read_input, list_inputs};
    const cpubind_doctor_request asked = {
        .source = &source, .request = &request, .is_live = is_live, .npu_smi_ms = ms};
    *arena = (cpubind_arena){(char *)malloc(size), size, 0};
    assert_non_null(arena->base);
    h->seen[0] = '\0';
    return cpubind_doctor_examine(&asked, arena, out);
}

static const cpubind_doctor_finding *find(const cpubind_doctor_report *report, const char *word)
{
    for (int32_t i = 0; i < report->n_finding; i++)
        if (strcmp(report->finding[i].check->word, word) == 0)
            return &report->finding[i];
    return NULL;
}

static int is_unknown(const cpubind_doctor_report *report, const char *word)
{
    for (int32_t i = 0; i < report->n_unknown; i++)
        if (strcmp(report->unknown[i].check->word, word) == 0)
            return 1;
    return 0;
}

/* A live kernel without a file lacks the feature; a snapshot may lack the file. */
TEST(an_absent_file_is_unknown_in_a_snapshot_alone)
{
    memory_host h = {.n = 0};
    cpubind_doctor_report report;
    cpubind_arena arena;
    for (int is_live = 0; is_live < 2; is_live++) {
        assert_int_equal(examine(&h, is_live, -1, ENOUGH, &arena, &report),
                         CPUBIND_PROBLEM_NONE);
        assert_int_equal(report.n_finding, 0);
        assert_int_equal(is_unknown(&report, "autonuma"), !is_live);
        assert_int_equal(is_unknown(&report, "governor"), !is_live);
        /* Without a plan both are not known, whatever the host is. */
        assert_true(is_unknown(&report, "isolated"));
        assert_true(is_unknown(&report, "one_cpu"));
        free(arena.base);
    }
}

TEST(npu_smi_is_slow_from_five_seconds_on)
{
    static const int ms[] = {-1, 0, 4999, 5000, 6000};
    memory_host h = {.n = 0};
    cpubind_doctor_report report;
    cpubind_arena arena;
    for (size_t i = 0; i < sizeof ms / sizeof *ms; i++) {
        const cpubind_doctor_finding *f;
        assert_int_equal(examine(&h, 1, ms[i], ENOUGH, &arena, &report), CPUBIND_PROBLEM_NONE);
        f = find(&report, "npu_smi_slow");
        assert_int_equal(f != NULL, ms[i] >= 5000);
        if (f) {
            assert_string_equal(f->number[0].key, "ms");
            assert_int_equal(f->number[0].value, ms[i]);
        }
        free(arena.base);
    }
}

/* An arena that is too small is NO_MEMORY at every size, and the report is whole in the first
 * that is not. */
TEST(a_small_arena_is_no_memory)
{
    memory_host h = {.n = 0};
    cpubind_doctor_report report;
    cpubind_arena arena;
    cpubind_problem_code code = CPUBIND_PROBLEM_NO_MEMORY;
    size_t size = 1;
    set(&h, "proc/sys/kernel/numa_balancing", "1\n");
    set(&h, "sys/devices/system/cpu/online", "0-1\n");
    set(&h, "sys/devices/system/cpu/present", "0-3\n");
    for (; code == CPUBIND_PROBLEM_NO_MEMORY && size < ENOUGH; size += 4001) {
        code = examine(&h, 0, -1, size, &arena, &report);
        assert_true(arena.used <= arena.size);
        if (code == CPUBIND_PROBLEM_NONE) {
            assert_non_null(find(&report, "autonuma"));
            assert_string_equal(find(&report, "offline")->evidence, "CPUs 2-3 are offline");
        }
        free(arena.base);
    }
    assert_int_equal(code, CPUBIND_PROBLEM_NONE);
}

/* The NPUs of a host could not be read, and its GPUs have a plan of their own. */
TEST(beside_unread_npus_is_not_known)
{
    static const cpubind_request request = {.is_auto_strategy = 1};
    static const cpubind_request asked = {.rules = CPUBIND_RULES_NEAR};
    static const cpubind_pci_request bus_asked = {.wants_cores = 1};
    memory_host h = {.n = 0};
    const cpubind_source source = {&h, read_input, list_inputs};
    cpubind_arena arena = {(char *)malloc(ENOUGH), ENOUGH, 0};
    cpubind_facts facts, joined;
    cpubind_device_plan plan;
    cpubind_problem problem;
    cpubind_doctor_report report;
    const cpubind_doctor_bus bus = {&joined, &plan, NULL};
    const cpubind_doctor_request doctor = {
        .source = &source, .request = &request, .bus = &bus, .npu_smi_ms = -1};
    assert_non_null(arena.base);
    set(&h, "proc/self/status", "Cpus_allowed_list:\t0-31\n");
    set(&h, "sys/devices/system/cpu/online", "0-31\n");
    set(&h, "sys/bus/pci/devices/", "0000:01:00.0\n0000:02:00.0\n");
    set(&h, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x19e5\n");
    set(&h, "sys/bus/pci/devices/0000:01:00.0/device", "0xd802\n");
    set(&h, "sys/bus/pci/devices/0000:01:00.0/local_cpulist", "0-31\n");
    set(&h, "sys/bus/pci/devices/0000:02:00.0/vendor", "0x1002\n");
    set(&h, "sys/bus/pci/devices/0000:02:00.0/device", "0x74a1\n");
    set(&h, "sys/bus/pci/devices/0000:02:00.0/local_cpulist", "0-31\n");
    assert_int_equal(cpubind_devices_read(&source, &bus_asked, &arena, &facts, &problem),
                     CPUBIND_PROBLEM_NONE);
    assert_int_equal(cpubind_plan_devices(&facts, &asked, &arena, &joined, &plan, &problem),
                     CPUBIND_PROBLEM_NONE);
    assert_true(plan.warnings >> CPUBIND_WARNING_OTHER_ACCELERATORS & 1u);
    assert_int_equal(cpubind_doctor_examine(&doctor, &arena, &report), CPUBIND_PROBLEM_NONE);
    assert_true(is_unknown(&report, "other_accelerators"));
    assert_null(find(&report, "other_accelerators"));
    free(arena.base);
}

/* A worker of an NPU and one of a GPU, whose cpusets cross. */
TEST(cpusets_are_compared_over_all_devices)
{
    static const cpubind_request request = {.is_auto_strategy = 1};
    static const cpubind_request asked = {.rules = CPUBIND_RULES_NEAR};
    static const cpubind_pci_request bus_asked = {.wants_cores = 1};
    static cpubind_device npu = {
        .vendor = CPUBIND_VENDOR_ASCEND, .pci = {.domain = -1}, .bus = -1};
    memory_host h = {.n = 0};
    const cpubind_source source = {&h, read_input, list_inputs};
    cpubind_arena arena = {(char *)malloc(ENOUGH), ENOUGH, 0};
    cpubind_facts facts, joined, listed;
    cpubind_device_plan plan;
    cpubind_problem problem;
    cpubind_doctor_report report;
    cpubind_user user = {200, 0};
    const cpubind_users users = {.row = &user, .n = 1};
    const cpubind_doctor_bus bus = {&joined, &plan, &users};
    const cpubind_doctor_request doctor = {.source = &source,
                                           .request = &request,
                                           .facts = &listed,
                                           .bus = &bus,
                                           .npu_smi_ms = -1};
    const cpubind_doctor_finding *f;
    assert_non_null(arena.base);
    set(&h, "proc/self/status", "Cpus_allowed_list:\t0-31\n");
    set(&h, "sys/devices/system/cpu/online", "0-31\n");
    set(&h, "sys/bus/pci/devices/", "0000:02:00.0\n");
    set(&h, "sys/bus/pci/devices/0000:02:00.0/vendor", "0x1002\n");
    set(&h, "sys/bus/pci/devices/0000:02:00.0/device", "0x74a1\n");
    set(&h, "sys/bus/pci/devices/0000:02:00.0/local_cpulist", "0-31\n");
    set(&h, "proc/trs_core/proc/", "100-0-dev-0\n");
    set(&h, "proc/100/cgroup", "0::/a\n");
    set(&h, "sys/fs/cgroup/a/cpuset.cpus.effective", "0-15\n");
    set(&h, "proc/200/cgroup", "0::/b\n");
    set(&h, "sys/fs/cgroup/b/cpuset.cpus.effective", "12-31\n");
    assert_int_equal(cpubind_devices_read(&source, &bus_asked, &arena, &facts, &problem),
                     CPUBIND_PROBLEM_NONE);
    assert_int_equal(cpubind_plan_devices(&facts, &asked, &arena, &joined, &plan, &problem),
                     CPUBIND_PROBLEM_NONE);
    listed = facts;
    listed.device = &npu;
    listed.n_device = listed.n_listed = listed.has_phy = 1;
    assert_int_equal(cpubind_doctor_examine(&doctor, &arena, &report), CPUBIND_PROBLEM_NONE);
    f = find(&report, "cpuset_overlap");
    assert_non_null(f);
    assert_string_equal(f->evidence, "the cpusets of process 100, 0-15, and of process 200, "
                                     "12-31, share CPUs 12-15 and are not equal");
    assert_string_equal(f->command,
                        "cpubind apply --device npu0 --pid 100 --scope host && cpubind apply "
                        "--device gpu0 --pid 200 --scope host");
    free(arena.base);
}

TEST_FILE(NULL, NULL)
