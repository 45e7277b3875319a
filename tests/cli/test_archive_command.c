/* test_archive_command.c - a host as one file: captured, planned, imported, refused
 * SPDX-License-Identifier: MIT
 */
#include <jansson.h>

#include "../support/cmocka_test.h"
#include "answer.h"

#define A2 "fixtures/hosts/a2-192cpu-8npu"

static char folder[] = "/tmp/cpubind-archive-XXXXXX";

/* Runs a line of the shell in the folder of the test; $C is the command, $A2 a host. */
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
    assert_non_null(realpath(A2, path));
    setenv("A2", path, 1);
    setenv("D", folder, 1);
    expect_shell(0, "gives the same", "$C capture --root $A2 -o $D/t.tar.gz --name t");
    expect_shell(0, "", "$C capture --root $A2 -o $D/t.tar --quiet");
    return 0;
}

SETUP(remove_folder)
{
    expect_shell(0, "", "rm -rf $D");
    return 0;
}

TEST(an_archive_is_planned_as_the_folder)
{
    expect_shell(0, "",
                 "$C plan --root $A2 >$D/a && $C plan --root $D/t.tar.gz >$D/b && "
                 "$C plan --root $D/t.tar | cmp - $D/a && cmp $D/a $D/b");
}

TEST(an_archive_is_imported_as_the_folder)
{
    expect_shell(0, "",
                 "$C capture --root $A2 -o $D/f --name t --quiet && "
                 "$C fixture import $D/f --db $D/f.db --quiet && "
                 "$C fixture import $D/t.tar.gz --db $D/a.db --quiet && "
                 "$C fixture export t $D/out --db $D/a.db --quiet && diff -r $D/f $D/out");
}

TEST(one_host_gives_the_same_bytes_each_time)
{
    expect_shell(0, "",
                 "$C capture --root $A2 -o $D/u.tgz --name t --quiet && "
                 "cmp $D/u.tgz $D/t.tar.gz");
}

TEST(an_archive_that_exists_is_kept)
{
    expect_shell(1, "replace it with --replace", "$C capture --root $A2 -o $D/t.tar");
    expect_shell(0, "", "$C capture --root $A2 -o $D/t.tar --replace --quiet");
    expect_shell(4, "could not be written", "$C capture --root $A2 -o $D/none/t.tar");
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
                 "$C capture --root $D/v/h -o $D/v.tar.gz --quiet && "
                 "$C fixture import $D/v.tar.gz --db $D/v.db --quiet");
    expect_shell(0, "openEuler 24.03", "$C fixture show v --db $D/v.db");
    expect_shell(0, "6.6.0", "$C fixture show v --db $D/v.db");
    expect_shell(0, "25.2.0", "$C fixture show v --db $D/v.db");
    expect_shell(0, "2026-11-23T01:02:03Z", "$C fixture show v --db $D/v.db");
    expect_shell(0, "2026-11-23 01:02", "TZ=UTC tar tvzf $D/v.tar.gz");
}

TEST(what_is_no_archive_of_a_host_is_refused_with_the_place)
{
    static const struct {
        const char *make, *said;
    } faults[] = {
        {"head -c 3000 $D/t.tar >$D/x", "byte 2560: the archive is cut off"},
        {"head -c 900 $D/t.tar.gz >$D/x", "the compressed archive is cut off"},
        {"(cat $D/t.tar.gz; echo z) >$D/x", "bytes follow the end"},
        {"(cat $D/t.tar; echo z) >$D/x", "bytes follow the end"},
        {"echo hello >$D/x", "byte 0: there is no header of a tar archive"},
        {"echo hello | gzip >$D/x", "byte 0: there is no header of a tar archive"},
        {"ln -sf /etc/passwd $D/l && tar -C $D -cf $D/x l", "\"l\": it is a link"},
        {"echo 1 >$D/g && tar -cPf $D/x $D/g", "its path is absolute"},
        {"cd $D && tar -cPf x ./../${D##*/}/g", "its path has a part \"..\""},
        {"cd $D && tar -cf x g && tar -rf x g", "two files of this name"},
        {"head -c 300000000 /dev/zero | gzip -1 >$D/x", "unpacks to more than 128 MiB"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        expect_shell(0, "", faults[i].make);
        expect_shell(3, faults[i].said, "$C plan --root $D/x");
        expect_shell(3, faults[i].said, "$C fixture import $D/x --db $D/x.db");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_is_planned_as_the_folder),
        cmocka_unit_test(an_archive_is_imported_as_the_folder),
        cmocka_unit_test(one_host_gives_the_same_bytes_each_time),
        cmocka_unit_test(an_archive_that_exists_is_kept),
        cmocka_unit_test(versions_and_date_are_inputs),
        cmocka_unit_test(what_is_no_archive_of_a_host_is_refused_with_the_place),
    };
    return cmocka_run_group_tests_name("archive command", tests, make_folder, remove_folder);
}
