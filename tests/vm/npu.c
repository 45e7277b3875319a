/* npu.c - a PCI driver that makes fake NPUs of an Ascend host in a virtual machine
 * SPDX-License-Identifier: GPL-2.0 OR MIT
 *
 *   insmod npu.ko device=0xd802 per_function=1 functions=8
 *
 * The kernel shows the first `functions` virtio devices of the machine, in the order of their
 * addresses, as devices of vendor 19e5. Each has the interrupts of `per_function` davinci
 * devices one after the other, with the names and the order of the driver of such a host. The
 * interrupts must not be managed by the kernel, so that root can move them; they never fire.
 */
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pci.h>

#define VENDOR        0x19e5
#define CLASS_NPU     0x120000
#define VIRTIO_VENDOR 0x1af4
#define VIRTIO_RNG    0x1044
#define N_CQ          16
/* the mailbox, the SQ, the CQs, and two that cpubind must not move */
#define N_VECTOR (2 + N_CQ + 2)

static int device = 0xd802;
module_param(device, int, 0444);
static int per_function = 1;
module_param(per_function, int, 0444);
static int functions = 8;
module_param(functions, int, 0444);

static int next_id;

static irqreturn_t on_interrupt(int irq, void *data)
{
    return IRQ_HANDLED;
}

static const char *vector_name(struct pci_dev *pci, int id, int i)
{
    if (i == 0)
        return devm_kasprintf(&pci->dev, GFP_KERNEL, "trs-mbox-%d-0", id);
    if (i == 1)
        return "sq_send_trigger_irq";
    if (i < 2 + N_CQ)
        return "cq_update_irq";
    return i == 2 + N_CQ ? "func_cq_irq" : "stars_topic_irq";
}

static int probe(struct pci_dev *pci, const struct pci_device_id *id)
{
    int n = N_VECTOR * per_function;
    int i, error;

    error = pcim_enable_device(pci);
    if (error)
        return error;
    pci_set_master(pci);
    error = pci_alloc_irq_vectors(pci, n, n, PCI_IRQ_MSIX);
    if (error < 0)
        return error;
    for (i = 0; i < n; i++) {
        const char *name = vector_name(pci, next_id + i / N_VECTOR, i % N_VECTOR);

        if (!name)
            return -ENOMEM;
        error = devm_request_irq(&pci->dev, pci_irq_vector(pci, i), on_interrupt, 0, name, pci);
        if (error)
            return error;
    }
    next_id += per_function;
    return 0;
}

static const struct pci_device_id npu_ids[] = {{PCI_DEVICE(VENDOR, PCI_ANY_ID)}, {}};

static struct pci_driver npu_driver = {
    .name = "devdrv_device_driver",
    .id_table = npu_ids,
    .probe = probe,
};

/* Has no exit function: the machine ends with its tests. */
static int __init npu_init(void)
{
    struct pci_dev *pci = NULL;
    int n = 0;

    while (n < functions) {
        pci = pci_get_device(VIRTIO_VENDOR, VIRTIO_RNG, pci);
        if (!pci)
            return -ENODEV;
        device_release_driver(&pci->dev);
        pci->vendor = VENDOR;
        pci->device = (unsigned short)device;
        pci->class = CLASS_NPU;
        n++;
    }
    pci_dev_put(pci);
    return pci_register_driver(&npu_driver);
}
module_init(npu_init);

MODULE_DESCRIPTION("fake NPUs of an Ascend host");
MODULE_LICENSE("Dual MIT/GPL");
