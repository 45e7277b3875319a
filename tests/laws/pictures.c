/* pictures.c - the map, the picture and the explanations of a plan agree with it
 * SPDX-License-Identifier: MIT
 *
 * Of every fixture, by both rules, with CPUs that are kept, and in the scope of the host.
 */
#define _GNU_SOURCE
#include <jansson.h>

#include "../support/said.h"
#include "fixtures.h"

static const char *const roles[] = {"irq", "main", "acl", "release"};

enum { ROLES = sizeof roles / sizeof *roles };

static const char *planned; /* the name of the host */

/* == The picture ============================================================ */

/* Bytes of the name of an element or an attribute at `text`. */
static size_t name_at(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
}

/* Passes over an element's attributes; returns where they end. */
static const char *pass_attributes(const char *at)
{
    while (*at == ' ') {
        at += 1 + name_at(at + 1);
        assert_true(at[0] == '=' && at[1] == '"');
        at += 2 + strcspn(at + 2, "\"<");
        assert_true(*at == '"');
        at++;
    }
    return at;
}

/* Passes over text; an ampersand starts one of the entities that XML knows. */
static const char *pass_text(const char *at)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (; *at && *at != '<'; at++) {
        int is_known = *at != '&';
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            is_known |= strncmp(at, entities[i], strlen(entities[i])) == 0;
        assert_true(is_known);
        assert_true((unsigned char)*at >= ' ' || *at == '\n');
    }
    return at;
}

/* The document is one element whose elements are nested properly: well-formed XML. */
static void check_xml(const char *text)
{
    const char *open[16];
    size_t depth = 0, n_root = 0;
    static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    for (const char *at = text + strlen(head); *at; at = pass_text(at)) {
        const int is_end = at[1] == '/';
        const char *name = at + 1 + is_end;
        at = name + name_at(name);
        if (is_end) {
            assert_true(depth > 0 && strncmp(open[--depth], name, (size_t)(at - name)) == 0);
        } else {
            n_root += depth == 0;
            at = pass_attributes(at);
            assert_true(depth < sizeof open / sizeof *open);
            if (*at == '/')
                at++;
            else
                open[depth++] = name;
        }
        assert_true(*at == '>');
        at++;
    }
    assert_int_equal(depth, 0);
    assert_int_equal(n_root, 1);
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        n++;
    return n;
}

/* Well formed, nothing is loaded, and each device is drawn, and the first CPU of each role. */
static void check_picture(const cpb_plan *plan, const char *svg)
{
    const int has_tiles = strstr(cpb_plan_json(plan), "\"tile\": ") != NULL;
    const int32_t *device, *cpu;
    check_xml(svg);
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "href"));
    assert_null(strstr(svg, "@import"));
    assert_int_equal(count(svg, "url("), 0);
    for (int32_t n = cpb_plan_devices(plan, &device), i = 0; i < n; i++)
        for (int k = 0; k < ROLES; k++) {
            char cpu_is[64], role[64];
            if (cpb_plan_cpus(plan, device[i], roles[k], &cpu) < 1)
                continue;
            (void)snprintf(cpu_is, sizeof cpu_is, "<title>CPU %d: ", (int)*cpu);
            (void)snprintf(role, sizeof role, " %d, %s<", (int)device[i], roles[k]);
            const char *title = strstr(svg, cpu_is);
            const char *end = title ? strstr(title, "/title>") : NULL;
            /* a tile is drawn as its device */
            const char *words = has_tiles ? strchr(role, ',') : role;
            if (!end || (!memmem(title, (size_t)(end - title), words, strlen(words)) &&
                         !memmem(title, (size_t)(end - title), "in two pools", 12)))
                fail_msg("%s: CPU %d is not drawn as %s", planned, (int)*cpu, role);
            /* the roles of single threads are dark, with white text */
            const char *next = strstr(end, "<title>");
            const size_t drawn = next ? (size_t)(next - title) : strlen(title);
            if (!memmem(title, drawn, "class=\"c d\"", 11) != (k < 2) &&
                !memmem(title, drawn, "in two pools", 12))
                fail_msg("%s: CPU %d, %s, has not its colour", planned, (int)*cpu, role);
        }
}

/* No line is longer than `columns`. */
static void check_width(const char *text, size_t columns)
{
    for (size_t n; *text; text += n + (text[n] != '\0')) {
        n = strcspn(text, "\n");
        if (n > columns)
            fail_msg("%s: %zu columns: %.*s", planned, n, (int)n, text);
    }
}

/* == Explanations =========================================================== */

enum { CPUS = 1024 };

/* An explanation of all: its text, lines that were broken joined, and where that of each CPU
 * begins. */
typedef struct explained {
    char *text;
    const char *cpu[CPUS];
} explained;

