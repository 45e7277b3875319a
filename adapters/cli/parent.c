/* parent.c - the parent of this command as the process to bind: only a shell or a runtime
 * SPDX-License-Identifier: MIT
 *
 * `cpubind apply` in a script binds the script. A service manager, a container runtime, sudo or
 * a launcher of many workers is hardly meant: they are not in the table. Changes nothing.
 */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "bind_common.h"

/* Programs that run a script or a program of their user; a version may follow: "python3.11". */
static const char *const programs[] = {
    "sh",      "ash",     "bash",   "dash",  "zsh",     "ksh",    "mksh",   "yash",
    "fish",    "csh",     "tcsh",   "pwsh",  "nu",      "osh",    "ysh",    "elvish",
    "busybox", "toybox",  "python", "pypy",  "ipython", "node",   "nodejs", "deno",
    "bun",     "java",    "ruby",   "perl",  "php",     "lua",    "luajit", "julia",
    "R",       "Rscript", "tclsh",  "guile", "mono",    "dotnet",
};

/* Whether a name is the word, or the word and a version. */
static int is_version_of(const char *name, const char *word)
{
    const size_t n = strlen(word);
    const char *rest = name + n;
    if (strncmp(name, word, n) != 0)
        return 0;
    rest += (*rest == '.' || *rest == '-') && isdigit((unsigned char)rest[1]);
    return *rest == '\0' ||
           (isdigit((unsigned char)*rest) && rest[strspn(rest, "0123456789.-dmtu")] == '\0');
}

static int is_shell_or_runtime(const char *name)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (is_version_of(name, programs[i]))
            return 1;
    return 0;
}

int cli_choose_parent(const api_options *options, api_bound *bound)
{
    api_text why = {"", 0};
    bound->pid = (int32_t)getppid();
    if (bound->pid == 0) {
        api_add(&why, "the parent of this command is not visible here (another pid namespace): "
                      "name the process with --pid N");
        return cli_fail(options, API_REFUSED, why.text);
    }
    (void)cpubind_bind_program(bound->pid, NULL, bound->parent);
    if (options->command != API_APPLY || options->is_forced ||
        is_shell_or_runtime(bound->parent))
        return API_DONE;
    api_add(
        &why,
        "the parent of this command is process %d (%s), which is no shell and no runtime of "
        "programs: name the process that is to be bound, with --pid N",
        (int)bound->pid, *bound->parent ? bound->parent : "unknown");
    return cli_fail(options, API_REFUSED, why.text);
}
