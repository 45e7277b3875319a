/* test_metrics.c - the figures of the service are text that Prometheus reads
 * SPDX-License-Identifier: MIT
 *
 * The grammar is that of the exposition format 0.0.4; promtool reads the text too, where it is
 * installed.
 */
#include <ctype.h>
#include <sys/wait.h>

#include "../../adapters/service/metrics.h"
#include "../linux/fault_table.h"
#include "../linux/temp_dir.h"

static scratch s;
static char path[SCRATCH_PATH * 2];

static cpubind_service_device npus[] = {{.number = 0,
                                         .processes = 2,
                                         .right = 250,
                                         .elsewhere = 3,
                                         .unbound = 1,
                                         .near_bytes = 1LL << 40,
                                         .far_bytes = 4096,
                                         .irqs_right = 4,
                                         .irqs_elsewhere = 1},
                                        {.number = 15,
                                         .processes = 1,
                                         .right = 0,
                                         .elsewhere = 0,
                                         .unbound = 0,
                                         .near_bytes = -1,
                                         .far_bytes = -1,
                                         .irqs_right = -1,
                                         .irqs_elsewhere = -1}};
static const cpubind_service_counts counts = {npus, 2,          17,       2, 1, 1790000000,
                                              3,    1790000100, "better", 1, 0};

SETUP(set_up)
{
    scratch_make(&s);
    scratch_path(&s, "metrics/cpubind.prom", path);
    fault_clear();
    return 0;
}

SETUP(tear_down)
{
    scratch_remove(&s);
    return 0;
}

/* Reads a name of a metric or of a label; returns its end, or NULL. */
static const char *read_name(const char *at)
{
    if (!isalpha((unsigned char)*at) && *at != '_')
        return NULL;
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    return at;
}

/* Reads {a="b",...}; returns its end, or NULL. */
static const char *read_labels(const char *at)
{
    for (;;) {
        at = read_name(at + 1);
        if (!at || strncmp(at, "=\"", 2) != 0)
            return NULL;
        for (at += 2; *at && !strchr("\"\\\n", *at);)
            at++;
        if (*at++ != '"' || !strchr(",}", *at))
            return NULL;
        if (*at == '}')
            return at + 1;
    }
}

/* Whether a line is a sample of the metric that the last TYPE has named. */
static int is_sample(const char *line, const char *type)
{
    const char *at = read_name(line);
    if (!at || strncmp(line, type, (size_t)(at - line)) != 0 || type[at - line] != ' ')
        return 0;
    if (*at == '{')
        at = read_labels(at);
    return at && *at++ == ' ' && strspn(at, "0123456789") == strlen(at);
}

/* Fails the test unless the text follows the grammar; each metric has one HELP, one TYPE, and
 * its samples, each once. */
static void check_grammar(const char *text)
{
    char copy[8192], seen[8192] = "", type[128] = "", *rest = copy;
    assert_true(strlen(text) < sizeof copy && text[strlen(text) - 1] == '\n');
    memcpy(copy, text, strlen(text) + 1);
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char key[256];
        if (strncmp(line, "# TYPE ", 7) == 0) {
            (void)snprintf(type, sizeof type, "%s", line + 7);
            assert_true(strstr(type, " gauge") || strstr(type, "_total counter"));
        } else if (strncmp(line, "# HELP ", 7) != 0 && !is_sample(line, type)) {
            fail_msg("no sample: %s", line);
        }
        (void)snprintf(key, sizeof key, "\n%.*s\n",
                       (int)(line[0] == '#' ? strlen(line) : strcspn(line, " ")), line);
        if (strstr(seen, key))
            fail_msg("twice: %s", line);
        (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s", key);
    }
}

static char *read_back(void)
{
    static char text[8192];
    FILE *file = fopen(path, "re");
    size_t n = 0;
    if (file) {
        n = fread(text, 1, sizeof text - 1, file);
        (void)fclose(file);
    }
    text[n] = '\0';
    return text;
}

TEST(the_text_follows_the_format)
{
    const char *text;
    assert_int_equal(cpubind_metrics_write(&counts, &cpubind_sys_real, path).error, 0);
    text = read_back();
    check_grammar(text);
    assert_non_null(strstr(text, "\ncpubind_threads{npu=\"0\",place=\"right\"} 250\n"));
    assert_non_null(strstr(text, "\ncpubind_threads{npu=\"0\",place=\"elsewhere\"} 3\n"));
    assert_non_null(strstr(text, "\ncpubind_threads{npu=\"0\",place=\"unbound\"} 1\n"));
    assert_non_null(
        strstr(text, "\ncpubind_memory_bytes{npu=\"0\",place=\"near\"} 1099511627776\n"));
    assert_non_null(strstr(text, "\ncpubind_interrupts{npu=\"0\",place=\"elsewhere\"} 1\n"));
    assert_non_null(strstr(text, "\ncpubind_npu_workers{npu=\"15\"} 1\n"));
    assert_non_null(strstr(text, "\ncpubind_moves_total 17\n"));
    assert_non_null(strstr(text, "\ncpubind_errors_total 2\n"));
    assert_non_null(strstr(text, "\ncpubind_last_look_timestamp_seconds 1790000000\n"));
    assert_non_null(strstr(text, "\ncpubind_measured_timestamp_seconds 1790000100\n"));
    assert_non_null(strstr(text, "\ncpubind_measured{verdict=\"better\"} 1\n"));
    assert_non_null(strstr(text, "\ncpubind_build_info{version=\""));
    assert_null(strstr(text, "-1")); /* what is not known is left out */
}

