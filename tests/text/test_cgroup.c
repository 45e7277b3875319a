/* test_cgroup.c - /proc/<pid>/cgroup: containers, pods, cpusets of both versions
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/cgroup.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

TEST(the_container_is_that_of_the_runtime)
{
    /* A cgroup file, and the first digits of the id; "" without one. */
    static const char *const cases[][2] = {
        {"0::/docker/" ID "\n", "01234567"},
        {"12:cpuset:/docker/" ID "\n0::/\n", "01234567"},
        {"0::/system.slice/docker-" ID ".scope\n", "01234567"},
        {"0::/system.slice/docker-" ID ".scope/init\n", "01234567"},
        {"0::/kubepods/burstable/pod1-2/" ID "\n", "01234567"},
        {"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope\n", "01234567"},
        {"9:name=systemd:/system.slice/containerd.service/"
         "kubepods-pod1.slice:cri-containerd:" ID "\n",
         "01234567"},
        {"0::/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope\n", "01234567"},
        {"0::/machine.slice/libpod-" ID ".scope/container\n", "01234567"},
        {"0::/user.slice/user-1000.slice/user@1000.service/libpod-" ID ".scope\n", "01234567"},
        {"0::/../" ID "\n", "01234567"},
        {"0::/docker/" ID "/docker/" OTHER "\n", "fedcba98"}, /* one inside another */
        {"0::/docker/" ID, "01234567"},                       /* cut */
        {"0::/\n", ""},
        {"0::/system.slice/sshd.service\n", ""},
        {"0::/machine.slice/libpod-conmon-" ID ".scope\n", ""},
        {"0::/kubepods.slice/crio-conmon-" ID ".scope\n", ""},
        {"0::/docker/" ID "0\n", ""},
        {"0::/docker/x" ID "\n", ""},
        {"0::/docker/0123456789ABCDEF\n", ""},
        {"0:/docker/" ID "\n", ""},
        {"", ""},
        {":::\n::\n:\n", ""},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i][0]);
        char *text = edge_text(cases[i][0], len);
        cpubind_slice id = {-1, -1};
        const int found = cpubind_cgroup_container(text, len, &id);
        assert_int_equal(found, cases[i][1][0] != '\0');
        assert_int_equal(id.len, found ? 64 : 0);
        assert_memory_equal(text + id.at, cases[i][1], strlen(cases[i][1]));
        free(text);
    }
}

#define UID   "01234567-89ab-cdef-0123-456789abcdef"
#define UID_  "01234567_89ab_cdef_0123_456789abcdef"
#define UID2  "11111111-2222-3333-4444-555555555555"
#define FILED "0123456789abcdef0123456789abcdef" /* the uid of a pod by a file */
#define SLICE "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice"