/* A list goes on without a blank, a sentence behind four. */
static void join_lines(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        const size_t n = *at == '\n' ? strspn(at + 1, " ") : 0;
        const int is_list = to > text && to[-1] == ',' && at[1 + n] >= '0' && at[1 + n] <= '9';
        if (*at != '\n' || (!is_list && n < 4)) {
            *to++ = *at;
            continue;
        }
        if (!is_list)
            *to++ = ' ';
        at += n;
    }
    *to = '\0';
}

/* Cuts the text into the explanations, which blank lines part or heads begin. */
static void find_cpus(explained *e)
{
    int cpu;
    memset(e->cpu, 0, sizeof e->cpu);
    for (char *line = e->text; line; line = strchr(line, '\n')) {
        *line = *line == '\n' ? '\0' : *line;
        line += *line == '\0';
        if (*line == ' ') { /* the same explanation goes on */
            line[-1] = '\n';
        } else if (sscanf(line, "CPU %d is on node", &cpu) == 1 && cpu < CPUS) {
            e->cpu[cpu] = line;
        }
    }
}

/* The name of a device, or its address, as the JSON of the plan has it. */
static const char *name_of(const json_t *json, int32_t device)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(json, "devices"), i, row)
    {
        const char *id = json_object_get(row, "npu") ? "npu" : "rank";
        if (json_integer_value(json_object_get(row, id)) == device)
            return json_string_value(json_object_get(
                row, json_is_string(json_object_get(row, "name")) ? "name" : "pci"));
    }
    fail_msg("%s: the JSON has no device %d", planned, (int)device);
    return NULL;
}

/* The head of a device has its CPUs; each CPU of a role says so. Tiles of one device have one
 * head for all. */
static void check_device(const cpb_plan *plan, int32_t device, const explained *e,
                         unsigned char *has_pool)
{
    const int32_t *cpu;
    const int32_t n = cpb_plan_cpus(plan, device, "pool", &cpu);
    json_t *json = json_loads(cpb_plan_json(plan), 0, NULL);
    const char *name = name_of(json, device);
    for (int32_t i = 0; i < n; i++)
        has_pool[cpu[i]] = 1;
    for (int k = 0; k < ROLES; k++) {
        const int32_t n_role = cpb_plan_cpus(plan, device, roles[k], &cpu);
        for (int32_t i = 0; i < n_role; i++) {
            char role[64];
            (void)snprintf(role, sizeof role, " %s (%s)", name, roles[k]);
            if (!e->cpu[cpu[i]] || !strstr(e->cpu[cpu[i]], role))
                fail_msg("%s: of CPU %d there is no %s", planned, (int)cpu[i], role);
        }
    }
    json_decref(json);
}

static void check_explanations(const cpb_plan *plan)
{
    static said head;
    unsigned char has_pool[65536] = {0};
    explained e = {.text = cpb_plan_explain(plan, "all", NULL)};
    const int32_t *device, *cpu;
    const int32_t n = cpb_plan_devices(plan, &device);
    assert_non_null(e.text);
    check_width(e.text, 80);
    join_lines(e.text);
    for (int32_t i = 0; i < n; i++) {
        const int32_t n_cpu = cpb_plan_cpus(plan, device[i], "pool", &cpu);
        head.len = 0;
        say(&head, " gets %d CPUs: ", (int)n_cpu);
        say_list(&head, cpu, n_cpu);
        if (!strstr(e.text, head.text) && !strstr(e.text, "tile"))
            fail_msg("%s: of %d none%s", planned, (int)device[i], head.text);
    }
    find_cpus(&e);
    for (int32_t i = 0; i < n; i++)
        check_device(plan, device[i], &e, has_pool);
    for (int i = 0; i < CPUS; i++)
        if (!has_pool[i] && e.cpu[i] && strstr(e.cpu[i], "It is in the pool of"))
            fail_msg("%s: CPU %d is in no pool: %.200s", planned, i, e.cpu[i]);
    cpb_text_free(e.text);
}

/* == All plans ============================================================== */

static int n_picture;

static void check_plan(cpb_host *host, const char *name)
{
    static const char *const options[][3] = {
        {NULL}, {"rules=reference"}, {"keep=2"}, {"scope=host", "rules=reference"}};
    planned = name;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        cpb_plan *plan = cpb_plan_make(host, options[i], NULL);
        if (!plan)
            continue;
        char *svg = cpb_plan_format(plan, "svg", NULL);
        char *map = cpb_plan_format(plan, "map", NULL);
        if (svg)
            check_picture(plan, svg);
        n_picture += svg != NULL;
        assert_non_null(map);
        assert_true(strncmp(map, "node ", 5) == 0 || strncmp(map, "socket ", 7) == 0);
        check_width(map, 80);
        if (i < 2)
            check_explanations(plan);
        cpb_text_free(map);
        cpb_text_free(svg);
        cpb_plan_free(plan);
    }
}

TEST(every_plan_has_a_picture_a_map_and_explanations_that_agree_with_it)
{
    (void)each_fixture(check_plan);
    assert_true(n_picture * one_in(4) > 200);
}

TEST_FILE(NULL, NULL)
