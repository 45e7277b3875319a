/* next_tables.h - outputs that a later npu-smi may print, and the values that they must give
 * SPDX-License-Identifier: MIT
 *
 * Columns added, removed, renamed and moved; other tables, rows and lines; units; hidden pids.
 * Nothing here was captured: the tables are those of npu-smi 21 to 26 with one change each.
 */
#ifndef CPUBIND_TESTS_ASCEND_NEXT_TABLES_H
#define CPUBIND_TESTS_ASCEND_NEXT_TABLES_H

#include "lines.h"

typedef struct next_table {
    const char *name;
    write_fn *write;
    const char *text;
    cpubind_text_status status;
    int32_t offset;      /* of the fault */
    const char *lines;   /* the values, as the writer writes them */
    const char *unknown; /* the text that is handed out; "": none */
} next_table;

static const next_table next_tables[] = {
    {"column in front", write_map,
     "\tPCIe Speed     NPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t16.0 GT/s      0              0              0              Ascend 910B3\n"
     "\t-              0              1              -              Mcu\n"
     "\t16.0 GT/s      1              0              1              Ascend 910B3\n"
     "\t-              1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "PCIe Speed"},
    {"column in the middle", write_map,
     "\tNPU ID         Chip ID        PCIe Speed     Chip Logic ID  Chip Name\n"
     "\t0              0              16.0 GT/s      0              Ascend 910B3\n"
     "\t0              1              -              -              Mcu\n"
     "\t1              0              16.0 GT/s      1              Ascend 910B3\n"
     "\t1              1              -              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "PCIe Speed"},
    {"column before the name", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Die ID         Chip Name\n"
     "\t0              0              0              0              Ascend 910B3\n"
     "\t0              1              -              0              Mcu\n"
     "\t1              0              1              0              Ascend 910B3\n"
     "\t1              1              -              0              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "Die ID"},
    {"column at the end", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name      PCIe Speed\n"
     "\t0              0              0              Ascend 910B3   16.0 GT/s\n"
     "\t0              1              -              Mcu            -\n"
     "\t1              0              1              Ascend 910B3   16.0 GT/s\n"
     "\t1              1              -              Mcu            -\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "PCIe Speed"},
    {"column at the end, empty", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name      Board Name\n"
     "\t0              0              0              Ascend 910B3   \n"
     "\t0              1              -              Mcu            \n"
     "\t1              0              1              Ascend 910B3   \n"
     "\t1              1              -              Mcu            \n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "Board Name"},
    {"column in the middle, empty for some", write_map,
     "\tNPU ID         Chip ID        Die ID         Chip Logic ID  Chip Name\n"
     "\t0              0              7              0              Ascend 910B3\n"
     "\t0              1                             -              Mcu\n"
     "\t1              0              8              1              Ascend 910B3\n"
     "\t1              1                             -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "Die ID"},
    {"two columns", write_map,
     "\tNPU ID         Tray           Chip ID        Chip Logic ID  Chip Name      Role\n"
     "\t0              1              0              0              Ascend 910B3   main\n"
     "\t0              1              1              -              Mcu            -\n"
     "\t1              2              0              1              Ascend 910B3   main\n"
     "\t1              2              1              -              Mcu            -\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "Tray"},
    {"TABs between the cells", write_map,
     "NPU ID\tTray\tChip ID\tChip Logic ID\tChip Name\n"
     "0\ta\t0\t0\tAscend 910B3\n"
     "0\tb\t1\t-\tMcu\n"
     "1\tc\t0\t1\tAscend 910B3\n"
     "1\td\t1\t-\tMcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "Tray"},
    {"name first", write_map,
     "\tChip Name      NPU ID         Chip ID        Chip Logic ID\n"
     "\tAscend 910B3   0              0              0\n"
     "\tMcu            0              1              -\n"
     "\tAscend 910B3   1              0              1\n"
     "\tMcu            1              1              -\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     ""},
    {"name in the middle", write_map,
     "\tNPU ID         Chip ID        Chip Name      Chip Logic ID\n"
     "\t0              0              Ascend 910B3   0\n"
     "\t0              1              Mcu            -\n"
     "\t1              0              Ascend 910B3   1\n"
     "\t1              1              Mcu            -\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     ""},
    {"logic id first", write_map,
     "\tChip Logic ID  NPU ID         Chip ID        Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t-              0              1              Mcu\n"
     "\t1              1              0              Ascend 910B3\n"
     "\t-              1              1              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     ""},
    {"name first and a column in front", write_map,
     "\tTray           Chip Name      NPU ID         Chip ID        Chip Logic ID\n"
     "\ta              Ascend 910B3   0              0              0\n"
     "\ta              Mcu            0              1              -\n"
     "\tb              Ascend 910B3   1              0              1\n"
     "\tb              Mcu            1              1              -\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "Tray"},
    {"no name", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID\n"
     "\t0              0              0\n"
     "\t0              1              -\n"
     "\t1              0              1\n"
     "\t1              1              -\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"\"\n"
     "chip 1.0 1 -1 \"\"\n",
     ""},
    {"no logic id", write_map,
     "\tNPU ID         Chip ID        Chip Name\n"
     "\t0              0              Ascend 910B3\n"
     "\t0              1              Mcu\n"
     "\t1              0              Ascend 910B3\n"
     "\t1              1              Mcu\n",
     CPUBIND_TEXT_ERR_SYNTAX, 40, "", ""},
    {"no NPU ID", write_map,
     "\tChip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              Ascend 910B3\n"
     "\t1              -              Mcu\n"
     "\t0              1              Ascend 910B3\n"
     "\t1              -              Mcu\n",
     CPUBIND_TEXT_ERR_SYNTAX, 40, "", ""},
    {"no Chip ID", write_map,
     "\tNPU ID         Chip Logic ID  Chip Name\n"
     "\t0              0              Ascend 910B3\n"
     "\t0              -              Mcu\n"
     "\t1              1              Ascend 910B3\n"
     "\t1              -              Mcu\n",
     CPUBIND_TEXT_ERR_SYNTAX, 40, "", ""},
    {"Logic ID", write_map,
     "\tNPU ID         Chip ID        Logic ID       Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     ""},
    {"Chip Logical ID", write_map,
     "\tNPU ID         Chip ID        Chip Logical ID Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     ""},
    {"logic id with another name", write_map,
     "\tNPU ID         Chip ID        Device ID      Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_ERR_SYNTAX, 55, "", ""},
    {"logic id with a similar name", write_map,
     "\tNPU ID         Chip ID        Logic-Index    Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_ERR_SYNTAX, 31, "", ""},
    {"NPU ID twice", write_map,
     "\tNPU ID         Chip ID        NPU ID         Chip Logic ID  Chip Name\n"
     "\t0              0              0              0              Ascend 910B3\n"
     "\t0              1              0              -              Mcu\n"
     "\t1              0              0              1              Ascend 910B3\n"
     "\t1              1              0              -              Mcu\n",
     CPUBIND_TEXT_ERR_SYNTAX, 31, "", ""},
    {"logic id under two names", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Logic ID       Chip Name\n"
     "\t0              0              0              0              Ascend 910B3\n"
     "\t0              1              -              0              Mcu\n"
     "\t1              0              1              0              Ascend 910B3\n"
     "\t1              1              -              0              Mcu\n",
     CPUBIND_TEXT_ERR_SYNTAX, 46, "", ""},
    {"a logic id twice", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t1              0              0              Ascend 910B3\n",
     CPUBIND_TEXT_ERR_SYNTAX, 116, "", ""},
    {"a chip twice", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              0              1              Ascend 910B3\n",
     CPUBIND_TEXT_ERR_SYNTAX, 116, "", ""},
    {"a chip without a logic id", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t1              0              -              Ascend 910B3\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 -1 -1 \"Ascend 910B3\"\n",
     ""},
    {"a chip with logic id NA", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t1              0              N/A            Ascend 910B3\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 -1 -1 \"Ascend 910B3\"\n",
     ""},
    {"a controller of another name", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              --             MCU-V2\n"
     "\t1              0              1              Ascend 910B3\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     ""},
    {"Chip Logic-ID", write_map,
     "\tNPU ID         Chip ID        Chip Logic-ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     ""},
    {"NPU_ID, ChipID", write_map,
     "\tNPU_ID         ChipID         Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     ""},
    {"a name of six words", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3 PCIe 64G air cooled\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3 PCIe 64G air cooled\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3 PCIe 64G air cooled\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3 PCIe 64G air cooled\"\n",
     ""},
    {"a name with two blanks", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend  910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend  910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend  910B3\"\n"
     "chip 1.0 1 -1 \"Ascend  910B3\"\n",
     "Ascend  910B3"},
    {"a column in Chinese", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name                "
     "\xe7\x8a\xb6\xe6\x80\x81\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "\xe7\x8a\xb6\xe6\x80\x81"},
    {"a drawn line", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t------         -------        -------------  ---------\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "------         -------        -------------  ---------"},
    {"a line after the table", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n"
     "\n"
     "Total Count                    : 2\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "Total Count                    : 2"},
    {"a sentence after the table", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n"
     "8 of 8 NPUs are shown.\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "8 of 8 NPUs are shown."},
    {"a warning between the rows", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "[WARNING] 1 of 2 chips is hot.\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "[WARNING] 1 of 2 chips is hot."},
    {"another table after it", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n"
     "\n"
     "\tNPU ID         Chip ID        Temperature\n"
     "\t0              0              45\n"
     "\t1              0              46\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "NPU ID         Chip ID        Temperature"},
    {"another table of other columns", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n"
     "\n"
     "\tSwitch         Port           State\n"
     "\t0              3              up\n"
     "\t0              4              down\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "Switch         Port           State"},
    {"another table before it", write_map,
     "\tDriver         Firmware\n"
     "\t25             7\n"
     "\n"
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "Driver         Firmware"},
    {"a title", write_map,
     "Mapping of NPUs\n"
     "\n"
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "Mapping of NPUs"},
    {"a row of a NIC", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n"
     "\tNIC0           0              -              ConnectX\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     "NIC0           0              -              ConnectX"},
    {"lower case", write_map,
     "\tnpu id         Chip Id        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t0              1              -              Mcu\n"
     "\t1              0              1              Ascend 910B3\n"
     "\t1              1              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3\"\n",
     ""},
    {"single blanks and another column", write_map,
     "NPU ID Tray Chip ID Chip Logic ID Chip Name\n"
     "0 a 0 0 Ascend 910B3\n",
     CPUBIND_TEXT_ERR_MISSING, 65, "", ""},
    {"a row with more cells", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t1              0              1              Ascend 910B3     up x\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 -1 \"Ascend 910B3\"\n"
     "chip 1.0 1 -1 \"Ascend 910B3     up x\"\n",
     "Ascend 910B3     up x"},
    {"a row with text in an id", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t1              0              one            Ascend 910B3\n",
     CPUBIND_TEXT_ERR_SYNTAX, 146, "", ""},
    {"a row without an id", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t0              0              0              Ascend 910B3\n"
     "\t1                             1              Ascend 910B3\n",
     CPUBIND_TEXT_ERR_SYNTAX, 173, "", ""},
    {"A3: a column", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Die            Chip Phy-ID    Chip"
     " Name\n"
     "\t0              0              0              0              4              Asce"
     "nd910\n"
     "\t0              1              1              1              5              Asce"
     "nd910\n"
     "\t0              2              -              -              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 4 \"Ascend910\"\n"
     "chip 0.1 1 5 \"Ascend910\"\n",
     "Die"},
    {"A3: phy id first", write_map,
     "\tChip Phy-ID    NPU ID         Chip ID        Chip Logic ID  Chip Name\n"
     "\t4              0              0              0              Ascend910\n"
     "\t5              0              1              1              Ascend910\n"
     "\t-              0              2              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 4 \"Ascend910\"\n"
     "chip 0.1 1 5 \"Ascend910\"\n",
     ""},
    {"A3: Chip Physical ID", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Physical ID    Chip Name\n"
     "\t0              0              0              4              Ascend910\n"
     "\t0              1              1              5              Ascend910\n"
     "\t0              2              -              -              Mcu\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 0 4 \"Ascend910\"\n"
     "chip 0.1 1 5 \"Ascend910\"\n",
     ""},
    {"A3: phy id with a similar name", write_map,
     "\tNPU ID         Chip ID        Chip Logic ID  Host Phy       Chip Name\n"
     "\t0              0              0              4              Ascend910\n"
     "\t0              1              1              5              Ascend910\n"
     "\t0              2              -              -              Mcu\n",
     CPUBIND_TEXT_ERR_SYNTAX, 46, "", ""},
    {"950: a column", write_map,
     "\tNPU ID         Slot ID        Chip ID        Chip Phy-ID    Pod            Chip"
     " Name\n"
     "\t0              1              0              0              a              Asce"
     "nd950PR\n"
     "\t1              2              0              1              b              Asce"
     "nd950PR\n",
     CPUBIND_TEXT_OK, 0,
     "chip 0.0 -1 0 \"Ascend950PR\"\n"
     "chip 1.0 -1 1 \"Ascend950PR\"\n",
     "Pod"},
    {"950: no slot", write_map,
     "\tNPU ID         Chip ID        Chip Phy-ID    Chip Name\n"
     "\t0              0              0              Ascend950PR\n"
     "\t1              0              1              Ascend950PR\n",
     CPUBIND_TEXT_ERR_SYNTAX, 55, "", ""},
    {"a slot, no logic id, a column, not a 950", write_map,
     "\tNPU ID         Slot ID        Chip ID        Chip Phy-ID    Index          Chip"
     " Name\n"
     "\t0              1              0              0              0              Asce"
     "nd 910B3\n"
     "\t1              2              0              1              1              Asce"
     "nd 910B3\n",
     CPUBIND_TEXT_ERR_SYNTAX, 61, "", ""},
    {"columns of links", write_topo,
     "\t   NPU0       NPU1       UB0        RNIC3      CPU Affinity\n"
     "NPU0       X          HCCS       UB         NA         0-3\n"
     "NPU1       HCCS       X          UB         NA         4-7\n"
     "UB0        UB         UB         X          NA\n"
     "RNIC3      NA         NA         NA         X\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "UB0"},
    {"a row of links", write_topo,
     "\t   NPU0       NPU1       CPU Affinity\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n"
     "CPU0       SYS        SYS\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "CPU0       SYS        SYS"},
    {"NUMA Affinity", write_topo,
     "\t   NPU0       NPU1       CPU Affinity  NUMA Affinity\n"
     "NPU0       X          HCCS       0-3           0\n"
     "NPU1       HCCS       X          4-7           1\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "NUMA Affinity"},
    {"NUMA Affinity, one blank apart", write_topo,
     "\t   NPU0       NPU1       CPU Affinity NUMA Affinity\n"
     "NPU0       X          HCCS       0-3         0\n"
     "NPU1       HCCS       X          4-7         1\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "NUMA Affinity"},
    {"NUMA Affinity before it", write_topo,
     "\t   NPU0       NPU1       NUMA Affinity  CPU Affinity\n"
     "NPU0       X          HCCS       0              0-3\n"
     "NPU1       HCCS       X          1              4-7\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "NUMA Affinity"},
    {"GPU NUMA ID", write_topo,
     "\t   NPU0       NPU1       CPU Affinity  NUMA Affinity  GPU NUMA ID\n"
     "NPU0       X          HCCS       0-3           0              N/A\n"
     "NPU1       HCCS       X          4-7           1              N/A\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "NUMA Affinity"},
    {"affinity first", write_topo,
     "\t   CPU Affinity NPU0       NPU1\n"
     "NPU0       0-3          X          HCCS\n"
     "NPU1       4-7          HCCS       X\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     ""},
    {"CPU Affinity List", write_topo,
     "\t   NPU0       NPU1       CPU Affinity List\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "List"},
    {"lower case", write_topo,
     "\t   NPU0       NPU1       CPU affinity\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     ""},
    {"Affinity CPUs", write_topo,
     "\t   NPU0       NPU1       Affinity CPUs\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n",
     CPUBIND_TEXT_ERR_SYNTAX, 26, "", ""},
    {"CPUs", write_topo,
     "\t   NPU0       NPU1       CPUs\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n",
     CPUBIND_TEXT_ERR_SYNTAX, 26, "", ""},
    {"lists of another name", write_topo,
     "\t   NPU0       NPU1       Cores\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n",
     CPUBIND_TEXT_ERR_SYNTAX, 65, "", ""},
    {"CPU Affinity twice", write_topo,
     "\t   NPU0       CPU Affinity  CPU Affinity\n"
     "NPU0       X          0-3  0-3\n",
     CPUBIND_TEXT_ERR_SYNTAX, 29, "", ""},
    {"no affinity", write_topo,
     "\t   NPU0       NPU1\n"
     "NPU0       X          HCCS\n"
     "NPU1       HCCS       X\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0\n"
     "row 0 1\n",
     ""},
    {"an empty affinity beside a node", write_topo,
     "\t   NPU0       NPU1       CPU Affinity  NUMA Affinity\n"
     "NPU0       X          HCCS       0-3           0\n"
     "NPU1       HCCS       X          1\n",
     CPUBIND_TEXT_ERR_SYNTAX, 137, "", ""},
    {"affinity NA", write_topo,
     "\t   NPU0       NPU1       CPU Affinity\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          N/A\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1\n",
     ""},
    {"another matrix", write_topo,
     "\t   NPU0       NPU1       CPU Affinity\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n"
     "\n"
     "Bandwidth (GB/s):\n"
     "\t   NPU0       NPU1\n"
     "NPU0       -          56\n"
     "NPU1       56         -\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "Bandwidth (GB/s):"},
    {"another matrix without a title", write_topo,
     "\t   NPU0       NPU1       CPU Affinity\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n"
     "\n"
     "\t   NPU0       NPU1\n"
     "NPU0       -          56\n"
     "NPU1       56         -\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "NPU0       NPU1"},
    {"another matrix with affinities", write_topo,
     "\t   NPU0       NPU1       CPU Affinity\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n"
     "\t   NPU0       NPU1       CPU Affinity\n"
     "NPU0       X          HCCS       0-3\n",
     CPUBIND_TEXT_ERR_SYNTAX, 117, "", ""},
    {"other lines", write_topo,
     "\t   NPU0       NPU1       CPU Affinity\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n"
     "\n"
     "Topology is from PCIe.\n"
     "\n"
     "Legend:\n"
     "\n"
     "  X    = Self\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "Topology is from PCIe."},
    {"a title of the labels", write_topo,
     "Device     NPU0       NPU1       CPU Affinity\n"
     "NPU0       X          HCCS       0-3\n"
     "NPU1       HCCS       X          4-7\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     "Device"},
    {"links with numbers", write_topo,
     "\t   NPU0       NPU1       CPU Affinity\n"
     "NPU0       X          HCCS2       0-3\n"
     "NPU1       HCCS2       X          4-7\n",
     CPUBIND_TEXT_OK, 0,
     "row 0 0 0 1 2 3\n"
     "row 0 1 4 5 6 7\n",
     ""},
    {"Phy-ID with an affinity", write_topo,
     "\t   Phy-ID0       Phy-ID1       CPU Affinity\n"
     "Phy-ID0       X          HCCS       0-3\n"
     "Phy-ID1       HCCS       X          4-7\n",
     CPUBIND_TEXT_OK, 0,
     "row 1 0 0 1 2 3\n"
     "row 1 1 4 5 6 7\n",
     ""},
    {"as it is", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"a column at the end", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) | Link |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) | Speed |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 | up |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 | 16 GT/s |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 | up |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 | 16 GT/s |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Link"},
    {"a column in front", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| Tray | NPU   Name | Health | Power(W)    Temp(C) |\n"
     "|  | Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| A | 0     910B3 | OK | 90.0   44 |\n"
     "|  | 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| A | 1     910B3 | OK | 91.0   45 |\n"
     "|  | 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Tray"},
    {"a column in the middle", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Mode | Health | Power(W)    Temp(C) |\n"
     "| Chip | Owner | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | 3 | OK | 90.0   44 |\n"
     "| 0 | 7 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | 3 | OK | 91.0   45 |\n"
     "| 0 | 7 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Mode"},
    {"a column before the values", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Mode | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | Owner | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 3 | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 7 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 3 | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 7 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Mode"},
    {"a third line", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "|  | Slot 1 | x16 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "|  | Slot 1 | x16 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "|  | Slot 1 | x16 |"},
    {"a third line with a number", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "| Die | Slot | Link |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "| 1 | 2 | x16 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "| 1 | 2 | x16 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| Die | Slot | Link |"},
    {"units", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0W   44C |\n"
     "| 0 | 0000:C1:00.0 | 0%   41842MiB / 65536MiB |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 90.0W   44C |\n"
     "| 0 | 0000:01:00.0 | 0%   41842MiB / 65536MiB |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 MiB |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 MiB |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"a size with a point", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 1.5GB |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 1.5GB |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"the pid in the container", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) | Process id in c"
     "ontainer |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 | NA |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 | NA |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"a sixth column", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) | Process id in c"
     "ontainer | User |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 | 12 | root |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 | 12 | root |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 12 \"python\"\n"
     "process 1.0 4712 12 \"a|b c\"\n",
     "User"},
    {"a column before the pid", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Type | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | C | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | C | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Type"},
    {"a column before the NPU", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| Type | NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| C | 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| C | 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Type"},
    {"a column after the name", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | AICore(%) | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 12% | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 12% | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "AICore(%)"},
    {"hidden pids -", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | - | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | - | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 -1 -1 \"python\"\n"
     "process 1.0 -1 -1 \"a|b c\"\n",
     ""},
    {"hidden pids NA", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | NA | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | NA | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 -1 -1 \"python\"\n"
     "process 1.0 -1 -1 \"a|b c\"\n",
     ""},
    {"hidden pids N/A", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | N/A | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | N/A | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 -1 -1 \"python\"\n"
     "process 1.0 -1 -1 \"a|b c\"\n",
     ""},
    {"hidden pids ***", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | *** | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | *** | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 -1 -1 \"python\"\n"
     "process 1.0 -1 -1 \"a|b c\"\n",
     ""},
    {"no pids", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 -1 -1 \"python\"\n"
     "process 1.0 -1 -1 \"a|b c\"\n",
     ""},
    {"PID", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | PID | Name | Memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"the name moved", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process name | Process id | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | python | 4711 | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | a|b c | 4712 | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"no name of the process", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"\"\n"
     "process 1.0 4712 -1 \"\"\n",
     ""},
    {"no memory of the process", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"the chip in a cell of its own", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU | Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0 | 0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1 | 0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"three ids of a process", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip    Die | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0       1 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0       1 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Die"},
    {"no NPU of a process", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| Owner | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_ERR_SYNTAX, 430, "", ""},
    {"Process id twice", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | 1 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | 1 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_ERR_SYNTAX, 458, "", ""},
    {"a process with text for its pid", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | none | python | 150 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_ERR_SYNTAX, 531, "", ""},
    {"a row of the process table", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n"
     "| Total |  |  | 301 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| Total |  |  | 301 |"},
    {"a table between", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Link | Speed(GT/s) | Width |\n"
     "+======+======+======+\n"
     "| 0       0 | 1 | 16 | 16 |\n"
     "| 1       0 | 1 | 16 | 16 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| NPU     Chip | Link | Speed(GT/s) | Width |"},
    {"a table after", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| Port | Link | Speed(GT/s) | Width |\n"
     "+======+======+======+\n"
     "| eth0 | up | 16 | 16 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| Port | Link | Speed(GT/s) | Width |"},
    {"a table before", write_info,
     "+------+------+------+\n"
     "| Driver | CANN |\n"
     "+======+======+======+\n"
     "| 25.5 | 8.3 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| Driver | CANN |"},
    {"a title of two cells", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0 | Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| npu-smi 27.0 | Version: 27.0 |"},
    {"a message", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n"
     "| Processes of other users are not shown |\n"
     "+------+------+------+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Processes of other users are not shown"},
    {"a line after", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n"
     "Use npu-smi info -h for help.\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Use npu-smi info -h for help."},
    {"a line before", write_info,
     "Wed Nov 26 10:00:00 2026\n"
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Wed Nov 26 10:00:00 2026"},
    {"three ids of a device", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip  Phy-ID  Die | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0     0     9 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0     1     9 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 0 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Die"},
    {"another second id", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip  Die | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0     7 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0     7 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "Die"},
    {"a logic id twice", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip  Device | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0     0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0     0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_ERR_SYNTAX, 358, "", ""},
    {"Health and Bus-Id last", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Power(W)    Temp(C) | Health |\n"
     "| Chip | AICore(%)   HBM-Usage(MB) | Bus-Id |\n"
     "+======+======+======+\n"
     "| 0     910B3 | 90.0   44 | OK |\n"
     "| 0 | 0   41842/ 65536 | 0000:C1:00.0 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | 91.0   45 | OK |\n"
     "| 0 | 0   41842/ 65536 | 0000:01:00.0 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"Bus-Id renamed", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | PCIe Address | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| Chip | PCIe Address | AICore(%)   HBM-Usage(MB) |"},
    {"no addresses", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Owner | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | root | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | root | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" -1:-1:-1.-1\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" -1:-1:-1.-1\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| Chip | Owner | AICore(%)   HBM-Usage(MB) |"},
    {"Health renamed", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | State | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"a row of a NIC", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| NIC0  mlx5 | up | 100 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| NIC0  mlx5 | up | 100 |"},
    {"vNPU behind", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n"
     "| vNPU | Template | AICore |\n"
     "+======+======+======+\n"
     "| 100 | vir02 | 2 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| vNPU | Template | AICore |"},
    {"vNPU behind, with a title", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| vNPU                                            |\n"
     "+------+------+------+\n"
     "| NPU ID | Chip | Template |\n"
     "+======+======+======+\n"
     "| 100 | 0 | vir02 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "vNPU"},
    {"vNPU behind, with a health", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| vNPU  Name | Health | AICore |\n"
     "+======+======+======+\n"
     "| 100   vir02 | OK | 2 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| vNPU  Name | Health | AICore |"},
    {"8 processes", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n"
     "| 8 processes |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "8 processes"},
    {"8 processes, with memory", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n"
     "| 8 processes | 301 MB | | |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "| 8 processes | 301 MB | | |"},
    {"a count of devices", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 2 devices |\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "2 devices"},
    {"2-Warn", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | 2-Warn | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"2-Warn\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "2-Warn"},
    {"a wrapped name", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "|       liquid cooled |  |  |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "|       liquid cooled |  |  |"},
    {"a remark behind an address", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 (x16) | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     "(x16)"},
    {"memory with thousands", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK | 91.0   45 |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 1,150 (2%) |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.0 -1 -1 \"910B3\" \"OK\" 0:193:0.0\n"
     "device 1.0 -1 -1 \"910B3\" \"OK\" 0:1:0.0\n"
     "process 0.0 4711 -1 \"python\"\n"
     "process 1.0 4712 -1 \"a|b c\"\n",
     ""},
    {"950: as it is", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU ID | Name | Health | Power(W) |\n"
     "|  |  | Bus-Id | Memory(MB) |\n"
     "+======+======+======+\n"
     "| 0 | Ascend950PR | OK | 200 |\n"
     "|  |  | 0000:71:00.0 | 1 / 2 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU ID | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0 | 7 | python | 1 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.-1 -1 -1 \"Ascend950PR\" \"OK\" 0:113:0.0\n"
     "process 0.-1 7 -1 \"python\"\n",
     ""},
    {"950: a column", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU ID | Name | Health | Power(W) | Pod |\n"
     "|  |  | Bus-Id | Memory(MB) | Rank |\n"
     "+======+======+======+\n"
     "| 0 | Ascend950PR | OK | 200 | a |\n"
     "|  |  | 0000:71:00.0 | 1 / 2 | 3 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU ID | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0 | 7 | python | 1 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.-1 -1 -1 \"Ascend950PR\" \"OK\" 0:113:0.0\n"
     "process 0.-1 7 -1 \"python\"\n",
     "Pod"},
    {"950: a column in front", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| Slot | NPU ID | Name | Health | Power(W) |\n"
     "|  |  |  | Bus-Id | Memory(MB) |\n"
     "+======+======+======+\n"
     "| S1 | 0 | Ascend950PR | OK | 200 |\n"
     "|  |  |  | 0000:71:00.0 | 1 / 2 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU ID | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0 | 7 | python | 1 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_OK, 0,
     "device 0.-1 -1 -1 \"Ascend950PR\" \"OK\" 0:113:0.0\n"
     "process 0.-1 7 -1 \"python\"\n",
     "Slot"},
    {"a device lacks a cell", write_info,
     "+------+------+------+\n"
     "| npu-smi 27.0                      Version: 27.0 |\n"
     "+------+------+------+\n"
     "| NPU   Name | Health | Power(W)    Temp(C) |\n"
     "| Chip | Bus-Id | AICore(%)   HBM-Usage(MB) |\n"
     "+======+======+======+\n"
     "| 0     910B3 | OK | 90.0   44 |\n"
     "| 0 | 0000:C1:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "| 1     910B3 | OK |\n"
     "| 0 | 0000:01:00.0 | 0   41842/ 65536 |\n"
     "+======+======+======+\n"
     "+------+------+------+\n"
     "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
     "+======+======+======+\n"
     "| 0       0 | 4711 | python | 150 |\n"
     "+======+======+======+\n"
     "| 1       0 | 4712 | a|b c | 151 |\n"
     "+======+======+======+\n",
     CPUBIND_TEXT_ERR_SYNTAX, 329, "", ""},
    {"as it is", write_board,
     "\tNPU ID                         : 0\n"
     "\tChip ID                        : 0\n"
     "\tChip Name                      : 910B3\n"
     "\tPCIe Bus Info                  : 0000:C1:00.0\n"
     "\tFirmware Version               : 7.5\n",
     CPUBIND_TEXT_OK, 0, "board 0.0 0:193:0.0\n", ""},
    {"keys", write_board,
     "\tNPU ID                         : 0\n"
     "\tTray                           : 3\n"
     "\tChip ID                        : 0\n"
     "\tChip Name                      : 910B3\n"
     "\tPCIe Bus Info                  : 0000:C1:00.0\n"
     "\tFirmware Version               : 7.5\n",
     CPUBIND_TEXT_OK, 0, "board 0.0 0:193:0.0\n", "Tray"},
    {"a unit of the address", write_board,
     "\tNPU ID                         : 0\n"
     "\tChip ID                        : 0\n"
     "\tChip Name                      : 910B3\n"
     "\tPCIe Bus Info                  : 0000:C1:00.0 (x16)\n"
     "\tFirmware Version               : 7.5\n",
     CPUBIND_TEXT_OK, 0, "board 0.0 0:193:0.0\n", "(x16)"},
    {"a unit of an id", write_board,
     "\tNPU ID                         : 0 (card)\n"
     "\tChip ID                        : 0\n"
     "\tChip Name                      : 910B3\n"
     "\tPCIe Bus Info                  : 0000:C1:00.0\n"
     "\tFirmware Version               : 7.5\n"
     "\tPCI Device ID                  : 0xD802(910B)\n",
     CPUBIND_TEXT_OK, 0, "board 0.0 0:193:0.0\n", "(card)"},
    {"a line without a colon", write_board,
     "\tNPU ID                         : 0\n"
     "\tChip ID                        : 0\n"
     "\tChip Name                      : 910B3\n"
     "\tPCIe Bus Info                  : 0000:C1:00.0\n"
     "\tFirmware Version               : 7.5\n"
     "\tAll chips are shown.\n",
     CPUBIND_TEXT_OK, 0, "board 0.0 0:193:0.0\n", "All chips are shown."},
    {"another order", write_board,
     "\tNPU ID                         : 0\n"
     "\tChip ID                        : 0\n"
     "\tPCIe Bus Info                  : 0000:C1:00.0\n"
     "\tChip Name                      : 910B3\n",
     CPUBIND_TEXT_OK, 0, "board 0.0 0:193:0.0\n", ""},
    {"an address twice", write_board,
     "\tNPU ID                         : 0\n"
     "\tChip ID                        : 0\n"
     "\tChip Name                      : 910B3\n"
     "\tPCIe Bus Info                  : 0000:C1:00.0\n"
     "\tFirmware Version               : 7.5\n"
     "\tPCIe Bus Info                  : 0000:C1:00.0\n",
     CPUBIND_TEXT_ERR_SYNTAX, 198, "", ""},
    {"text in an id", write_board,
     "\tNPU ID                         : zero\n"
     "\tChip ID                        : 0\n"
     "\tChip Name                      : 910B3\n"
     "\tPCIe Bus Info                  : 0000:C1:00.0\n"
     "\tFirmware Version               : 7.5\n",
     CPUBIND_TEXT_ERR_SYNTAX, 34, "", ""},
    {"other values of one chip", write_board,
     "\tNPU ID                         : 0\n"
     "\tChip ID                        : 0\n"
     "\tChip Name                      : 910B3\n"
     "\tPCIe Bus Info                  : 0000:C1:00.0\n"
     "\tNPU ID                         : 0\n"
     "\tChip ID                        : 0\n"
     "\tChip Name                      : 910B3\n"
     "\tPCIe Bus Info                  : 0000:01:00.0\n",
     CPUBIND_TEXT_ERR_SYNTAX, 160, "", ""},
    {"as it is", write_list,
     "\tTotal Count                    : 2\n"
     "\n"
     "\tNPU ID                         : 0\n"
     "\tChip Count                     : 1\n"
     "\n"
     "\tNPU ID                         : 1\n"
     "\tChip Count                     : 1\n",
     CPUBIND_TEXT_OK, 0,
     "card 0 1\n"
     "card 1 1\n",
     ""},
    {"keys", write_list,
     "\tTotal Count                    : 2\n"
     "\n"
     "\tNPU ID                         : 0\n"
     "\tTray                           : 4\n"
     "\tChip Count                     : 1\n"
     "\n"
     "\tNPU ID                         : 1\n"
     "\tChip Count                     : 1\n",
     CPUBIND_TEXT_OK, 0,
     "card 0 1\n"
     "card 1 1\n",
     "Tray"},
    {"a unit", write_list,
     "\tTotal Count                    : 2 cards\n"
     "\n"
     "\tNPU ID                         : 0\n"
     "\tChip Count                     : 1\n"
     "\n"
     "\tNPU ID                         : 1\n"
     "\tChip Count                     : 1\n",
     CPUBIND_TEXT_OK, 0,
     "card 0 1\n"
     "card 1 1\n",
     "cards"},
    {"fewer cards", write_list,
     "\tTotal Count                    : 3\n"
     "\n"
     "\tNPU ID                         : 0\n"
     "\tChip Count                     : 1\n"
     "\n"
     "\tNPU ID                         : 1\n"
     "\tChip Count                     : 1\n",
     CPUBIND_TEXT_ERR_CUT, 182, "", ""},
    {"a card twice", write_list,
     "\tTotal Count                    : 2\n"
     "\n"
     "\tNPU ID                         : 0\n"
     "\tChip Count                     : 1\n"
     "\n"
     "\tNPU ID                         : 0\n"
     "\tChip Count                     : 1\n",
     CPUBIND_TEXT_ERR_SYNTAX, 111, "", ""},
    {"no count", write_list,
     "\tWhole Count                    : 2\n"
     "\n"
     "\tNPU ID                         : 0\n"
     "\tChip Count                     : 1\n"
     "\n"
     "\tNPU ID                         : 1\n"
     "\tChip Count                     : 1\n",
     CPUBIND_TEXT_ERR_MISSING, 182, "", ""},
};

#endif
