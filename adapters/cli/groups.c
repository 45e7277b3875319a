/* groups.c - the hosts of a fleet by their shapes, and how each group differs from another
 * SPDX-License-Identifier: MIT
 *
 * The contracts are in groups.h.
 */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include "../doctor/doctor.h"

enum { NAMES_SAID = 3 };

/* == Texts, each once ======================================================= */

/* The place of a text in the table, or of the gap where it belongs. */
static size_t place_of(const cli_fleet *fleet, const char *text)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *at = text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    size_t i = (size_t)hash & (fleet->cap_text - 1);
    while (fleet->text[i] && strcmp(fleet->text[i], text) != 0)
        i = (i + 1) & (fleet->cap_text - 1);
    return i;
}

static int grow_texts(cli_fleet *fleet)
{
    const cli_fleet old = *fleet;
    fleet->cap_text = old.cap_text ? old.cap_text * 2 : 1024;
    fleet->text = (char **)calloc(fleet->cap_text, sizeof *fleet->text);
    if (!fleet->text) {
        *fleet = old;
        return 0;
    }
    for (size_t i = 0; i < old.cap_text; i++)
        if (old.text[i])
            fleet->text[place_of(fleet, old.text[i])] = old.text[i];
    free(old.text);
    return 1;
}

/* The one copy of a text; NULL without memory. */
static const char *keep_text(cli_fleet *fleet, const char *text)
{
    if (fleet->n_text * 2 >= fleet->cap_text && !grow_texts(fleet))
        return NULL;
    char **const at = &fleet->text[place_of(fleet, text)];
    if (!*at) {
        *at = strdup(text);
        fleet->n_text += *at != NULL;
    }
    return *at;
}

/* The one copy of a value as JSON. What is not there is null. */
static const char *keep_value(cli_fleet *fleet, const words_value *value)
{
    api_out text = {0};
    const char *kept = NULL;
    if (value)
        words_put(&text, value, WORDS_COMPACT);
    if (!text.is_short)
        kept = keep_text(fleet, text.len ? text.text : "null");
    free(text.text);
    return kept;
}

/* == Hosts ================================================================== */

/* The checks that an array names, as bits; those of another version are passed over. */
static uint64_t checks_of(const words_value *words)
{
    uint64_t bits = 0;
    for (int32_t i = 0; i < words_count(words); i++) {
        const char *word = words_string(words_at(words, i));
        for (int32_t k = 0; word && k < CLI_MAX_CHECKS && k < cpubind_doctor_checks(); k++)
            if (strcmp(cpubind_doctor_check_at(k)->word, word) == 0)
                bits |= (uint64_t)1 << k;
    }
    return bits;
}

int cli_fleet_add(cli_fleet *fleet, const char *name, const words_value *shape, int is_old)
{
    const words_value *properties = words_get(shape, "properties");
    cli_fleet_host *host;
    int good;
    if (fleet->n_host == fleet->cap_host) {
        const int32_t cap = fleet->cap_host ? fleet->cap_host * 2 : 256;
        host = (cli_fleet_host *)realloc(fleet->host, (size_t)cap * sizeof *host);
        if (!host)
            return 0;
        fleet->host = host;
        fleet->cap_host = cap;
    }
    host = &fleet->host[fleet->n_host];
    *host = (cli_fleet_host){.name = keep_text(fleet, name),
                             .found = checks_of(words_get(shape, "found")),
                             .unknown = checks_of(words_get(shape, "unknown")),
                             .why = keep_text(fleet, words_string_of(shape, "why")),
                             .is_old = is_old};
    good = host->name && host->why;
    for (int32_t i = 0; i < CLI_SHAPES; i++) {
        host->property[i] = keep_value(fleet, words_get(properties, cli_shape_name(i)));
        good &= host->property[i] != NULL;
    }
    fleet->n_host += good;
    return good;
}

