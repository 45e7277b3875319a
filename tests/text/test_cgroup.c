/* test_cgroup.c - /proc/<pid>/cgroup: containers of all runtimes, cpusets of both versions
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

int main(void)
{
    return run_registered("cgroup", NULL, NULL);
}
