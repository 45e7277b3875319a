/* ascend.c - the rows of the readers of adapters/ascend
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header there.
 */
#include "../../adapters/ascend/npusmi.h"
#include "readers.h"

static void tell_unknown(reading *r, cpubind_slice unknown)
{
    if (unknown.len == 0)
        return;
    tell(r, "not known:");
    tell_name(r, "", unknown);
    tell(r, "\n");
}

/* == npu-smi ================================================================ */

static void read_map(reading *r)
{
    cpubind_npusmi_map *map = OUT(r, cpubind_npusmi_map);
    ARRAY(r, map, chip, cap_chip, n_chip);
    if (!came(r, cpubind_npusmi_parse_map(r->text, r->len, given(r, map), r->fault)))
        return;
    CHECK(map->n_chip >= 1 && map->n_chip <= CPUBIND_MAX_DEVICES);
    tell(r, "%d chips%s%s\n", map->n_chip, tell_if(map->has_logic, ", logic ids"),
         tell_if(map->has_name, ", names"));
    for (int32_t i = 0; i < map->n_chip; i++) {
        const cpubind_npusmi_chip *chip = &map->chip[i];
        CHECK(chip->card >= 0 && chip->chip >= 0);
        tell(r, "chip %d.%d", chip->card, chip->chip);
        tell_id(r, "logic", chip->logic);
        tell_id(r, "phy", chip->phy);
        tell_name(r, "name", chip->name);
        tell(r, "\n");
        CHECK(map->has_logic || chip->logic < 0);
        CHECK(map->has_name || chip->name.len == 0);
        CHECK(i == 0 || chip->name.at > chip[-1].name.at);
        for (int32_t k = 0; k < i && k < 64; k++) {
            const cpubind_npusmi_chip *other = &map->chip[k];
            CHECK(chip->card != other->card || chip->chip != other->chip);
            CHECK(chip->logic < 0 || chip->logic != other->logic ||
                  (map->has_name && (chip->name.len == 0 || other->name.len == 0)));
        }
    }
    tell_unknown(r, map->unknown);
}

const reader ascend_readers[] = {
    {"npusmi_map", read_map, "", NULL, "npusmi", 4096},
    {NULL, NULL, NULL, NULL, NULL, 0},
};