void cli_free_fleet(cli_fleet *fleet)
{
    for (size_t i = 0; i < fleet->cap_text; i++)
        free(fleet->text[i]);
    free(fleet->text);
    free(fleet->host);
    free(fleet->group);
    *fleet = (cli_fleet){.host = NULL};
}

/* == Groups ================================================================= */

static int by_shape(const void *a, const void *b)
{
    const cli_fleet_host *left = (const cli_fleet_host *)a, *right = (const cli_fleet_host *)b;
    for (int32_t i = 0; i < CLI_SHAPES; i++)
        if (left->property[i] != right->property[i])
            return strcmp(left->property[i], right->property[i]);
    return strcmp(left->name, right->name);
}

static int by_size(const void *a, const void *b)
{
    const cli_fleet_group *left = (const cli_fleet_group *)a,
                          *right = (const cli_fleet_group *)b;
    if (left->n != right->n)
        return left->n < right->n ? 1 : -1;
    return strcmp(left->host->name, right->host->name);
}

static int count_bits(uint64_t bits)
{
    int n = 0;
    for (; bits; bits &= bits - 1)
        n++;
    return n;
}

static int are_alike(const cli_fleet_group *a, const cli_fleet_group *b)
{
    return a->host->property[CLI_SHAPE_products] == b->host->property[CLI_SHAPE_products];
}

/* Finds the nearest bigger group of the same products: the one with the fewest properties that
 * differ, of several the biggest. */
static void find_base(cli_fleet *fleet, int32_t at)
{
    cli_fleet_group *own = &fleet->group[at];
    int least = CLI_SHAPES + 1;
    own->base = -1;
    for (int32_t i = 0; i < at; i++) {
        if (!are_alike(own, &fleet->group[i]))
            continue;
        const uint32_t differs =
            cli_shape_differs(own->host->property, fleet->group[i].host->property);
        if (count_bits(differs) >= least)
            continue;
        least = count_bits(differs);
        own->base = i;
        own->differs = differs;
    }
}

int cli_fleet_group_all(cli_fleet *fleet)
{
    if (fleet->n_host > 0)
        qsort(fleet->host, (size_t)fleet->n_host, sizeof *fleet->host, by_shape);
    fleet->group = (cli_fleet_group *)calloc((size_t)fleet->n_host + 1, sizeof *fleet->group);
    if (!fleet->group)
        return 0;
    for (int32_t i = 0; i < fleet->n_host; i++) {
        cli_fleet_group *last = &fleet->group[fleet->n_group];
        if (i == 0 || cli_shape_differs(fleet->host[i].property, fleet->host[i - 1].property)) {
            last->host = &fleet->host[i];
            fleet->n_group++;
        }
        fleet->group[fleet->n_group - 1].n++;
    }
    if (fleet->n_group > 0)
        qsort(fleet->group, (size_t)fleet->n_group, sizeof *fleet->group, by_size);
    for (int32_t i = 0; i < fleet->n_group; i++) {
        for (int32_t k = 0; k < fleet->n_group; k++)
            if (are_alike(&fleet->group[i], &fleet->group[k]))
                fleet->group[i].n_alike += fleet->group[k].n;
        find_base(fleet, i);
    }
    return 1;
}

/* == Names ================================================================== */

int32_t cli_fleet_names(const cli_fleet_group *group, int32_t check, api_text *to)
{
    int32_t n = 0, n_all = 0;
    for (int32_t i = 0; i < group->n; i++)
        n_all += check < 0 || (group->host[i].found >> check & 1) != 0;
    const int32_t n_said = n_all > NAMES_SAID + 1 ? NAMES_SAID : n_all;
    for (int32_t i = 0; i < group->n && n < n_said; i++) {
        if (check >= 0 && (group->host[i].found >> check & 1) == 0)
            continue;
        api_add(to, "%s%s", n == 0 ? "" : n + 1 == n_all ? " and " : ", ", group->host[i].name);
        n++;
    }
    if (n < n_all)
        api_add(to, " and %d more", (int)(n_all - n));
    return n_all;
}
