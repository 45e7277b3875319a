/* replay.c - run a fuzz target on the files of folders, without libFuzzer; prints TAP
 * SPDX-License-Identifier: MIT
 *
 *   replay_TARGET [FILE | FOLDER]...     default: fuzz/corpus/TARGET, fuzz/crashes/TARGET
 *
 * The target gets each file whole and cut short. The run fails on an input that breaks a law,
 * on an input that takes more than a second of CPU time, and when there is no input. The run
 * writes no file. Each target has its own replay_TARGET.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The sanitizers abort on an error, so that on_signal can name the input. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
    return "abort_on_error=1";
}

const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

static char path[4096]; /* of the present input */
static size_t length;   /* bytes of the input that the target got */
static int inputs;

static void say(const char *text)
{
    (void)!write(STDOUT_FILENO, text, strlen(text));
}

/* Names the input that crashed the target. Calls only functions that are safe in a signal
 * handler. */
static void on_signal(int number)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    size_t left = length;
    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    say("not ok 1 - ");
    say(path);
    say(", its first ");
    say(digits + at);
    say(" bytes\n");
    say(number == SIGPROF ? "# it takes more than a second\n" : "# the reason is above\n");
    _exit(1);
}

static void feed(const uint8_t *data, size_t size)
{
    const struct itimerval second = {{0, 0}, {1, 0}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    length = size;
    (void)setitimer(ITIMER_PROF, &second, NULL);
    (void)LLVMFuzzerTestOneInput(data, size);
    (void)setitimer(ITIMER_PROF, &never, NULL);
}

/* The whole input comes last, after its cuts. */
static void feed_file(FILE *file, size_t size)
{
    uint8_t *data = (uint8_t *)malloc(size ? size : 1);
    if (!data || fread(data, 1, size, file) != size) {
        (void)fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    for (size_t quarter = 1; quarter < 4; quarter++)
        feed(data, size * quarter / 4);
    if (size > 0)
        feed(data, size - 1);
    feed(data, size);
    free(data);
    inputs++;
}

static void replay(const char *name);

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void replay_folder(const char *folder)
{
    struct dirent **entry = NULL;
    const int n = scandir(folder, &entry, is_visible, alphasort);
    for (int i = 0; i < n; i++) {
        char name[4096];
        if (snprintf(name, sizeof name, "%s/%s", folder, entry[i]->d_name) < (int)sizeof name)
            replay(name);
        free(entry[i]);
    }
    free(entry);
}

/* NOLINTNEXTLINE(misc-no-recursion): the folders in corpus/ and crashes/ hold files only. */
static void replay(const char *name)
{
    struct stat about;
    FILE *file;
    if (stat(name, &about) != 0) {
        (void)fprintf(stderr, "cannot find %s\n", name);
        exit(2);
    }
    if (S_ISDIR(about.st_mode)) {
        replay_folder(name);
        return;
    }
    (void)snprintf(path, sizeof path, "%s", name);
    file = fopen(name, "rb");
    if (!file) {
        (void)fprintf(stderr, "cannot open %s\n", name);
        exit(2);
    }
    feed_file(file, (size_t)about.st_size);
    (void)fclose(file);
}

int main(int argc, char **argv)
{
    const char *target = strstr(argv[0], "replay_");
    char folder[256];
    target = target ? target + strlen("replay_") : "?";
    (void)signal(SIGABRT, on_signal);
    (void)signal(SIGPROF, on_signal);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    for (int i = 0; i < 2 && argc == 1; i++) {
        (void)snprintf(folder, sizeof folder, "fuzz/%s/%s", i ? "crashes" : "corpus", target);
        replay(folder);
    }
    (void)printf("%s 1 - %d inputs of %s replay\n1..1\n", inputs > 0 ? "ok" : "not ok", inputs,
                 target);
    return inputs > 0 ? 0 : 1;
}