TEST(the_pod_is_that_of_kubelet)
{
    /* A cgroup file; the uid, "" without a pod; the first digits of its container, "" without
     * one; the runtime; the class. */
    static const struct {
        const char *text, *uid, *container, *runtime;
        cpubind_qos qos;
    } cases[] = {
        {"0::/kubepods/burstable/pod" UID "/" ID "\n", UID, "0123", NULL,
         CPUBIND_QOS_BURSTABLE},
        {"0::/kubepods/besteffort/pod" UID "/crio-" ID "\n", UID, "0123", "cri-o",
         CPUBIND_QOS_BEST_EFFORT},
        {"4:cpuset:/kubepods/pod" UID "/" ID "\n0::/\n", UID, "0123", NULL,
         CPUBIND_QOS_GUARANTEED},
        {"5:devices:/\n4:cpuset:/kubepods/pod" FILED "/" ID "\n", FILED, "0123", NULL,
         CPUBIND_QOS_GUARANTEED},
        {"0::/" SLICE "/cri-containerd-" ID ".scope\n", UID, "0123", "containerd",
         CPUBIND_QOS_BURSTABLE},
        {"0::/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" ID ".scope\n", UID, "0123",
         "docker", CPUBIND_QOS_GUARANTEED},
        {"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
         ".slice/crio-" ID ".scope/container\n",
         UID, "0123", "cri-o", CPUBIND_QOS_BEST_EFFORT},
        {"9:name=systemd:/system.slice/containerd.service/kubepods-burstable-pod" UID_
         ".slice:cri-containerd:" ID "\n",
         UID, "0123", "containerd", CPUBIND_QOS_BURSTABLE},
        /* A node that is a container, and a container in a container of a pod. */
        {"0::/docker/" OTHER "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
         ".slice/cri-containerd-" ID ".scope\n",
         UID, "0123", "containerd", CPUBIND_QOS_GUARANTEED},
        {"0::/docker/" OTHER "/kubelet/kubepods/besteffort/pod" UID "/" ID "\n", UID, "0123",
         NULL, CPUBIND_QOS_BEST_EFFORT},
        {"0::/kubepods/burstable/pod" UID "/" ID "/docker/" OTHER "\n", UID, "0123", NULL,
         CPUBIND_QOS_BURSTABLE},
        {"0::/kubepods/burstable/pod" UID2 "/" OTHER "/kubepods/pod" UID "/" ID "\n", UID,
         "0123", NULL, CPUBIND_QOS_GUARANTEED},
        /* As a pod with a cgroup namespace of its own sees others. */
        {"0::/../../kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope\n", UID,
         "0123", "containerd", CPUBIND_QOS_BURSTABLE},
        {"0::/../../../kubepods-pod" UID_ ".slice/crio-" ID ".scope\n", UID, "0123", "cri-o",
         CPUBIND_QOS_GUARANTEED},
        {"0::/../../../pod" UID "/" ID "\n", UID, "0123", NULL, CPUBIND_QOS_UNKNOWN},
        {"0::/../../../burstable/pod" UID "/" ID "\n", UID, "0123", NULL,
         CPUBIND_QOS_BURSTABLE},
        /* Of a pod, and of none of its containers. */
        {"0::/" SLICE "\n", UID, "", NULL, CPUBIND_QOS_BURSTABLE},
        {"0::/" SLICE "/crio-conmon-" ID ".scope\n", UID, "", NULL, CPUBIND_QOS_BURSTABLE},
        {"0::/kubepods/pod" UID "/x", UID, "", NULL, CPUBIND_QOS_GUARANTEED},
        {"0::/kubepods/pod" UID, UID, "", NULL, CPUBIND_QOS_GUARANTEED},
        {"0::/" SLICE "/other-" ID ".scope", UID, "0123", NULL, CPUBIND_QOS_BURSTABLE},
        /* None. */
        {"0::/kubepods/burstable/podX\n", "", "", NULL, CPUBIND_QOS_UNKNOWN},
        {"0::/kubepods/burstable/pod" UID "0\n", "", "", NULL, CPUBIND_QOS_UNKNOWN},
        {"0::/kubepods/burstable/" UID "\n", "", "", NULL, CPUBIND_QOS_UNKNOWN},
        {"0::/machine/pod" UID "/" ID "\n", "", "", NULL, CPUBIND_QOS_UNKNOWN},
        {"0::/pod" UID "/" ID "\n", "", "", NULL, CPUBIND_QOS_UNKNOWN},
        {"0::/kubepods.slice/kubepods-burstable.slice\n", "", "", NULL, CPUBIND_QOS_UNKNOWN},
        {"0::/kubepods.slice/xkubepods-pod" UID_ ".slice\n", "", "", NULL, CPUBIND_QOS_UNKNOWN},
        {"0::/kubepods.slice/kubepods-burstable-.slice\n", "", "", NULL, CPUBIND_QOS_UNKNOWN},
        {"0::/docker/" ID "\n", "", "", NULL, CPUBIND_QOS_UNKNOWN},
        {"0::/kubepods/pod01234567.89ab.cdef.0123.456789abcdef\n", "", "", NULL,
         CPUBIND_QOS_UNKNOWN},
        {"", "", "", NULL, CPUBIND_QOS_UNKNOWN},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        char *text = edge_text(cases[i].text, len);
        cpubind_cgroup_pod pod;
        memset(&pod, EDGE_FILL, sizeof pod);
        assert_int_equal(cpubind_cgroup_find_pod(text, len, &pod), cases[i].uid[0] != '\0');
        assert_string_equal(pod.uid, cases[i].uid);
        assert_int_equal(pod.container.len, cases[i].container[0] ? 64 : 0);
        assert_memory_equal(text + pod.container.at, cases[i].container,
                            strlen(cases[i].container));
        assert_string_equal(pod.runtime ? pod.runtime : "-",
                            cases[i].runtime ? cases[i].runtime : "-");
        assert_string_equal(cpubind_qos_word(pod.qos), cpubind_qos_word(cases[i].qos));
        free(text);
    }
}

