/* samples.h - npu-smi outputs written for the tests, in the format of each product family
 * SPDX-License-Identifier: MIT
 *
 * No host printed these: ids, addresses and pids are made up, widths and words are npu-smi's.
 */
#ifndef CPUBIND_TESTS_TEXT_SAMPLES_H
#define CPUBIND_TESTS_TEXT_SAMPLES_H

#include <stdint.h>

/* == info -m ================================================================ */

static const char map_a2[] = "\tNPU ID                         Chip ID                        "
                             "Chip Logic ID                  Chip Name                     \n"
                             "\t3                              0                              "
                             "0                              Ascend 910B2\n"
                             "\t3                              1                              "
                             "-                              Mcu                           \n"
                             "\t5                              0                              "
                             "1                              Ascend 910B2\n"
                             "\t5                              1                              "
                             "-                              Mcu                           \n";

static const char map_a3[] =
    "Failed to get chip number of card7.\n"
    "\tNPU ID                         Chip ID                        "
    "Chip Logic ID                  Chip Phy-ID                    Chip Name\n"
    "\t2                              0                              "
    "0                              4                              Ascend910\n"
    "\t2                              1                              "
    "1                              5                              Ascend910\n"
    "\t2                              2                              "
    "-                              -                              Mcu      \n"
    "\t7                              0                              "
    "-                              -                              Mcu      \n"
    "\t7                              0                              "
    "-                              -                              3559     \n";

static const char map_950[] = "NPU ID  Slot ID  Chip ID  Chip Phy-Id  Chip Name\r\n"
                              "0       3        0        0            Ascend950PR\r\n"
                              "1       4        0        1            Ascend950PR";

static const char map_310[] = "\tNPU ID                         Chip ID                        "
                              "Chip Logic ID                  Chip Name                     \n"
                              "\t2                              0                              "
                              "0                              MiniD                         \n"
                              "\t2                              1                              "
                              "1                              MiniD                         \n"
                              "\t2                              2                              "
                              "-                              Mcu                           \n"
                              "\t2                              3                              "
                              "-                              3559                          \n";

/* == info -t topo =========================================================== */

static const char topo_a2[] =
    "\t   NPU0       NPU1       NPU2       NPU3       CPU Affinity\n"
    "NPU0       X          HCCS       HCCS       HCCS       72-95\n"
    "NPU1       HCCS       X          HCCS       HCCS       0-23\n"
    "NPU2       HCCS       HCCS       X          HCCS       72-95\n"
    "NPU3       HCCS       HCCS       HCCS       X          24-47\n"
    "\n"
    "Legend:\n"
    "\n"
    "  X    = Self\n"
    "  SYS  = Path traversing PCIe and NUMA nodes. Nodes are connected through SMP.\n"
    "  HCCS = Connection traversing HCCS.\n"
    "  NA   = Unknown relationship.\n";

static const char topo_stripped[] = "NPU4       NPU6       CPU Affinity\n"
                                    "NPU4       X          PHB        0-3,16-19\n"
                                    "NPU6       PHB        X          4,6,20-23            ";

static const char topo_a3_nic[] = "\t   Phy-ID2    Phy-ID3    NIC0        NIC1        \n"
                                  "Phy-ID2    X          SIO        NA         PXB        \n"
                                  "Phy-ID3    SIO        X          NA         NA         \n"
                                  "NIC0       NA         NA         X          NA         \n"
                                  "NIC1       PXB        NA         NA         X          \n"
                                  "\n"
                                  "NIC0: ens3f0np0\n"
                                  "NIC1: \n"
                                  "\n"
                                  "Legend:\n"
                                  "\n"
                                  "  X    = Self\n"
                                  "  SIO  = Path traversing the SIO bus.\n";

/* == info =================================================================== */

#define RULE2                                                                                  \
    "+---------------------------+---------------+------------------------------------+\n"
#define RULE3                                                                                  \
    "+===========================+===============+====================================+\n"
#define TITLE(version) "| npu-smi " version "            Version: " version "               |\n"

static const char info_a3[] = "+---------------------------------------------------------------"
                              "-----------------+\n" TITLE("25.4.0") RULE2
    "| NPU   Name                | Health        | Power(W)    Temp(C)   "
    "Hugepages-Usage(page)|\n"
    "| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  "
    "HBM-Usage(MB)|\n" RULE3 "| 4     Ascend910           | OK            | 171.3       36     "
    "    0    / 0             |\n"
    "| 0     8                   | 0000:8D:00.0  | 7           0    / 0   61234/ 65536         "
    "|\n"
    "+--------------------------------------------------------------------------------+\n"
    "| 4     Ascend910           | Warning            | -           37         0    / 0        "
    " |\n"
    "| 1     9                   | 0001:af:1F.7  | 0           0    / 0   3210 / 65536         "
    "|\n" RULE3 "| 6     Ascend910           | OK            | 170.0       35         0    / 0 "
    "            |\n"
    "| 0     12                  | NA            | 0           0    / 0   3211 / 65536         "
    "|\n" RULE3 RULE2 "| NPU     Chip              | Process id    | Process name             "
    "| Process memory(MB) |\n" RULE3
    "| 4       0                 | 31337         | VLLMWorker_TP            | 58000            "
    "  |\n"
    "| 4       1                 | 31338         |                          | 58001            "
    "  |\n"
    "| 4       1                 | 31339         | a | b c                  | 12               "
    "  |\n" RULE3
    "| No running processes found in NPU 6                                            |\n" RULE3
    "[WARNING]The driver package may not be completely installed, which may cause function "
    "abnormal. Please reinstall it.\n";

