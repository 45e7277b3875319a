/* test_npusmi_refusal.c - messages of npu-smi, a shell or the loader instead of an answer
 * SPDX-License-Identifier: MIT
 */
#include "../text/readers.h"
#include "samples.h"

static cpubind_npusmi_refusal find_refusal(const char *text, cpubind_slice *line)
{
    const int32_t len = (int32_t)strlen(text);
    char *edge = edge_text(text, len);
    const cpubind_npusmi_refusal refusal = cpubind_npusmi_find_refusal(edge, len, line);

    free(edge);
    return refusal;
}

typedef struct known_case {
    const char *text;
    cpubind_npusmi_refusal refusal;
} known_case;

static void check_known(const known_case *cases, int32_t n)
{
    int32_t n_wrong = 0;

    for (int32_t i = 0; i < n; i++) {
        const cpubind_npusmi_refusal refusal = find_refusal(cases[i].text, NULL);

        if (refusal == cases[i].refusal)
            continue;
        print_error("%s\n-- %d, not %d\n", cases[i].text, (int)refusal, (int)cases[i].refusal);
        n_wrong++;
    }
    assert_int_equal(n_wrong, 0);
}

/* Other programs write these numbers into their logs. */
TEST(numbers_of_refusals_never_change)
{
    assert_int_equal(CPUBIND_NPUSMI_NONE, 0);
    assert_int_equal(CPUBIND_NPUSMI_NO_NPU, 1);
    assert_int_equal(CPUBIND_NPUSMI_NOT_SUPPORTED, 2);
    assert_int_equal(CPUBIND_NPUSMI_VM, 3);
    assert_int_equal(CPUBIND_NPUSMI_DRIVER, 4);
    assert_int_equal(CPUBIND_NPUSMI_QUERY, 5);
    assert_int_equal(CPUBIND_NPUSMI_PARAMETER, 6);
    assert_int_equal(CPUBIND_NPUSMI_NOT_PERMITTED, 7);
    assert_int_equal(CPUBIND_NPUSMI_BUSY, 8);
    assert_int_equal(CPUBIND_NPUSMI_USAGE, 9);
    assert_int_equal(CPUBIND_NPUSMI_NOT_RUN, 10);
}

TEST(refusals_at_the_start_of_npu_smi_are_distinguished)
{
    static const known_case cases[] = {
        {"dcmi module initialize failed. ret is -8005\n", CPUBIND_NPUSMI_DRIVER},
        {"dcmi module initialize failed. ret is -8255", CPUBIND_NPUSMI_DRIVER},
        {"dcmi model initialized failed. ret is -1\n", CPUBIND_NPUSMI_DRIVER},
        {"dcmi model initialized failed, because the device is used. ret is -8020\n",
         CPUBIND_NPUSMI_BUSY},
        {"DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\r\n"
         "dcmi model initialized failed, because the device is used. ret is -8020\r\n",
         CPUBIND_NPUSMI_BUSY},
        {"npu get board type failed. ret is -9005\n", CPUBIND_NPUSMI_DRIVER},
        {"There is no NPU card on this server.\n", CPUBIND_NPUSMI_NO_NPU},
        {"There is no NPU chip on this card.\n", CPUBIND_NPUSMI_NO_NPU},
        {"DrvMngGetConsoleLogLevel failed. (ret=4)\n", CPUBIND_NPUSMI_NONE},
    };

    check_known(cases, LENGTH(cases));
}

TEST(refusals_for_lack_of_rights_are_distinguished)
{
    static const known_case cases[] = {
        {"This device does not support querying topo.\n", CPUBIND_NPUSMI_NOT_SUPPORTED},
        {"NPU is working in SMP mode, does not support querying x\n",
         CPUBIND_NPUSMI_NOT_SUPPORTED},
        {"This command cannot be executed on a VM.\n", CPUBIND_NPUSMI_VM},
        {"This command cannot be executed on a VM or container.\n", CPUBIND_NPUSMI_VM},
        {"This command cannot be executed on a common container.\n", CPUBIND_NPUSMI_VM},
        {"This command cannot be executed on a VM-based container.\n"
         "This device does not support querying topo.\n",
         CPUBIND_NPUSMI_VM},
        {"This command can be executed only by the root user.\n", CPUBIND_NPUSMI_NOT_PERMITTED},
        {"Operation not permitted, only root user on physical machine can call this api.\n",
         CPUBIND_NPUSMI_NOT_PERMITTED},
        {"sudo: a password is required\n", CPUBIND_NPUSMI_NOT_PERMITTED},
    };

    check_known(cases, LENGTH(cases));
}

