/* bound.h - what tests do with one binding: opening, calls that succeed, items of its report
 * SPDX-License-Identifier: MIT
 *
 * Include it below the fixture of the test, `f`, with the members sys, w, how, b and why.
 */
#ifndef CPUBIND_TESTS_LINUX_BOUND_H
#define CPUBIND_TESTS_LINUX_BOUND_H

#define MAIN_CPU  (on_stage.cpu[0])
#define OTHER_CPU (on_stage.cpu[1])

/* Fails the test with the fault of a call that should have succeeded. */
static inline void assert_ok(cpubind_linux_status status)
{
    if (status != CPUBIND_LINUX_OK)
        print_message("%s: %s, %s\n", cpubind_linux_status_name(status), f.why.what,
                      strerror(f.why.error));
    assert_int_equal(status, CPUBIND_LINUX_OK);
}

static inline void open_binding(void)
{
    assert_ok(cpubind_bind_open(&f.how, &f.sys, &f.b, &f.why));
}

static inline void close_binding(void)
{
    cpubind_bind_close(f.b);
    f.b = NULL;
}

static inline void apply(const stage_goal *goal)
{
    assert_ok(cpubind_bind_apply(f.b, &goal->goal, &f.why));
}

static inline void verify(void)
{
    assert_ok(cpubind_bind_verify(f.b, NULL, &f.why));
}

/* Looks again. Returns the number of items. */
static inline int32_t again(void)
{
    assert_ok(cpubind_bind_again(f.b, &f.why));
    return cpubind_bind_report(f.b)->n;
}

static inline void restore_and_close(void)
{
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    close_binding();
}

/* The item of a thread or an interrupt, or NULL. */
static inline const cpubind_item *item_of(int32_t id)
{
    const cpubind_report *r = cpubind_bind_report(f.b);
    for (int32_t i = 0; i < r->n; i++)
        if (r->item[i].id == id)
            return &r->item[i];
    return NULL;
}

static inline const cpubind_item *assert_result(int32_t id, cpubind_item_result result)
{
    const cpubind_item *item = item_of(id);
    assert_non_null(item);
    assert_string_equal(cpubind_item_result_word(item->result),
                        cpubind_item_result_word(result));
    return item;
}

/* The items with a result. */
static inline int32_t count_items(cpubind_item_result result)
{
    const cpubind_report *r = cpubind_bind_report(f.b);
    int32_t n = 0;
    for (int32_t i = 0; i < r->n; i++)
        n += r->item[i].result == result;
    return n;
}

static inline int is_on_both(int32_t tid)
{
    char text[512], expected[32];
    snprintf(expected, sizeof expected, "%d,%d", (int)MAIN_CPU, (int)OTHER_CPU);
    return strcmp(mask_text(tid, text, sizeof text), expected) == 0;
}

static inline const char *one_cpu(int32_t cpu, char text[16])
{
    snprintf(text, 16, "%d", (int)cpu);
    return text;
}

/* The masks of all threads, and the names in the folder of records. */
static inline void snapshot_threads(char text[STAGE_TEXT])
{
    (void)masks_of(f.w.pid, text, STAGE_TEXT);
    stage_records(text, STAGE_TEXT);
}

#endif /* CPUBIND_TESTS_LINUX_BOUND_H */
