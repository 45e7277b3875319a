/* test_host_files.c - a host as one file: captured, planned, imported, refused
 * SPDX-License-Identifier: MIT
 */
#include <jansson.h>

#include "../support/test.h"
#include "answer.h"

static char folder[] = "/tmp/cpubind-host-file-XXXXXX";

/* Runs a line of the shell in the folder of the test; $C is the command, $A2 a host folder. */
static command_result shell(const char *line)
{
    const char *words[] = {"sh", "-c", line, NULL};
    return command_run(words);
}

static void expect_shell(int status, const char *text, const char *line)
{
    command_result r = shell(line);
    if (r.status != status || (!strstr(r.out, text) && !strstr(r.err, text)))
        fail_msg("%s: %d, %s%s", line, r.status, r.out, r.err);
    command_free(&r);
}

SETUP(make_folder)
{
    char path[4096];
    assert_non_null(mkdtemp(folder));
    assert_non_null(realpath(command_path(), path));
    setenv("C", path, 1);
    setenv("D", folder, 1);
    (void)snprintf(path, sizeof path, "%s/a2", folder);
    setenv("A2", path, 1);
    expect_shell(0, "", "$C fixture export a2-192cpu-8npu $A2 --quiet");
    expect_shell(0, "gives the same", "$C capture --root $A2 -o $D/t.host.gz --name t");
    expect_shell(0, "", "$C capture --root $A2 -o $D/t.host --quiet");
    return 0;
}

SETUP(remove_folder)
{
    expect_shell(0, "", "rm -rf $D");
    return 0;
}

TEST(a_file_is_planned_as_the_folder)
{
    expect_shell(0, "",
                 "$C plan --root $A2 >$D/a && $C plan --root $D/t.host.gz >$D/b && "
                 "$C plan --root $D/t.host | cmp - $D/a && cmp $D/a $D/b");
}

TEST(a_file_is_imported_as_the_folder)
{
    expect_shell(0, "",
                 "$C capture --root $A2 -o $D/f --name t --quiet && "
                 "$C fixture import $D/f --db $D/f.db --quiet && "
                 "$C fixture import $D/t.host.gz --db $D/a.db --quiet && "
                 "$C fixture export t $D/out --db $D/a.db --quiet && diff -r $D/f $D/out");
}

TEST(one_host_gives_the_same_bytes_each_time)
{
    expect_shell(0, "",
                 "$C capture --root $A2 -o $D/u.host.gz --name t --quiet && "
                 "cmp $D/u.host.gz $D/t.host.gz && gzip -dc $D/u.host.gz | cmp - $D/t.host && "
                 "$C capture --root $D/t.host -o $D/w.host --name t --quiet && "
                 "cmp $D/w.host $D/t.host");
}

/* All bytes are the same after a host went through a corpus, and through a folder. */
TEST(every_host_is_the_same_after_a_round_trip)
{
    expect_shell(0, "",
                 "$C fixture import fixtures/hosts/*.host --db $D/r.db --quiet && "
                 "for h in fixtures/hosts/*.host; do n=${h##*/}; n=${n%.host}; "
                 "$C fixture export $n $D/r.host --db $D/r.db --replace --quiet && "
                 "cmp $D/r.host $h || exit; done");
    expect_shell(0, "",
                 "$C fixture export a2-zh-messages $D/z --quiet && "
                 "$C fixture import $D/z --db $D/z.db --quiet && "
                 "$C fixture export a2-zh-messages $D/z.host --db $D/z.db --quiet && "
                 "cmp $D/z.host fixtures/hosts/a2-zh-messages.host");
}

TEST(a_file_that_exists_is_kept)
{
    expect_shell(1, "replace it with --replace", "$C capture --root $A2 -o $D/t.host");
    expect_shell(0, "", "$C capture --root $A2 -o $D/t.host --replace --quiet");
    expect_shell(4, "could not be written", "$C capture --root $A2 -o $D/none/t.host");
    expect_shell(1, "is there already", "$C fixture export a2-192cpu-8npu $D/t.host");
}

TEST(versions_and_date_are_inputs)
{
    expect_shell(0, "",
                 "mkdir -p $D/v && cp -r $A2 $D/v/h && mkdir -p $D/v/h/etc "
                 "$D/v/h/proc/sys/kernel $D/v/h/usr/local/Ascend/driver && "
                 "echo 'PRETTY_NAME=\"openEuler 24.03\"' >$D/v/h/etc/os-release && "
                 "echo 6.6.0 >$D/v/h/proc/sys/kernel/osrelease && "
                 "echo Version=25.2.0 >$D/v/h/usr/local/Ascend/driver/version.info && "
                 "echo 2026-11-23T01:02:03Z >$D/v/h/date && "
                 "$C capture --root $D/v/h -o $D/v.host --quiet && "
                 "$C fixture import $D/v.host --db $D/v.db --quiet");
    expect_shell(0, "openEuler 24.03", "$C fixture show v --db $D/v.db");
    expect_shell(0, "6.6.0", "$C fixture show v --db $D/v.db");
    expect_shell(0, "25.2.0", "$C fixture show v --db $D/v.db");
    expect_shell(0, "2026-11-23T01:02:03Z", "$C fixture show v --db $D/v.db");
}

TEST(what_is_no_host_is_refused_with_the_place)
{
    static const struct {
        const char *make, *said;
    } faults[] = {
        {"head -c 3000 $D/t.host >$D/x", "line 29, column 74: it is cut off"},
        {"head -c 900 $D/t.host.gz >$D/x", "the compressed file is cut off"},
        {"(cat $D/t.host.gz; echo z) >$D/x", "bytes follow the end"},
        {"(cat $D/t.host; echo z) >$D/x", "bytes follow the line \"end\""},
        {"echo hello >$D/x", "line 1, column 1: its first line is not \"cpubind host 1\""},
        {"echo hello | gzip >$D/x", "line 1, column 1: its first line is not"},
        {": >$D/x", "line 1, column 1: its first line is not"},
        {"printf 'cpubind host 1\\nfile /etc/passwd\\nend\\n' >$D/x",
         "line 2, column 1: a path is relative"},
        {"printf 'cpubind host 1\\nfile ../x\\nend\\n' >$D/x",
         "line 2, column 1: a path is relative"},
        {"printf 'cpubind host 1\\nfile a\\n\\nend\\n' >$D/x",
         "line 3, column 1: a line begins"},
        {"sed 's/^file uname/file env\\n&/' $D/t.host >$D/x", "its files are not in order"},
        {"sed 's/^file uname/&\\n&/' $D/t.host >$D/x", "it has this file twice"},
        {"head -c 300000000 /dev/zero | gzip -1 >$D/x", "unpacks to more than 128 MiB"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        expect_shell(0, "", faults[i].make);
        expect_shell(3, faults[i].said, "$C plan --root $D/x");
        expect_shell(3, faults[i].said, "$C fixture import $D/x --db $D/x.db");
    }
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_planned_as_the_folder),
        cmocka_unit_test(a_file_is_imported_as_the_folder),
        cmocka_unit_test(one_host_gives_the_same_bytes_each_time),
        cmocka_unit_test(every_host_is_the_same_after_a_round_trip),
        cmocka_unit_test(a_file_that_exists_is_kept),
        cmocka_unit_test(versions_and_date_are_inputs),
        cmocka_unit_test(what_is_no_host_is_refused_with_the_place),
    };
    return cmocka_run_group_tests_name("host files", tests, make_folder, remove_folder);
}

TEST_PROGRAM(run_all)