TEST(refusals_of_a_failed_query_are_distinguished)
{
    static const known_case cases[] = {
        {"Failed to query \"topo\" info.\n", CPUBIND_NPUSMI_QUERY},
        {"Failed to query board version info.\n", CPUBIND_NPUSMI_QUERY},
        {"Failed to get card number.\nInvalid card id.\n", CPUBIND_NPUSMI_QUERY},
        {"Failed to get device type.\nFailed to query card chip total info.\n",
         CPUBIND_NPUSMI_QUERY},
        {"Failed to execute npu-smi info. ret is -8012.\n", CPUBIND_NPUSMI_QUERY},
        {"Failed to alloc memory.\n", CPUBIND_NPUSMI_QUERY},
        {"Failed to malloc memory.\n", CPUBIND_NPUSMI_QUERY},
        {"Card device info malloc failed.\n", CPUBIND_NPUSMI_QUERY},
        {"npu_get_card_device_id failed. err is -9005\n", CPUBIND_NPUSMI_QUERY},
        {"get npu info failed!\n", CPUBIND_NPUSMI_QUERY},
        {"show npu card info fail!\n", CPUBIND_NPUSMI_QUERY},
        {"Failed to get chip number of card1.\n", CPUBIND_NPUSMI_NONE},
        {"Failed to get device num.\n", CPUBIND_NPUSMI_NONE},
        {"Failed to get card(3) PN and SN number.\n", CPUBIND_NPUSMI_NONE},
    };

    check_known(cases, LENGTH(cases));
}

TEST(refusals_of_wrong_arguments_are_distinguished)
{
    static const known_case cases[] = {
        {"Error parameter of -t\nUsage: npu-smi info ...\n", CPUBIND_NPUSMI_PARAMETER},
        {"Invalid card id.\n", CPUBIND_NPUSMI_PARAMETER},
        {"Invalid chip id.\n", CPUBIND_NPUSMI_PARAMETER},
        {"Invalid phy id.\n", CPUBIND_NPUSMI_PARAMETER},
        {"invalid chip type\nInvalid chip id.\n", CPUBIND_NPUSMI_PARAMETER},
        {"\nThis command must input card id.\n\n", CPUBIND_NPUSMI_PARAMETER},
        {"Must input parameter of chip id.\n", CPUBIND_NPUSMI_PARAMETER},
        {"This command does not support input card id.\n", CPUBIND_NPUSMI_PARAMETER},
        {"This device does not support input parameter of -c.\n", CPUBIND_NPUSMI_PARAMETER},
        {"Command or option is not found.\n", CPUBIND_NPUSMI_PARAMETER},
        {"\nInput parameter format error.\n", CPUBIND_NPUSMI_PARAMETER},
        {"The parameter is invalid.\n", CPUBIND_NPUSMI_PARAMETER},
        {"You must select a card at first.\n", CPUBIND_NPUSMI_PARAMETER},
        {"input parameter error,stype=x\n", CPUBIND_NPUSMI_PARAMETER},
        {"Usage: npu-smi info <...> [Options...]\n\nOptions:\n", CPUBIND_NPUSMI_USAGE},
        {"Usage: other [Options...]\n", CPUBIND_NPUSMI_NONE},
    };

    check_known(cases, LENGTH(cases));
}

