/* replay.c - runs a fuzz target on inputs, without libFuzzer; prints TAP
 * SPDX-License-Identifier: MIT
 *
 *   replay ARCHIVE...              each input of the archives (archive.h), whole and cut short
 *   replay --unpack FOLDER ARCHIVE...   writes each input to a file instead, for libFuzzer
 *
 * For a parser of your own: README.md. The run fails on an input that crashes the target or
 * takes more than a second of CPU time, and when there is none.
 */
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "archive.h"

#ifdef __cplusplus
extern "C"
#endif
    int
    LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char what[512]; /* the present input */
static int n_input;

static void on_signal(int number)
{
    const char *why = number == SIGPROF ? "\n# it takes more than a second\n" : "\n";
    (void)!write(STDOUT_FILENO, what, strlen(what));
    (void)!write(STDOUT_FILENO, why, strlen(why));
    _exit(1);
}

static void feed(const archive_entry *e, size_t len)
{
    const struct itimerval second = {{0, 0}, {1, 0}}, never = {{0, 0}, {0, 0}};
    uint8_t *data = (uint8_t *)malloc(len ? len : 1);
    if (!data)
        abort();
    if (len > 0)
        memcpy(data, e->data, len);
    (void)snprintf(what, sizeof what, "not ok 1 - %s, its first %lu bytes", e->name,
                   (unsigned long)len);
    (void)setitimer(ITIMER_PROF, &second, NULL);
    (void)LLVMFuzzerTestOneInput(data, len);
    (void)setitimer(ITIMER_PROF, &never, NULL);
    free(data);
}

static void unpack(const char *folder, const archive_entry *e)
{
    char path[4096];
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/%s", folder, e->name);
    file = fopen(path, "wb");
    if (!file || fwrite(e->data ? e->data : "", 1, e->len, file) != e->len || fclose(file)) {
        perror(path);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    const char *folder = argc > 2 && strcmp(argv[1], "--unpack") == 0 ? argv[2] : NULL;
    (void)signal(SIGABRT, on_signal);
    (void)signal(SIGSEGV, on_signal);
    (void)signal(SIGPROF, on_signal);
    if (folder)
        (void)mkdir(folder, 0777);
    for (int i = folder ? 3 : 1; i < argc; i++) {
        archive a = read_archive(argv[i]);
        for (size_t k = 0; k < a.n; k++) {
            const archive_entry *e = &a.entry[k];
            n_input++;
            if (folder) {
                unpack(folder, e);
                continue;
            }
            for (size_t quarter = 1; quarter < 4; quarter++)
                feed(e, e->len * quarter / 4);
            feed(e, e->len ? e->len - 1 : 0);
            feed(e, e->len);
        }
        free_archive(&a);
    }
    if (!folder)
        (void)printf("%s 1 - %d inputs\n1..1\n", n_input ? "ok" : "not ok", n_input);
    return n_input ? 0 : 1;
}
