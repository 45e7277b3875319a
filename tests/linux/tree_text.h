/* tree_text.h - the contents of a folder as one text, for tests that compare folders
 * SPDX-License-Identifier: MIT
 *
 * A line for each entry, in ascending byte order: "NAME/" of a folder, "NAME -> TARGET" of a
 * link, "NAME: n bytes, SUM" of a file; SUM is a hash of its bytes (djb2). Links must not be
 * followed.
 */
#ifndef CPUBIND_TESTS_LINUX_TREE_TEXT_H
#define CPUBIND_TESTS_LINUX_TREE_TEXT_H

#include "temp_dir.h"

#define TREE_TEXT_MAX 65536

typedef struct tree_text {
    char text[TREE_TEXT_MAX];
    size_t len;
} tree_text;

static inline void tree_line(tree_text *out, const char *name, const char *rest)
{
    int n = snprintf(out->text + out->len, sizeof out->text - out->len, "%s%s\n", name, rest);
    scratch_need(n > 0 && (size_t)n < sizeof out->text - out->len, name);
    out->len += (size_t)n;
}

static inline void tree_file(tree_text *out, const char *path, const char *name)
{
    char rest[64];
    unsigned long n = 0, sum = 5381;
    FILE *file = fopen(path, "re");
    scratch_need(file != NULL, path);
    for (int c; (c = fgetc(file)) != EOF; n++)
        sum = sum * 33 + (unsigned long)c;
    fclose(file);
    snprintf(rest, sizeof rest, ": %lu bytes, %lx", n, sum);
    tree_line(out, name, rest);
}

/* Writes a line for each entry of `path`; `prefix` comes before its name. */
static inline void tree_folder(tree_text *out, const char *path, const char *prefix)
{
    struct dirent **entry = NULL;
    int n = scandir(path, &entry, NULL, alphasort);
    scratch_need(n >= 0, path);
    for (int i = 0; i < n; i++) {
        char full[8192], name[8192], rest[1100] = " -> ";
        struct stat st;
        const char *last = entry[i]->d_name;
        if (strcmp(last, ".") != 0 && strcmp(last, "..") != 0) {
            snprintf(full, sizeof full, "%s/%s", path, last);
            snprintf(name, sizeof name, "%s%s", prefix, last);
            scratch_need(lstat(full, &st) == 0, full);
            if (S_ISLNK(st.st_mode)) {
                scratch_need(readlink(full, rest + 4, sizeof rest - 5) >= 0, full);
                tree_line(out, name, rest);
            } else if (S_ISDIR(st.st_mode)) {
                tree_line(out, name, "/");
                snprintf(name, sizeof name, "%s%s/", prefix, last);
                tree_folder(out, full, name);
            } else {
                tree_file(out, full, name);
            }
        }
        free(entry[i]);
    }
    free(entry);
}

/* Writes the text of folder `name` in the temporary folder; "": of the temporary folder. */
static inline void tree_of(const scratch *s, const char *name, tree_text *out)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(s, name, path);
    out->len = 0;
    out->text[0] = '\0';
    tree_folder(out, path, "");
}

#endif /* CPUBIND_TESTS_LINUX_TREE_TEXT_H */