TEST(messages_of_a_command_that_did_not_run_are_distinguished)
{
    static const known_case cases[] = {
        {"bash: npu-smi: command not found\n", CPUBIND_NPUSMI_NOT_RUN},
        {"zsh: command not found: npu-smi\n", CPUBIND_NPUSMI_NOT_RUN},
        {"sh: 1: npu-smi: not found\n", CPUBIND_NPUSMI_NOT_RUN},
        {"Segmentation fault (core dumped)\n", CPUBIND_NPUSMI_NOT_RUN},
        {"Aborted (core dumped)\n", CPUBIND_NPUSMI_NOT_RUN},
        {"Aborted by the user\n", CPUBIND_NPUSMI_NONE},
        {"sudo: npu-smi: command not found\n", CPUBIND_NPUSMI_NOT_RUN},
        {"timeout: failed to run command 'npu-smi': No such file or directory\n",
         CPUBIND_NPUSMI_NOT_RUN},
        {"bash: /usr/local/sbin/npu-smi: Permission denied\n", CPUBIND_NPUSMI_NOT_RUN},
        {"bash: npu-smi: cannot execute binary file: Exec format error",
         CPUBIND_NPUSMI_NOT_RUN},
        {"exec: \"npu-smi\": executable file not found in $PATH\n", CPUBIND_NPUSMI_NOT_RUN},
        {"npu-smi: error while loading shared libraries: libx.so: cannot open shared object "
         "file\n",
         CPUBIND_NPUSMI_NOT_RUN},
        {"npu-smi: symbol lookup error: libx.so: undefined symbol: y\n",
         CPUBIND_NPUSMI_NOT_RUN},
        {"npu-smi: libc.so.6: version `X_2' not found (required by npu-smi)\n",
         CPUBIND_NPUSMI_NOT_RUN},
        {"a.sh: line 3: 71 Segmentation fault      (core dumped) npu-smi info\n",
         CPUBIND_NPUSMI_NOT_RUN},
        {"bash: npu-smi: \xe6\x9c\xaa\xe6\x89\xbe\xe5\x88\xb0\xe5\x91\xbd\xe4\xbb\xa4\n",
         CPUBIND_NPUSMI_NOT_RUN},
        {"bash: other: command not found\n", CPUBIND_NPUSMI_NONE},
        {"npu-smi version: 25.4.0\n", CPUBIND_NPUSMI_NONE},
        {"not found nnpu-smi", CPUBIND_NPUSMI_NOT_RUN},
        {"not found npu-sm", CPUBIND_NPUSMI_NONE},
    };

    check_known(cases, LENGTH(cases));
}

/* A name of a process or of a chip, a key: words of a table are no refusal. */
/* Versions differ in it: "Invalid card id.", "Invalid Card ID." */
TEST(the_case_of_letters_does_not_matter)
{
    static const known_case cases[] = {
        {"Invalid Card ID.\n", CPUBIND_NPUSMI_PARAMETER},
        {"DCMI module initialize failed. ret is -8005\n", CPUBIND_NPUSMI_DRIVER},
        {"usage: npu-smi info\n", CPUBIND_NPUSMI_USAGE},
    };

    check_known(cases, LENGTH(cases));
}

TEST(lost_cards_are_counted)
{
    static const char text[] = "Failed to get chip number of card1.\n"
                               "\tFailed to get chip number of card 12.\r\n"
                               "No: Failed to get chip number of card3.\n"
                               "Failed to get chip number\n"
                               "Failed to get chip number of card";

    assert_int_equal(cpubind_npusmi_count_lost(text, (int32_t)sizeof text - 1), 3);
    assert_int_equal(cpubind_npusmi_count_lost(text, (int32_t)sizeof text - 2), 2);
    assert_int_equal(cpubind_npusmi_count_lost("", 0), 0);
    assert_int_equal(cpubind_npusmi_count_lost(NULL, 1), 0);
}

TEST(words_of_a_table_are_no_refusal)
{
    static const known_case cases[] = {
        {"| 0 0 | 17 | npu-smi: not found | 12 |\n", CPUBIND_NPUSMI_NONE},
        {"| 0 0 | 17 | Invalid card id | 12 |\n", CPUBIND_NPUSMI_NONE},
        {"| npu-smi 25.4.0   Version: not found |\n", CPUBIND_NPUSMI_NONE},
        {"0 0 0 Failed to query \n", CPUBIND_NPUSMI_NONE},
        {"\tProduct Name : This device does not support\n", CPUBIND_NPUSMI_NONE},
        {"say: Error parameter of -t\n", CPUBIND_NPUSMI_NONE},
    };

    check_known(cases, LENGTH(cases));
    for (int32_t i = 0; i < LENGTH(samples); i++)
        if (samples[i].text != board_no_pci)
            assert_int_equal(find_refusal(samples[i].text, NULL), CPUBIND_NPUSMI_NONE);
}

