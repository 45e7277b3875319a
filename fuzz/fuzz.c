/* fuzz.c - the one fuzz target: the rows of the table of readers, by the name of their inputs
 * SPDX-License-Identifier: MIT
 *
 *   fuzz NAME [libFuzzer's options and folders]    the rows whose inputs are inputs/NAME.txt
 *   fuzz list                                      those names
 *   fuzz options NAME                              libFuzzer's options for them
 *   fuzz seeds NAME FOLDER                         their inputs as files: of the archive and of
 *                                                  each `read` in tests/cases
 *   fuzz entry FILE...                             files as entries of an archive
 *
 * It is run from the top folder, by run.sh.
 */
#include <glob.h>
#include <sys/stat.h>

#include "../tests/readers/readers.h"
#include "archive.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char variable[] = "CPUBIND_FUZZ"; /* for the children of libFuzzer */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *name = getenv(variable);
    const reader *row;
    for (int32_t i = 0; (row = reader_at(i)) != NULL; i++)
        if (size <= INT32_MAX && strcmp(inputs_of(row), name) == 0)
            read_input(row, (const char *)data, (int32_t)size);
    return 0;
}

static void list_names(void)
{
    const reader *row;
    for (int32_t i = 0; (row = reader_at(i)) != NULL; i++)
        if (has_own_inputs(i))
            (void)puts(inputs_of(row));
}

static const reader *row_of(const char *name)
{
    const reader *row;
    for (int32_t i = 0; (row = reader_at(i)) != NULL; i++)
        if (strcmp(inputs_of(row), name) == 0)
            return row;
    (void)fprintf(stderr, "no inputs have the name %s: fuzz list\n", name);
    exit(2);
}

/* == Seeds ================================================================== */

static void write_seed(const char *folder, const char *name, const char *args,
                       const archive_entry *e)
{
    char path[4096];
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (!file)
        exit(2);
    if (args)
        (void)fprintf(file, "%s\n", args);
    if (e->len > 0)
        (void)fwrite(e->data, 1, e->len, file);
    (void)fclose(file);
}

/* A case "read READER ARGUMENTS", with its data below it or behind " = ". */
static void write_case(const char *folder, const char *name, const archive_entry *of,
                       int number)
{
    archive_entry e = *of;
    char *line = strdup(e.verb + strlen("read ")), *text = strstr(line, " = ");
    char *args = line + strcspn(line, " "), seed[32];
    const reader *row;
    if (text && !e.data) {
        e.data = text + 1;
        e.len = (size_t)(decode_line(text + 3, text + strlen(text), text + 1) - e.data);
        *text = '\0';
    }
    if (*args)
        *args++ = '\0';
    row = find_reader(line);
    (void)snprintf(seed, sizeof seed, "case-%d", number);
    if (row && strcmp(inputs_of(row), name) == 0)
        write_seed(folder, seed, row->args ? NULL : args, &e);
    free(line);
}

static void write_seeds(const char *name, const char *folder)
{
    char path[512];
    archive a;
    glob_t cases;
    int n = 0;
    (void)mkdir(folder, 0777);
    (void)snprintf(path, sizeof path, "fuzz/inputs/%s.txt", name);
    a = read_archive(path);
    for (size_t i = 0; i < a.n; i++)
        write_seed(folder, a.entry[i].name, NULL, &a.entry[i]);
    free_archive(&a);
    if (glob("tests/cases/*.txt", 0, NULL, &cases) != 0)
        return;
    for (size_t k = 0; k < cases.gl_pathc; k++) {
        a = read_archive(cases.gl_pathv[k]);
        for (size_t i = 0; i < a.n; i++)
            if (strncmp(a.entry[i].verb, "read ", 5) == 0)
                write_case(folder, name, &a.entry[i], n++);
        free_archive(&a);
    }
    globfree(&cases);
}

static void print_file(const char *path)
{
    const char *name = strrchr(path, '/');
    size_t len;
    char *bytes = read_whole(path, &len);
    print_entry(stdout, name ? name + 1 : path, bytes, len);
    free(bytes);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char **word = *argv + 1;
    const int n = *argc - 1;
    if (n < 1 || *word[0] == '-')
        return 0; /* a child */
    if (strcmp(word[0], "list") == 0) {
        list_names();
        exit(0);
    }
    if (strcmp(word[0], "entry") == 0) {
        for (int i = 1; i < n; i++)
            print_file(word[i]);
        exit(0);
    }
    if (strcmp(word[0], "options") == 0 && n == 2) {
        const reader *row = row_of(word[1]);
        (void)printf("-max_len=%d -dict=fuzz/dict/%s.dict\n", row->longest, row->dict);
        exit(0);
    }
    if (strcmp(word[0], "seeds") == 0 && n == 3) {
        write_seeds(inputs_of(row_of(word[1])), word[2]);
        exit(0);
    }
    (void)setenv(variable, inputs_of(row_of(word[0])), 1);
    for (int i = 1; i < *argc; i++)
        (*argv)[i] = (*argv)[i + 1];
    --*argc;
    return 0;
}
