/* ask_text.c - read and write a request to the service
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length).
 *
 *     request = ( host / process / all / devices ) LF
 *     host    = "status" / "verify" / "reload" / "alive"
 *     process = ( "leave" / "adopt" / "take" ) SP pid SP start
 *     all     = ( "leave" / "take" ) SP "all"
 *     devices = "place" SP list SP list SP list      of CPUs, of memory nodes, of devices
 *     list    = "-" / 1*( ALPHA / DIGIT / "," / ":" / "=" / "-" )     "-": not known
 *     pid     = a number from 1 to 2147483647     start = a number from 0 to 2^64 - 1
 *     number  = "0" / ( "1".."9" ) *( "0".."9" )
 * A request is shorter than CPUBIND_ASK_MAX.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../text/scan.h"
#include "ask.h"

static const struct {
    const char *text;
    int about;
} words[] = {
#define CPUBIND_X(name, word, about) {word, about},
    CPUBIND_ASK_LIST(CPUBIND_X)
#undef CPUBIND_X
};

const char *cpubind_ask_word(cpubind_ask ask)
{
    return ask >= 0 && ask < CPUBIND_ASK_COUNT ? words[ask].text : "?";
}

int32_t cpubind_ask_format(const cpubind_asked *asked, char out[CPUBIND_ASK_MAX])
{
    const char *word = cpubind_ask_word(asked->ask);
    const int about = words[asked->ask].about;
    const cpubind_ask_text *list = asked->list;
    if (about == 0)
        return (int32_t)snprintf(out, CPUBIND_ASK_MAX, "%s\n", word);
    if (about == 3) {
        int32_t n = (int32_t)snprintf(out, CPUBIND_ASK_MAX, "%s", word);
        for (int i = 0; i < CPUBIND_ASK_N_LIST && n < CPUBIND_ASK_MAX; i++)
            n += (int32_t)snprintf(out + n, (size_t)(CPUBIND_ASK_MAX - n), " %.*s",
                                   list[i].len > 0 ? (int)list[i].len : 1,
                                   list[i].len > 0 ? list[i].text : "-");
        if (n < CPUBIND_ASK_MAX)
            n += (int32_t)snprintf(out + n, (size_t)(CPUBIND_ASK_MAX - n), "\n");
        return n;
    }
    if (about == 2 && asked->pid == 0)
        return (int32_t)snprintf(out, CPUBIND_ASK_MAX, "%s all\n", word);
    return (int32_t)snprintf(out, CPUBIND_ASK_MAX, "%s %" PRId32 " %" PRIu64 "\n", word,
                             asked->pid, asked->start);
}

/* Whether the text goes on with a word: its length, or 0, or -1 where the text ends in it. */
static int32_t take_word(const scan_text *in, int32_t at, const char *word)
{
    const int32_t n = (int32_t)strlen(word), left = in->len - at;
    if (left >= n)
        return memcmp(in->text + at, word, (size_t)n) == 0 ? n : 0;
    return left == 0 || memcmp(in->text + at, word, (size_t)left) == 0 ? -1 : 0;
}

/* Reads a number up to `max`. Returns the place after it; -1 where there is none. */
static int32_t take_number(const scan_text *in, int32_t at, uint64_t max, uint64_t *out)
{
    const int32_t from = at;
    uint64_t value = 0;
    while (at < in->len && scan_is_digit(in->text[at])) {
        const uint64_t digit = (uint64_t)(in->text[at] - '0');
        if ((at > from && value == 0) || value > (max - digit) / 10)
            return -1;
        value = value * 10 + digit;
        at++;
    }
    *out = value;
    return at > from ? at : -1;
}

static cpubind_text_status cut(const scan_text *in)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len, "the request has no end");
}

static int is_of_list(char c)
{
    return scan_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ',' ||
           c == ':' || c == '=' || c == '-';
}

/* Reads " cpus mems devices". */
static cpubind_text_status take_lists(const scan_text *in, int32_t *at, cpubind_asked *out)
{
    for (int i = 0; i < CPUBIND_ASK_N_LIST; i++) {
        cpubind_ask_text *list = &out->list[i];
        if (*at == in->len)
            return cut(in);
        if (in->text[*at] != ' ')
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, *at, "a blank belongs here");
        list->text = in->text + ++*at;
        while (*at < in->len && is_of_list(in->text[*at]))
            ++*at;
        list->len = (int32_t)(in->text + *at - list->text);
        if (*at == in->len)
            return cut(in);
        if (list->len == 0)
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, *at, "a list belongs here");
        if (list->len == 1 && list->text[0] == '-')
            list->len = 0;
    }
    return CPUBIND_TEXT_OK;
}

/* Reads " pid start", or " all". */
static cpubind_text_status take_process(const scan_text *in, int32_t *at, cpubind_asked *out)
{
    const int32_t all = words[out->ask].about == 2 ? take_word(in, *at, " all") : 0;
    uint64_t pid = 0;
    int32_t next;
    if (*at == in->len || all < 0)
        return cut(in);
    if (all > 0) {
        *at += all;
        return CPUBIND_TEXT_OK;
    }
    if (in->text[*at] != ' ')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, *at, "a blank belongs here");
    if (++*at == in->len)
        return cut(in);
    next = take_number(in, *at, INT32_MAX, &pid);
    if (next < 0 || pid == 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, *at, "a process number belongs here");
    *at = next;
    if (*at == in->len)
        return cut(in);
    if (in->text[*at] != ' ')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, *at, "a blank belongs here");
    if (++*at == in->len)
        return cut(in);
    next = take_number(in, *at, UINT64_MAX, &out->start);
    if (next < 0)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, *at, "a start time belongs here");
    out->pid = (int32_t)pid;
    *at = next;
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_ask_parse(const char *text, int32_t len, cpubind_asked *asked,
                                      cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_asked out = {.ask = CPUBIND_ASK_COUNT};
    cpubind_text_status status = CPUBIND_TEXT_OK;
    int32_t at = 0;
    if (!scan_is_text(text, len) || !asked)
        return scan_fail_arg(fault);
    for (int32_t i = 0; i < CPUBIND_ASK_COUNT && out.ask == CPUBIND_ASK_COUNT; i++) {
        at = take_word(&in, 0, words[i].text);
        if (at < 0)
            return cut(&in);
        if (at > 0)
            out.ask = (cpubind_ask)i;
    }
    if (out.ask == CPUBIND_ASK_COUNT)
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, 0, "there is no such request");
    if (len >= CPUBIND_ASK_MAX)
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, CPUBIND_ASK_MAX, "it is too long");
    if (words[out.ask].about)
        status = words[out.ask].about == 3 ? take_lists(&in, &at, &out)
                                           : take_process(&in, &at, &out);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (at == len)
        return cut(&in);
    if (text[at] != '\n' || len != at + 1)
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at + (text[at] == '\n'),
                         "the request ends here with a line feed");
    *asked = out;
    return CPUBIND_TEXT_OK;
}
