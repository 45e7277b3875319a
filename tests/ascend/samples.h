/* samples.h - npu-smi outputs written for the tests, in the format of each product family
 * SPDX-License-Identifier: MIT
 *
 * Ids, addresses and pids are made up; widths and words are those of npu-smi.
 */
#ifndef CPUBIND_TESTS_ASCEND_SAMPLES_H
#define CPUBIND_TESTS_ASCEND_SAMPLES_H

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

/* == info -t board ========================================================== */

static const char board_a2_chip[] =
    "\tNPU ID                         : 6\n"
    "\tChip ID                        : 0\n"
    "\tChip Type                      : Ascend\n"
    "\tChip Name                      : 910B2\n"
    "\tChip Version                   : V1\n"
    "\tBoard ID                       : 0x3a\n"
    "\tPCB ID                         : NA\n"
    "\tBOM ID                         : 1\n"
    "\tVDie ID                        : 0A1B2C3D 00000001 00000002 00000003 00000004\n"
    "\tNDie ID                        : 00000000 00000000 00000000 00000000 00000005\n"
    "\tChip Position ID               : 6\n"
    "\tPCIe Bus Info                  : 0000:5D:00.0\n"
    "\tFirmware Version               : 7.5.0.1.129\n";

static const char board_a2_mcu[] = "\tNPU ID                         : 6\n"
                                   "\tChip ID                        : 1\n"
                                   "\tChip Name                      : MCU\n"
                                   "\tBoard ID                       : NA\n"
                                   "\tPCB ID                         : NA\n"
                                   "\tBOM ID                         : NA\n"
                                   "\tChip Position ID               : NA\n"
                                   "\tFirmware Version               : 24.16.1\n";

static const char board_a3_chip[] = "\tNPU ID                         : 3\n"
                                    "\tNPU Name                       : 9382\n"
                                    "\tChip ID                        : 1\n"
                                    "\tChip Name                      : Ascend910\n"
                                    "\tChip Version                   : V1\n"
                                    "\tBoard ID                       : 0xb1\n"
                                    "\tPCIe Bus Info                  : 0001:8e:1F.7\n"
                                    "\tFirmware Version               : NA\n";

/* The card first, then its chips, without the id of the card. */
static const char board_card_chips[] = "DrvMngGetConsoleLogLevel failed. (ret=4)\n"
                                       "\tNPU ID                         : 2\n"
                                       "\tProduct Name                   : Box of two: A\n"
                                       "\tModel                          : NA\n"
                                       "\tManufacturer                   : Nobody\n"
                                       "\tSerial Number                  : 0123SN\n"
                                       "\tSoftware Version               : 25.4.0\n"
                                       "\tCompatibility                  : OK\n"
                                       "\tMain Board ID                  : 0x20\n"
                                       "\tPCIe Bus Info                  : 0000:1A:00.0\n"
                                       "\tSlot ID                        : 0\n"
                                       "\tClass ID                       : NA\n"
                                       "\tPCI Vendor ID                  : 0x19E5\n"
                                       "\tPCI Device ID                  : 0xD803\n"
                                       "\tSubsystem Vendor ID            : 0x0200\n"
                                       "\tSubsystem Device ID            : 0x0100\n"
                                       "\tChip Count                     : 2\n"
                                       "\n"
                                       "\tChip ID                        : 0\n"
                                       "\tChip Name                      : Ascend910\n"
                                       "\tPCIe Bus Info                  : 0000:1A:00.0\n"
                                       "\n"
                                       "\tChip ID                        : 1\n"
                                       "\tChip Name                      : Ascend910\n"
                                       "\tPCIe Bus Info                  : 0000:1B:00.0\n";

/* The query of the address failed: zeros, with a line before and one after. */
static const char board_no_pci[] = "Failed to query card pcie info.\n"
                                   "\tNPU ID                         : 4\n"
                                   "\tProduct Name                   : \n"
                                   "\tSerial Number                  : NA\n"
                                   "\tPCIe Bus Info                  : 0000:00:00.0\n"
                                   "\tPCI Vendor ID                  : 0x0000\n"
                                   "\tPCI Device ID                  : 0x0000\n"
                                   "\tChip Count                     : 1\n"
                                   "Failed to query \"board\" info.\n";

static const char board_950[] =
    "              NPU ID                         : 1\r\n"
    "              NPU Name                       : 950PR\r\n"
    "              Chip Name                      : Ascend950PR\r\n"
    "              Serial Number                  : NA\r\n"
    "              Main Board ID                  : 0x68(2P)\r\n"
    "              PCIe Bus Info                  : 0000:71:00.0\r\n"
    "              PCI Vendor ID                  : 0x19E5\r\n"
    "              PCI Device ID                  : 0xD806\r\n"
    "              Chip Count                     : 1\r\n"
    "              DDie ID                        : 00000009 00000008 00000007 00000006 "
    "00000005\r\n"
    "              Chip Position ID               : 1";

static const char board_950_ub[] = "\tNPU ID                         : 7\n"
                                   "\tChip Name                      : Ascend950DT\n"
                                   "\tPCIe Bus Info                  : NA\n"
                                   "\tSlot ID                        : 2\n"
                                   "\tClass ID                       : NA\n"
                                   "\tVendor ID                      : 0xCC08\n"
                                   "\tDevice ID                      : 0xD806\n"
                                   "\tModule Vendor ID               : 0x1111\n"
                                   "\tModule ID                      : 0x2222\n"
                                   "\tChip Count                     : NA\n";

/* == info -l ================================================================ */

static const char list_a2[] = "\tTotal Count                    : 2\n\n"
                              "\tNPU ID                         : 3\n"
                              "\tChip Count                     : 1\n\n"
                              "\tNPU ID                         : 5\n"
                              "\tChip Count                     : 1\n\n";

static const char list_310[] = "Failed to get device num.\n"
                               "\tCard Count                     : 2\n\n"
                               "\tNPU ID                         : 1\n"
                               "\tProduct Name                   : Card: four chips\n"
                               "\tSerial Number                  : NA\n"
                               "\tChip Count                     : 4\n\n"
                               "\tNPU ID                         : 9\n"
                               "\tProduct Name                   : NA\n"
                               "\tSerial Number                  : SN 17\n"
                               "\tChip Count                     : 0\n\n";

static const char list_950[] = "Total Count                    : 1\r\n\r\n"
                               "NPU ID                         : 12\r\n"
                               "Product Name                   : PCIe card\r\n"
                               "Serial Number                  : 0123";

typedef struct sample {
    const char *text;
    int32_t len;
} sample;

#define SAMPLE(text)                                                                           \
    {                                                                                          \
        (text), (int32_t)(sizeof(text) - 1)                                                    \
    }

static const sample samples[] = {
    SAMPLE(map_a2),        SAMPLE(map_a3),           SAMPLE(map_950),
    SAMPLE(map_310),       SAMPLE(topo_a2),          SAMPLE(topo_stripped),
    SAMPLE(topo_a3_nic),   SAMPLE(info_a3),          SAMPLE(info_a2),
    SAMPLE(info_310p),     SAMPLE(info_950),         SAMPLE(info_container),
    SAMPLE(info_chinese),  SAMPLE(board_a2_chip),    SAMPLE(board_a2_mcu),
    SAMPLE(board_a3_chip), SAMPLE(board_card_chips), SAMPLE(board_no_pci),
    SAMPLE(board_950),     SAMPLE(board_950_ub),     SAMPLE(list_a2),
    SAMPLE(list_310),      SAMPLE(list_950),
};

#endif
