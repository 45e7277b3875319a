/* unreadable.c - an input that cannot be read never changes a plan in silence
 * SPDX-License-Identifier: MIT
 *
 * Each file of each fixture host in turn becomes a folder, which can be there and not be read.
 * The plan stays the same, or is refused, or has a warning that it did not have: other
 * processes of the host have read the file, and have the other plan.
 */
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/run_command.h"
#include "fixtures.h"

static struct {
    const char *name; /* of the host */
    char folder[64];
    char *pools, *warnings;
    int n_file, n_tried, n_same, n_refused, n_warned, n_silent;
} law;

static cpb_plan *plan_folder(void)
{
    static const char *const options[] = {NULL};
    cpb_error *error = NULL;
    cpb_host *host = cpb_host_folder(law.folder, &error);
    cpb_plan *plan = host ? cpb_plan_make(host, options, &error) : NULL;
    cpb_host_close(host);
    cpb_error_free(error);
    return plan;
}

/* The CPUs of all devices, role after role. */
static char *say_pools(const cpb_plan *plan)
{
    static const char *const roles[] = {"pool", "irq", "main", "acl", "release"};
    const int32_t *device, *cpu;
    const int32_t n = cpb_plan_devices(plan, &device);
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (int32_t i = 0; i < n; i++)
        for (size_t r = 0; r < sizeof roles / sizeof *roles; r++) {
            const int32_t n_cpu = cpb_plan_cpus(plan, device[i], roles[r], &cpu);
            (void)fprintf(out, "\n%d %s", (int)device[i], roles[r]);
            for (int32_t k = 0; k < n_cpu; k++)
                (void)fprintf(out, " %d", (int)cpu[k]);
        }
    assert_int_equal(fclose(out), 0);
    return text;
}

/* The words of the warnings of a plan. */
static char *say_warnings(const cpb_plan *plan)
{
    const char *at = strstr(cpb_plan_json(plan), "\"warnings\"");
    assert_non_null(at);
    return strdup(at);
}

/* Whether a plan has a warning, by its code and detail, that the plan of the whole host has
 * not. */
static int has_news(const char *warnings)
{
    for (const char *at = warnings; (at = strstr(at, "\"code\": \"")); at++) {
        char word[200];
        const char *const end = strstr(at, ", \"text\"");
        assert_non_null(end);
        (void)snprintf(word, sizeof word, "%.*s", (int)(end - at), at);
        if (!strstr(law.warnings, word))
            return 1;
    }
    return 0;
}

static void compare(const char *file)
{
    cpb_plan *plan = plan_folder();
    char *pools = plan ? say_pools(plan) : NULL;
    char *warnings = plan ? say_warnings(plan) : NULL;
    law.n_tried++;
    if (!plan)
        law.n_refused++;
    else if (strcmp(pools, law.pools) == 0)
        law.n_same++;
    else if (has_news(warnings))
        law.n_warned++;
    else {
        law.n_silent++;
        print_error("%s: without %s the plan is another one, and says nothing\n", law.name,
                    file);
    }
    free(pools);
    free(warnings);
    cpb_plan_free(plan);
}

static int try_file(const char *path, const struct stat *about, int type, struct FTW *where)
{
    char kept[sizeof law.folder + 8];
    const char *name = path + strlen(law.folder) + 1;
    (void)about;
    (void)where;
    if (type != FTW_F || strncmp(name, "expect/", 7) == 0 || strcmp(name, "host.txt") == 0 ||
        law.n_file++ % one_in(4) != 0)
        return 0;
    (void)snprintf(kept, sizeof kept, "%s.kept", law.folder);
    assert_int_equal(rename(path, kept), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    compare(name);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rename(kept, path), 0);
    return 0;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

static void try_host(cpb_host *host, const char *name)
{
    cpb_plan *plan;
    (void)host;
    law.name = name;
    (void)snprintf(law.folder, sizeof law.folder, "/tmp/cpubind-unreadable-XXXXXX");
    assert_non_null(mkdtemp(law.folder));
    command_unpack(name, law.folder);
    plan = plan_folder();
    if (plan) {
        law.pools = say_pools(plan);
        law.warnings = say_warnings(plan);
        assert_int_equal(nftw(law.folder, try_file, 16, FTW_PHYS), 0);
        free(law.pools);
        free(law.warnings);
    }
    cpb_plan_free(plan);
    (void)nftw(law.folder, remove_one, 16, FTW_PHYS | FTW_DEPTH);
}

TEST(an_input_that_cannot_be_read_changes_no_plan_in_silence)
{
    assert_in_range(each_fixture(try_host), 100, 1000);
    print_message("# %d plans: %d the same, %d refused, %d with a warning\n", law.n_tried,
                  law.n_same, law.n_refused, law.n_warned);
    assert_in_range(law.n_refused, 1, law.n_tried);
    assert_int_equal(law.n_silent, 0);
}

TEST_FILE(NULL, NULL)
