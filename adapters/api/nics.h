/* nics.h - the network cards and disks of the devices of a plan, and variables that name them
 * SPDX-License-Identifier: MIT
 *
 * PLAN.md documents them, JSON.md the keys.
 */
#ifndef CPUBIND_API_NICS_H
#define CPUBIND_API_NICS_H

#include "../plan/network.h"
#include "../words/value.h"
#include "api.h"

/* Reads the cards of the host of a plan, of which *facts are, once: until then a plan shows
 * none. Where they cannot be read, the plan says why. Returns 0 without memory. */
int api_read_network(const cpubind_source *source, const cpubind_facts *facts,
                     api_network **network);

/* What a text names of network cards. */
#define API_NETWORK_LIST(X)                                                                    \
    X(NIC, "nic")       /* the RDMA devices of one device: mlx5_0,mlx5_1 */                    \
    X(PORT, "port")     /* the first port of each: mlx5_0:1,mlx5_1:1 */                        \
    X(NICS, "nics")     /* those of all devices of the host */                                 \
    X(NETDEV, "netdev") /* the interfaces of one device: eth0; bond0 of one below a bond */

typedef enum api_network_word {
#define API_X(name, word) API_NETWORK_##name,
    API_NETWORK_LIST(API_X)
#undef API_X
        API_NETWORK_COUNT
} api_network_word;

/* Appends the names, with commas between them. Returns their number; 0: none is known. */
int api_add_network(api_text *to, const api_planned *planned, const cpubind_host_device *device,
                    api_network_word what);

/* Adds the cards of a device to its JSON: nics, disks; none of a kind that the host does not
 * have, or if nobody has asked. */
void api_set_cards(words_value *to, const api_planned *planned,
                   const cpubind_host_device *device);

/* Their names, for a table; NULL: they tell nothing. */
words_value *api_nic_names(const api_planned *planned, const cpubind_host_device *device);

/* Appends a sentence without a full stop about the cards of a device, if they tell a thing. */
void api_explain_nics(const api_planned *planned, const cpubind_host_device *device,
                      api_text *to);

/* Calls hear for what is wrong with the cards of the rows. */
void api_warn_network(const api_planned *planned, api_hear *hear, void *ctx);

/* Appends NAME=VALUE lines of the variables that name the RDMA devices of a device. */
void api_put_network(api_out *to, const api_planned *planned,
                     const cpubind_host_device *device);

#endif /* CPUBIND_API_NICS_H */