/* Every beginning of a name but the whole one is refused, inside the text. */
TEST(the_name_of_a_log_has_pod_namespace_and_container)
{
    static const char whole[] = "vllm-0.a_prod-1_worker-2-" ID ".log";
    static const struct {
        const char *name;
        int32_t offset;
    } wrong[] = {
        {"_prod_worker-" ID ".log", 0}, {"a__worker-" ID ".log", 2}, {"a_b_-" ID ".log", 4},
        {"a_b.c_d-" ID ".log", 3},      {"a_b_c.d-" ID ".log", 5},   {"A_b_c-" ID ".log", 0},
        {"a_b_c_d-" ID ".log", 5},      {"a-b-" ID ".log", 3},       {"a_b-" ID ".log", 3},
        {"a_b_c" ID ".log", 4},         {"a_b_c-0" ID ".log", 6},    {"a_b_c-" ID ".txt", 5},
        {"a\"_b_c-" ID ".log", 1},
    };
    const int32_t n = (int32_t)sizeof whole - 1;
    cpubind_pod_log log;
    cpubind_text_fault fault;
    for (int32_t len = 0; len <= n; len++) {
        char *text = edge_text(whole, len);
        fault.offset = -1;
        assert_int_equal(cpubind_pod_log_parse(text, len, &log, &fault),
                         len == n ? CPUBIND_TEXT_OK : CPUBIND_TEXT_ERR_SYNTAX);
        assert_true(len == n || (fault.offset >= 0 && fault.offset <= len));
        free(text);
    }
    assert_memory_equal(whole + log.pod.at, "vllm-0.a_", (size_t)log.pod.len + 1);
    assert_memory_equal(whole + log.space.at, "prod-1_", (size_t)log.space.len + 1);
    assert_memory_equal(whole + log.container.at, "worker-2-0", (size_t)log.container.len + 2);
    assert_memory_equal(whole + log.id.at, ID, 64);
    for (int32_t i = 0; i < LENGTH(wrong); i++) {
        const int32_t len = (int32_t)strlen(wrong[i].name);
        assert_int_equal(cpubind_pod_log_parse(wrong[i].name, len, &log, &fault),
                         CPUBIND_TEXT_ERR_SYNTAX);
        assert_int_equal(fault.offset, wrong[i].offset);
    }
    assert_int_equal(cpubind_pod_log_parse(NULL, 1, &log, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_pod_log_parse("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST(names_have_a_longest_length)
{
    char name[512];
    cpubind_pod_log log;
    for (int32_t n = 252; n < 256; n++) {
        memset(name, 'a', (size_t)n);
        memcpy(name + n, "_b_c-" ID ".log", 74);
        assert_int_equal(cpubind_pod_log_parse(name, n + 73, &log, NULL) == CPUBIND_TEXT_OK,
                         n <= 253);
    }
    for (int32_t n = 62; n < 66; n++) {
        memcpy(name, "a_b_", 4);
        memset(name + 4, 'c', (size_t)n);
        memcpy(name + 4 + n, "-" ID ".log", 70);
        assert_int_equal(cpubind_pod_log_parse(name, n + 73, &log, NULL) == CPUBIND_TEXT_OK,
                         n <= 63);
    }
}

TEST(the_cpuset_is_that_of_version_1_else_2)
{
    static const struct {
        const char *text, *path;
        cpubind_text_status status;
        int is_version_1;
    } cases[] = {
        {"0::/a/b\n", "/a/b", CPUBIND_TEXT_OK, 0},
        {"0::/\n", "", CPUBIND_TEXT_OK, 0},
        {"0::/a/\n", "/a", CPUBIND_TEXT_OK, 0},
        {"0::/a..b/..c\n", "/a..b/..c", CPUBIND_TEXT_OK, 0},
        {"4:cpuset:/k\n0::/other\n", "/k", CPUBIND_TEXT_OK, 1},
        {"0::/other\n4:cpu,cpuset,memory:/k\n", "/k", CPUBIND_TEXT_OK, 1},
        {"4:cpusets:/k\n3:cpu,cpuacct:/x\n", "", CPUBIND_TEXT_ERR_MISSING, 0},
        {"0::/../b\n", "", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"0::/a/..\n", "", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"0::/..\n4:cpuset:/k\n", "/k", CPUBIND_TEXT_OK, 1},
        {"", "", CPUBIND_TEXT_ERR_MISSING, 0},
        {"junk\n", "", CPUBIND_TEXT_ERR_MISSING, 0},
    };
    cpubind_cgroup_cpuset out;
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        char *text = edge_text(cases[i].text, len);
        memset(&out, EDGE_FILL, sizeof out);
        assert_int_equal(cpubind_cgroup_find_cpuset(text, len, &out), cases[i].status);
        if (cases[i].status == CPUBIND_TEXT_OK) {
            assert_int_equal(out.is_version_1, cases[i].is_version_1);
            assert_int_equal(out.path.len, strlen(cases[i].path));
            assert_memory_equal(text + out.path.at, cases[i].path, strlen(cases[i].path));
        }
        free(text);
    }
    assert_int_equal(cpubind_cgroup_find_cpuset(NULL, 1, &out), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cgroup_find_cpuset("", -1, &out), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_cgroup_find_cpuset("", 0, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST(cgroups_that_cpubind_made_are_cut_off)
{
    static const struct {
        const char *path;
        int32_t len;
    } paths[] = {
        {"", 0},
        {"/", 1},
        {"/cpubind-7", 0},
        {"/a/cpubind-7", 2},
        {"/cpubind-", 9},
        {"/cpubind-7a", 11},
        {"/a/cpubind-7/cpubind-42", 2},
        {"/a-7", 4},
        {"cpubind-7", 9},
        {"/cpubind-7/b", 12},
        {"/7", 2},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(cpubind_cgroup_outside(paths[i].path, (int32_t)strlen(paths[i].path)),
                         paths[i].len);
}

TEST_FILE(NULL, NULL)