TEST(devices_have_their_address)
{
    cpubind_service_device devices[] = {
        {.number = -1, .pci = "0000:c1:00.0", .processes = 2, .right = 7},
        {.number = -1, .processes = 1, .near_bytes = -1, .far_bytes = -1}};
    const cpubind_service_counts of_devices = {
        .device = devices, .n_device = 2, .workers = 3, .has_others = 1};
    const char *text;
    assert_int_equal(cpubind_metrics_write(&of_devices, &cpubind_sys_real, path).error, 0);
    text = read_back();
    check_grammar(text);
    assert_non_null(
        strstr(text, "\ncpubind_threads{device=\"0000:c1:00.0\",place=\"right\"} 7\n"));
    assert_non_null(strstr(text, "\ncpubind_device_workers{device=\"0000:c1:00.0\"} 2\n"));
    assert_non_null(strstr(text, "\ncpubind_device_workers{device=\"several\"} 1\n"));
    assert_non_null(strstr(text, "\ncpubind_workers 3\n"));
    assert_null(strstr(text, "NPU"));
    assert_null(strstr(text, "cpubind_interrupts"));
}

/* Two containers on one NPU have figures of their own, also where their names are not known. */
TEST(pods_have_labels)
{
    cpubind_service_device devices[] = {
        {.number = 3, .processes = 1, .right = 5},
        {.number = 3,
         .pod = "pod=\"vllm-0\",namespace=\"prod\",container=\"worker\",pod_uid=\"1\","
                "qos=\"guaranteed\"",
         .processes = 2,
         .right = 7},
        {.number = 3, .pod = "pod_uid=\"2\",qos=\"unknown\"", .processes = 1}};
    const cpubind_service_counts of_pods = {
        .device = devices, .n_device = 3, .workers = 4, .has_numbered = 1};
    const char *text;
    assert_int_equal(cpubind_metrics_write(&of_pods, &cpubind_sys_real, path).error, 0);
    text = read_back();
    check_grammar(text);
    assert_non_null(strstr(text, "\ncpubind_threads{npu=\"3\",place=\"right\"} 5\n"));
    assert_non_null(strstr(text,
                           "\ncpubind_threads{npu=\"3\",pod=\"vllm-0\",namespace=\"prod\","
                           "container=\"worker\",pod_uid=\"1\",qos=\"guaranteed\","
                           "place=\"right\"} 7\n"));
    assert_non_null(
        strstr(text, "\ncpubind_npu_workers{npu=\"3\",pod_uid=\"2\",qos=\"unknown\"} 1\n"));
}

TEST(promtool_reads_the_text)
{
    char command[SCRATCH_PATH * 3];
    if (access("/usr/bin/promtool", X_OK) != 0)
        skip();
    assert_int_equal(cpubind_metrics_write(&counts, &cpubind_sys_real, path).error, 0);
    (void)snprintf(command, sizeof command, "promtool check metrics <'%s'", path);
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    assert_int_equal(pclose(pipe), 0);
}

TEST(the_file_is_whole_or_as_before)
{
    static const call calls[] = {CALL_open,  CALL_openat, CALL_create, CALL_write,  CALL_fsync,
                                 CALL_close, CALL_rename, CALL_malloc, CALL_realloc};
    int n_failed = 0;
    assert_int_equal(cpubind_metrics_write(&counts, &cpubind_sys_real, path).error, 0);
    const size_t whole = strlen(read_back());
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const int before = open_descriptors();
        cpubind_service_counts other = counts;
        other.moves = 18 + (int64_t)i; /* as many digits */
        fault_set(calls[i], 1, calls[i] == CALL_write ? ENOSPC : EIO);
        const int error = cpubind_metrics_write(&other, &fault_table, path).error;
        n_failed += error != 0;
        assert_true(error == 0 || fault.n_met > 0);
        assert_int_equal(open_descriptors(), before);
        assert_int_equal(strlen(read_back()), whole);
    }
    assert_true(n_failed >= 5);
    fault_clear();
    DIR *folder;
    int n_name = 0;
    path[strlen(s.dir) + strlen("/metrics")] = '\0';
    folder = opendir(path);
    for (struct dirent *name; (name = readdir(folder));)
        n_name += name->d_name[0] != '.';
    closedir(folder);
    assert_int_equal(n_name, 1); /* no temporary file is left */
}

TEST(a_missing_folder_is_named)
{
    const cpubind_linux_fault why =
        cpubind_metrics_write(&counts, &cpubind_sys_real, "/nowhere/at/all/a.prom");
    assert_int_equal(why.error, ENOENT);
    assert_string_equal(why.what, "folder");
}

TEST_FILE(set_up, tear_down)
