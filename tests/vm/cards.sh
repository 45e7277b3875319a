# shellcheck shell=sh disable=SC2086,SC2154 # lists are split; guest.sh sets the variables of an NPU
# cards.sh - the section of guest.sh on network cards: nic-interrupts = pool
#
# Two cards of virtio, by the kernel's own driver, with three interrupts each. All NPUs are as near
# to both: those with even numbers have the first card, the others the second one, and take its
# interrupts in turns. Workers of four NPUs leave one interrupt of each card where it is.

cards="0000:00:18.0 0000:00:19.0"

# Prints "name CPUs" of each interrupt of the cards, and where one that is bound goes.
card_irqs() {
    for at in $cards; do msi_irqs "$at"; done | while read -r irq; do
        read -r may <"/proc/irq/$irq/smp_affinity_list"
        read -r does <"/proc/irq/$irq/effective_affinity_list"
        [ "$may" = "$everywhere" ] && does=
        echo "$(sed -n "s/^ *$irq:.* //p" /proc/interrupts) $may $does"
    done
}

# The CPUs of irq of the NPUs 0, 2, 1 and 3.
bound="0 16 8 24"
card_irqs_are() { # the CPUs of the two of each card that are bound
    for i in 0 1; do
        printf 'virtio%s-%s\n' $i "config $1 $1" $i "input.0 $2 $2" $i "output.0 $everywhere "
        shift 2
    done >/run/want
    card_irqs | diff /run/want -
}

no_card_is_bound() {
    ! card_irqs | grep -v " $everywhere \$" && no_record_is_left
}

names_a_card() {
    irq=$(msi_irqs 0000:00:19.0 | head -n 1)
    npu 1
    echo 63 >"/proc/irq/$irq/smp_affinity_list"
    exits 1 cpubind verify --pid "$pid" && grep -w "$irq" /run/said && bind_cards &&
        card_irqs_are $bound
}

bind_cards() {
    exits 0 cpubind apply --all -o rules=reference -o nic-interrupts=pool --memory none
}

cards() {
    for name in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci failover \
        net_failover virtio_net; do
        insmod "/cards/$name.ko"
    done
    everyone=$all
    all="0 1 2 3"
    for i in $all; do start_npu "$i"; done
    npu-smi look
    check_soon "four workers are ready" for_all worker_is_ready
    check "apply --all binds interrupts of network cards, too" bind_cards
    check "each is on a CPU of irq of one of the NPUs that share the card" \
        card_irqs_are $bound
    check "verify names one that was moved, and apply moves it back" names_a_card
    check "restore --all" exits 0 cpubind restore --all
    check "they are where they were" no_card_is_bound
    end_workers
    all=$everyone
}