static const char info_a2[] = "| NPU   Name                | Health        | Power(W)    "
                              "Temp(C)   Hugepages-Usage(page)|\n"
                              "| Chip                      | Bus-Id        | AICore(%)   "
                              "Memory-Usage(MB)  HBM-Usage(MB)|\n"
                              "| 0     910B2               | OK            | 90.5        44    "
                              "     0    / 0             |\n"
                              "| 0                         | 0000:C1:00.0  | 0           0    "
                              "/ 0   41842/ 65536         |\n"
                              "...\n"
                              "| 7     910B2               | OK            | 91.5        45    "
                              "     0    / 0             |\n"
                              "| 0                         | 0000:42:00.0  | 0           0    "
                              "/ 0   3000 / 65536         |\n";

static const char info_310p[] =
    TITLE("24.1.0") RULE2 "| NPU     Name                  | Health          | Power(W)     "
                          "Temp(C)                 |\r\n"
                          "| Chip    Device                | Bus-Id          | AICore(%)    "
                          "Memory-Usage(MB)        |\r\n"
                          "| 512     310P3                 | OK              | NA           51 "
                          "               0 / 0 |\r\n"
                          "| 0       0                     | 0000:02:00.0    | 0            "
                          "1596 / 44280            |\r\n"
                          "| 512     310P3                 | OK              | NA           50 "
                          "               0 / 0 |\r\n"
                          "| 1       1                     | 0000:02:00.0    | 0            "
                          "1325 / 43693            |\r\n";

static const char info_950[] =
    "+--------+------------------+---------------+------------------------------------+\n"
    "| NPU ID | Name             | Health        | Power(W)    Temp(C)  Hugepages-Usage(page) "
    "|\n"
    "|        |                  | Bus-Id        | NPU Util(%) Memory-Usage(MB)  HBM-Usage(MB) "
    "|\n"
    "+========+==================+===============+====================================+\n"
    "| 0      | Ascend950PR      | OK            | 205.7       71        0     / 0             "
    "|\n"
    "|        |                  | 0000:71:00.0  | 100         0    / 0  90633 / 114688        "
    "|\n"
    "| 1      |                  | Alarm         | 207.7       60        0     / 0             "
    "|\n"
    "|        |                  | NA            | 100         0    / 0  30492 / 114688        "
    "|\n"
    "| NPU ID                    | Process id    | Process name             | Process "
    "memory(MB) |\n"
    "| 1                          | 1530715       | python                   | 4724            "
    "   |\n";

static const char info_container[] =
    "| NPU     Chip       | Process id    | Process name| Process memory(B) |Process id in "
    "container|\n"
    "| 0       0          | 1732754       | python      | 150               | 87 |\n"
    "| 0       0          | 1732755       |             | 151               | NA |\n"
    "| 0       1          | 1732756       | x|1|2|      | 152               | 90 |";

/* Header, health and message in Chinese. */
static const char info_chinese[] =
    "| NPU   Name    | Health   | Power(W) |\n"
    "| Chip          | Bus-Id   | AICore(%) |\n"
    "| 0     910B3   | \xe6\xad\xa3\xe5\xb8\xb8 | 90.0 44 0 / 0 |\n"
    "| 0             | 0000:C1:00.0 | 0 0 / 0 4175 / 65536 |\n"
    "| NPU   \xe8\x8a\xaf\xe7\x89\x87 | \xe8\xbf\x9b\xe7\xa8\x8b\xe5\x8f\xb7 | "
    "\xe8\xbf\x9b\xe7\xa8\x8b\xe5\x90\x8d | \xe5\x86\x85\xe5\xad\x98(MB) |\n"
    "| 0     0       | 4711     | python | 100 |\n"
    "| NPU 1 \xe6\x9c\xaa\xe5\x8f\x91\xe7\x8e\xb0\xe8\xbf\x9b\xe7\xa8\x8b |\n"
    "[\xe8\xad\xa6\xe5\x91\x8a]\xe9\xa9\xb1\xe5\x8a\xa8\xe5\x8c\x85\n";

typedef struct sample {
    const char *text;
    int32_t len;
} sample;

#define SAMPLE(text)                                                                           \
    {                                                                                          \
        (text), (int32_t)(sizeof(text) - 1)                                                    \
    }

static const sample samples[] = {
    SAMPLE(map_a2),       SAMPLE(map_a3),        SAMPLE(map_950),     SAMPLE(map_310),
    SAMPLE(topo_a2),      SAMPLE(topo_stripped), SAMPLE(topo_a3_nic), SAMPLE(info_a3),
    SAMPLE(info_a2),      SAMPLE(info_310p),     SAMPLE(info_950),    SAMPLE(info_container),
    SAMPLE(info_chinese),
};

#endif