TEST(the_first_refusal_is_the_line_that_counts)
{
    static const char text[] = "noise\r\n \tInvalid chip id. \r\nError parameter of -c\n";
    cpubind_slice line = {-1, -1};

    assert_int_equal(find_refusal(text, &line), CPUBIND_NPUSMI_PARAMETER);
    assert_int_equal(line.at, 9);
    assert_int_equal(line.len, 16);

    line.at = line.len = -1;
    assert_int_equal(find_refusal("bash: npu-smi: not found", &line), CPUBIND_NPUSMI_NOT_RUN);
    assert_int_equal(line.at, 0);
    assert_int_equal(line.len, 24);

    line.at = line.len = -1;
    assert_int_equal(find_refusal("npu-smi", &line), CPUBIND_NPUSMI_NONE);
    assert_int_equal(line.at, -1);
    assert_int_equal(line.len, -1);
}

/* A whole table counts, with any message before or after it. */
TEST(a_refusal_beside_a_whole_table_is_noise)
{
    static const char *const said[] = {
        "Failed to get chip number of card1.\n",
        "Failed to get device num.\n",
        "Failed to query card pcie info.\n",
        "This device does not support querying x.\n",
        "npu-smi: libx.so: no version information: not found\n",
    };
    static const char map[] = "NPU ID  Chip ID  Chip Logic ID  Chip Name\n0 0 0 Ascend 910B3\n";
    static const char board[] = "\tNPU ID : 0\n\tPCIe Bus Info : 0000:01:00.0\n";
    static const char list[] = "Total Count : 1\n\nNPU ID : 0\n";
    char text[512];
    reading r;

    for (int32_t i = 0; i < LENGTH(said); i++) {
        int32_t len = snprintf(text, sizeof text, "%s%s", said[i], map);

        assert_int_equal(read_map(&r, text, len), CPUBIND_TEXT_OK);
        assert_int_equal(r.n_chip, 1);
        end_reading(&r);
        len = snprintf(text, sizeof text, "%s%s%s", said[i], board, said[i]);
        assert_int_equal(read_board(&r, text, len), CPUBIND_TEXT_OK);
        assert_int_equal(r.board[0].pci.bus, 1);
        end_reading(&r);
        len = snprintf(text, sizeof text, "%s%s%s", said[i], list, said[i]);
        assert_int_equal(read_list(&r, text, len), CPUBIND_TEXT_OK);
        assert_int_equal(r.n_card, 1);
        end_reading(&r);
    }
}

/* A message about one card does not explain why the table after it was cut. */
TEST(a_cut_table_is_cut_also_after_a_message_about_one_card)
{
    static const verdict maps[] = {
        {"Failed to get chip number of card1.\nNPU ID  Chip ID  Chip Logic ID  Chip Name\n0 0",
         CPUBIND_TEXT_ERR_CUT, 81},
        {"Failed to get card number.\nNPU ID", CPUBIND_TEXT_ERR_REFUSED, 0},
    };
    static const verdict lists[] = {
        {"Failed to get device num.\nTotal Count:2\nNPU ID:0\n", CPUBIND_TEXT_ERR_CUT, 49},
        {"Failed to get card number.\n", CPUBIND_TEXT_ERR_REFUSED, 0},
    };

    check_verdicts(read_map, maps, LENGTH(maps));
    check_verdicts(read_list, lists, LENGTH(lists));
}

TEST(every_reader_knows_a_command_that_did_not_run)
{
    static const verdict cases[] = {
        {"bash: npu-smi: command not found\n", CPUBIND_TEXT_ERR_REFUSED, 0},
        {"a\nnpu-smi: error while loading shared libraries: libx.so", CPUBIND_TEXT_ERR_REFUSED,
         2},
        {"\nUsage: npu-smi info\n", CPUBIND_TEXT_ERR_REFUSED, 1},
    };

    check_verdicts(read_map, cases, LENGTH(cases));
    check_verdicts(read_topo, cases, LENGTH(cases));
    check_verdicts(read_info, cases, LENGTH(cases));
    check_verdicts(read_board, cases, LENGTH(cases));
    check_verdicts(read_list, cases, LENGTH(cases));
}

int main(void)
{
    return run_registered("npusmi_refusal", NULL, NULL);
}
