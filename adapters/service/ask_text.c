/* ask_text.c - read and write a request to the service
 * SPDX-License-Identifier: MIT
 *
 * Pure: works on (pointer, length).
 *
 *     request = ( host / process / all / lent / devices ) LF
 *     host    = "status" / "verify" / "reload" / "alive"
 *     process = ( "leave" / "adopt" / "take" ) SP pid SP start
 *     all     = ( "leave" / "take" ) SP "all"
 *     lent    = "lend" SP ( pid SP start / "all" ) SP pid SP start     the last pid asks
 *     devices = "place" SP list SP list SP list      of CPUs, of memory nodes, of devices
 *     list    = "-" / 1*( ALPHA / DIGIT / "," / ":" / "=" / "-" )     "-": not known
 *     pid     = a number from 1 to 2147483647     start = a number from 0 to 2^64 - 1
 *     number  = "0" / ( "1".."9" ) *( "0".."9" )
 * A request is shorter than CPUBIND_ASK_MAX. A text without its LF is the beginning of one.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../text/cursor.h"
#include "ask.h"

#define NUMBERS " %" PRId32 " %" PRIu64

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
    char process[40] = " all", owner[40] = "";
    if (about == 1 || asked->pid != 0)
        (void)snprintf(process, sizeof process, NUMBERS, asked->pid, asked->start);
    if (about == 4)
        (void)snprintf(owner, sizeof owner, NUMBERS, asked->owner, asked->owner_start);
    return (int32_t)snprintf(out, CPUBIND_ASK_MAX, "%s%s%s\n", word, process, owner);
}

static int is_of_list(char c)
{
    return cursor_is_digit(c) || cursor_is_letter(c) || c == ',' || c == ':' || c == '=' ||
           c == '-';
}

/* Reads " cpus mems devices". */
static void take_lists(cursor *c, cpubind_asked *out)
{
    for (int i = 0; i < CPUBIND_ASK_N_LIST; i++) {
        cursor_need(c, " ", "a blank belongs here");
        const cursor list = cursor_span(c, is_of_list);
        if (list.at == list.end)
            (void)cursor_bad(c, "a list belongs here");
        out->list[i] =
            (cpubind_ask_text){c->text + list.at, cursor_is(list, "-") ? 0 : cursor_len(&list)};
    }
}

/* Reads " pid start". */
static void take_process(cursor *c, int32_t *pid, uint64_t *start)
{
    cursor_need(c, " ", "a blank belongs here");
    *pid = (int32_t)cursor_number(c, INT32_MAX);
    if (*pid == 0)
        (void)cursor_bad(c, "no process has the number 0");
    cursor_need(c, " ", "a blank belongs here");
    *start = cursor_number(c, UINT64_MAX);
}

cpubind_text_status cpubind_ask_parse(const char *text, int32_t len, cpubind_asked *asked,
                                      cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, asked != NULL);
    cursor line = cursor_cut(&c, '\n'), rest = line;
    const cursor word = cursor_cut(&rest, ' ');
    cpubind_asked out = {.ask = CPUBIND_ASK_COUNT};
    int about;
    if (of.len >= CPUBIND_ASK_MAX)
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_SYNTAX, CPUBIND_ASK_MAX, "it is too long");
    if (cursor_is_cut(&c, &line))
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_CUT, of.len, "the request has no end");
    cursor_end(&c, "the request ends here with a line feed");
    for (int32_t i = 0; i < CPUBIND_ASK_COUNT; i++)
        if (cursor_is(word, words[i].text))
            out.ask = (cpubind_ask)i;
    if (out.ask == CPUBIND_ASK_COUNT)
        return cursor_bad(&word, "there is no such request");
    line.at = word.end;
    about = words[out.ask].about;
    if (about == 3)
        take_lists(&line, &out);
    else if (about == 1 || (about != 0 && !cursor_takes(&line, " all")))
        take_process(&line, &out.pid, &out.start);
    if (about == 4)
        take_process(&line, &out.owner, &out.owner_start);
    cursor_end(&line, "the request ends here with a line feed");
    if (cursor_ok(&c))
        *asked = out;
    return of.status;
}
