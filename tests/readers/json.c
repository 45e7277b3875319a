/* json.c - the row of the reader of JSON, adapters/words
 * SPDX-License-Identifier: MIT
 */
#include "../../adapters/words/value.h"
#include "readers.h"

/* Says the value as it is printed; what was printed is read as the same value again, in each
 * form. */
static void read_json(reading *r)
{
    words_fault fault = {0, NULL};
    words_value *value = words_read(r->text, (size_t)r->len, &fault), *again;
    CHECK((value != NULL) == (fault.what == NULL) && fault.at <= (size_t)r->len);
    if (!value) {
        tell(r, "byte %zu: %s\n", fault.at, fault.what);
        return;
    }
    for (int form = WORDS_INDENTED; form >= WORDS_LINE; form--) {
        api_out text = {0};
        words_put(&text, value, (words_form)form);
        CHECK(!text.is_short);
        again = words_read(text.text, text.len, &fault);
        CHECK(again && words_equal(value, again));
        words_free(again);
        if (form == WORDS_LINE)
            tell(r, "%s\n", text.text);
        free(text.text);
    }
    words_free(value);
}

static const reader rows[] = {
    {"json", read_json, "", NULL, "kubelet", 1024},
};

READERS(rows)
