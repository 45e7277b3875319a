/* npu.c - a driver that makes the NPUs of an Ascend host, and its files, in a virtual machine;
 *   of a mixed host the GPUs, too
 * SPDX-License-Identifier: GPL-2.0 OR MIT
 *
 *   insmod npu.ko device=0xd802 functions=8 per_function=1 phy=5,7,4,6,1,3,0,2 mailbox=1 gpus=0
 *
 * The kernel shows the first `functions` virtio devices of the machine, in the order of their
 * addresses, as devices of vendor 19e5. Each has the interrupts of `per_function` davinci
 * devices one after the other, with the names and the order of the driver of such a host. The
 * interrupts must not be managed by the kernel, so that root can move them; they never fire.
 * `phy` has the physical ids in the order of the addresses; mailbox=0: no interrupt has one.
 * The next `gpus` virtio devices are shown as GPUs of vendor 1002, without interrupts.
 *
 * Files, with the names, modes and texts of the driver of cann 8.5 and later:
 *   on a PCI function     dev_id, davinci_dev_num, devdrv_sysfs_bdf_to_devid
 *   /dev                  davinci<phy>, of the class devdrv-class, without a parent;
 *                         davinci_manager
 *   /proc/trs_core/proc   <pid>-<task>-dev-<phy>/summary, of each process that drives an NPU
 *   /proc/uda             namespace_node: the logic ids of each mount namespace
 *   kernel threads        dev<phy>_sq_task, which sleep; work queues dev<phy>_sq_send_wq and
 *                         dev<phy>_sq_fair_wq, whose CPUs are in /sys/devices/virtual/workqueue
 *   on the function of a GPU  drm/renderD<n>/dev
 *   /dev                  dri/renderD<n>, of the class drm; kfd, of the class kfd
 * and two for the tests alone:
 *   /proc/npu_writes      "address vector writes": how often the CPUs of a vector were written
 *   /proc/npu_stuck       while the parameter `stuck` is set, a read waits, and no signal ends
 *                         it
 *
 * A process drives an NPU when it names the logic id in an ioctl on davinci_manager, until it
 * closes that file. In the mount namespace that loaded the driver, the logic ids are those of
 * all NPUs. In another one they are those of the davinci devices that were opened there, which
 * is why an observer must not open one, until no davinci_manager is open there. `opens` counts
 * the opens of davinci devices.
 */
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/pci.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#define VENDOR        0x19e5
#define CLASS_NPU     0x120000
#define GPU_VENDOR    0x1002
#define GPU_DEVICE    0x74a1 /* of class 0x120000, too */
#define FIRST_RENDER  128    /* minor number */
#define VIRTIO_VENDOR 0x1af4
#define VIRTIO_RNG    0x1044
#define N_CQ          16
/* the mailbox, the SQ, the CQs, and two that cpubind must not move */
#define N_VECTOR (2 + N_CQ + 2)
#define MAX_NPU  16
#define MAX_VIEW 8

static int device = 0xd802;
module_param(device, int, 0444);
static int per_function = 1;
module_param(per_function, int, 0444);
static int functions = 8;
module_param(functions, int, 0444);
static int phy[MAX_NPU] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
module_param_array(phy, int, NULL, 0444);
static int gpus;
module_param(gpus, int, 0444);
static bool mailbox = true;
module_param(mailbox, bool, 0444);
static unsigned int opens;
module_param(opens, uint, 0444);
static bool stuck;
module_param(stuck, bool, 0644);

/* The NPUs that one mount namespace sees, as a set of physical ids. */
struct view {
    const void *ns;
    pid_t root;
    int managers;
    unsigned long npus;
};

/* A process that drives an NPU. */
struct task {
    struct list_head list;
    struct proc_dir_entry *dir;
    long long id;
    pid_t pid;
    int phy;
    char name[TASK_COMM_LEN];
};

/* An open davinci_manager. */
struct manager {
    struct view *view;
    struct list_head tasks;
};

/* The writes to a vector of a PCI function. */
struct writes {
    struct irq_affinity_notify notify;
    char address[16];
    int vector;
    unsigned int n;
};

static struct writes writes[MAX_NPU * N_VECTOR + 1];
/* Guards all below, and `opens`. */
static DEFINE_MUTEX(lock);
/* The first is the view of the host. */
static struct view views[MAX_VIEW];
static struct pci_dev *function_of[MAX_NPU]; /* by physical id */
static int n_probed;
static long long n_task;
static struct proc_dir_entry *task_dir;
static struct class *npu_class;
static int npu_major;

/* -- The PCI functions and their interrupts ---------------------------------------------- */

static irqreturn_t on_interrupt(int irq, void *data)
{
    return IRQ_HANDLED;
}

static const char *vector_name(struct pci_dev *pci, int id, int i)
{
    if (i == 0 && mailbox)
        return devm_kasprintf(&pci->dev, GFP_KERNEL, "trs-mbox-%d-0", id);
    if (i == 0)
        return "msg_irq";
    if (i == 1)
        return "sq_send_trigger_irq";
    if (i < 2 + N_CQ)
        return "cq_update_irq";
    return i == 2 + N_CQ ? "func_cq_irq" : "stars_topic_irq";
}

/* Finds the index of the first NPU of a function in `phy`: a function that is bound again keeps
 * its physical ids. */
static int known_function(const struct pci_dev *pci)
{
    int i = 0;

    while (i < n_probed && function_of[phy[i]] != pci)
        i++;
    return i;
}

/* The kernel calls this after each write of smp_affinity; writes at the same time count as
 * one. */
static void on_write(struct irq_affinity_notify *notify, const cpumask_t *mask)
{
    container_of(notify, struct writes, notify)->n++;
}

static void on_notify_release(struct kref *ref)
{
}

static void stop_counting(void *irq)
{
    irq_set_affinity_notifier((unsigned int)(unsigned long)irq, NULL);
}

/* Counts go on when the driver is bound again. */
static int count_writes(struct pci_dev *pci, int i)
{
    unsigned int irq = pci_irq_vector(pci, i);
    struct writes *w = writes;
    int error;

    while (w->address[0] && (strcmp(w->address, pci_name(pci)) || w->vector != i))
        w++;
    strscpy(w->address, pci_name(pci), sizeof(w->address));
    w->vector = i;
    w->notify.notify = on_write;
    w->notify.release = on_notify_release;
    error = irq_set_affinity_notifier(irq, &w->notify);
    return error
               ? error
               : devm_add_action_or_reset(&pci->dev, stop_counting, (void *)(unsigned long)irq);
}

static int show_writes(struct seq_file *text, void *unused)
{
    for (struct writes *w = writes; w->address[0]; w++)
        seq_printf(text, "%s %d %u\n", w->address, w->vector, w->n);
    return 0;
}

static int show_stuck(struct seq_file *text, void *unused)
{
    while (READ_ONCE(stuck))
        schedule_timeout_uninterruptible(HZ / 10);
    return 0;
}

static int probe(struct pci_dev *pci, const struct pci_device_id *id)
{
    int n = N_VECTOR * per_function;
    int i, error;

    int of_function = known_function(pci);

    if (of_function + per_function > MAX_NPU)
        return -ENOSPC;
    error = pcim_enable_device(pci);
    if (error)
        return error;
    pci_set_master(pci);
    error = pci_alloc_irq_vectors(pci, n, n, PCI_IRQ_MSIX);
    if (error < 0)
        return error;
    for (i = 0; i < n; i++) {
        int of = phy[of_function + i / N_VECTOR];
        const char *name = vector_name(pci, of, i % N_VECTOR);

        if (!name)
            return -ENOMEM;
        error = devm_request_irq(&pci->dev, pci_irq_vector(pci, i), on_interrupt, 0, name, pci);
        if (error)
            return error;
        function_of[of] = pci;
        error = count_writes(pci, i);
        if (error)
            return error;
    }
    if (of_function == n_probed)
        n_probed += per_function;
    return 0;
}

static ssize_t dev_id_show(struct device *dev, struct device_attribute *attribute, char *text)
{
    int id = 0;

    while (function_of[id] != to_pci_dev(dev))
        id++;
    return sysfs_emit(text, "%u\n", id);
}
static DEVICE_ATTR(dev_id, 0440, dev_id_show, NULL);

static ssize_t davinci_dev_num_show(struct device *dev, struct device_attribute *attribute,
                                    char *text)
{
    return sysfs_emit(text, "%d\n", per_function);
}
static DEVICE_ATTR(davinci_dev_num, 0440, davinci_dev_num_show, NULL);

static ssize_t devdrv_sysfs_bdf_to_devid_show(struct device *dev,
                                              struct device_attribute *attribute, char *text)
{
    int n = sysfs_emit(text, "bdf      udevid add_id\n");

    for (int id = 0; id < MAX_NPU; id++)
        if (function_of[id])
            n += sysfs_emit_at(text, n, "%02x:%02x.%u  %-6u %-5u\n",
                               function_of[id]->bus->number, PCI_SLOT(function_of[id]->devfn),
                               PCI_FUNC(function_of[id]->devfn), id, id);
    return n;
}
static DEVICE_ATTR(devdrv_sysfs_bdf_to_devid, 0440, devdrv_sysfs_bdf_to_devid_show, NULL);

static struct attribute *function_attrs[] = {
    &dev_attr_dev_id.attr,
    &dev_attr_davinci_dev_num.attr,
    &dev_attr_devdrv_sysfs_bdf_to_devid.attr,
    NULL,
};
ATTRIBUTE_GROUPS(function);

static const struct pci_device_id npu_ids[] = {{PCI_DEVICE(VENDOR, PCI_ANY_ID)}, {}};

static struct pci_driver npu_driver = {
    .name = "devdrv_device_driver",
    .id_table = npu_ids,
    .probe = probe,
    .dev_groups = function_groups,
};

/* -- What a mount namespace sees ---------------------------------------------------------- */

static struct view *find_view(const void *ns)
{
    for (int i = 0; i < MAX_VIEW; i++)
        if (views[i].ns == ns)
            return &views[i];
    return NULL;
}

/* Finds or makes the view of this process. */
static struct view *own_view(void)
{
    const void *ns = current->nsproxy->mnt_ns;
    struct view *view = find_view(ns);

    if (view)
        return view;
    view = find_view(NULL);
    if (view) {
        view->ns = ns;
        view->root = current->tgid;
    }
    return view;
}

static int open_npu(struct inode *inode, struct file *file)
{
    struct view *view;

    if (iminor(inode) >= MAX_NPU || !function_of[iminor(inode)])
        return -ENODEV;
    mutex_lock(&lock);
    opens++;
    view = own_view();
    if (view)
        view->npus |= BIT(iminor(inode));
    mutex_unlock(&lock);
    return view ? 0 : -ENOSPC;
}

static const struct file_operations npu_files = {
    .owner = THIS_MODULE,
    .open = open_npu,
};

static int show_views(struct seq_file *text, void *unused)
{
    mutex_lock(&lock);
    for (struct view *view = views; view < views + MAX_VIEW; view++) {
        unsigned int id, logic_id = 0;

        if (!view->ns)
            continue;
        seq_printf(text, "ns_id %u identify %llx root_tgid %u ",
                   (unsigned int)(view == views ? 128 : view - views - 1), 0ULL, view->root);
        seq_printf(text, "dev_num %u namespace %pK%s, udev list:\n",
                   (unsigned int)hweight_long(view->npus), view->ns,
                   view->ns == current->nsproxy->mnt_ns ? "(#)" : "");
        seq_puts(text, "logic_devid udevid\n");
        for_each_set_bit(id, &view->npus, MAX_NPU)
            seq_printf(text, "%8u %8u\n", logic_id++, id);
        seq_puts(text, "\n\n");
    }
    mutex_unlock(&lock);
    return 0;
}

/* -- Processes that drive an NPU ---------------------------------------------------------- */

static int open_manager(struct inode *inode, struct file *file)
{
    struct manager *manager = kzalloc(sizeof(*manager), GFP_KERNEL);

    if (!manager)
        return -ENOMEM;
    INIT_LIST_HEAD(&manager->tasks);
    mutex_lock(&lock);
    manager->view = own_view();
    if (manager->view)
        manager->view->managers++;
    mutex_unlock(&lock);
    if (!manager->view) {
        kfree(manager);
        return -ENOSPC;
    }
    file->private_data = manager;
    return 0;
}

static int show_task(struct seq_file *text, void *unused)
{
    const struct task *task = text->private;

    seq_printf(text, "pid %d(%s) task_id %lld devid %d status 0(0:normal, 1:exit) ssid %u\n",
               task->pid, task->name, task->id, task->phy, 0);
    return 0;
}

static int phy_of(const struct view *view, unsigned long logic_id)
{
    unsigned int id;

    for_each_set_bit(id, &view->npus, MAX_NPU) if (logic_id-- == 0) return (int)id;
    return -ENODEV;
}

/* Each command drives the NPU of a logic id. */
static long drive(struct file *file, unsigned int command, unsigned long logic_id)
{
    struct manager *manager = file->private_data;
    struct task *task = kzalloc(sizeof(*task), GFP_KERNEL);
    char name[32];

    if (!task)
        return -ENOMEM;
    mutex_lock(&lock);
    task->phy = phy_of(manager->view, logic_id);
    if (task->phy < 0) {
        mutex_unlock(&lock);
        kfree(task);
        return -ENODEV;
    }
    task->id = n_task++;
    task->pid = current->tgid;
    get_task_comm(task->name, current);
    snprintf(name, sizeof(name), "%d-%lld-dev-%d", task->pid, task->id, task->phy);
    task->dir = proc_mkdir(name, task_dir);
    if (task->dir)
        proc_create_single_data("summary", 0444, task->dir, show_task, task);
    list_add(&task->list, &manager->tasks);
    mutex_unlock(&lock);
    return 0;
}

static int close_manager(struct inode *inode, struct file *file)
{
    struct manager *manager = file->private_data;
    struct task *task, *next;

    list_for_each_entry_safe(task, next, &manager->tasks, list)
    {
        proc_remove(task->dir);
        kfree(task);
    }
    mutex_lock(&lock);
    if (--manager->view->managers == 0 && manager->view != views)
        memset(manager->view, 0, sizeof(*manager->view));
    mutex_unlock(&lock);
    kfree(manager);
    return 0;
}

static const struct file_operations manager_files = {
    .owner = THIS_MODULE,
    .open = open_manager,
    .release = close_manager,
    .unlocked_ioctl = drive,
};

static struct miscdevice manager_device = {
    .minor = MISC_DYNAMIC_MINOR,
    .name = "davinci_manager",
    .fops = &manager_files,
};

/* -- GPUs --------------------------------------------------------------------------------- */

static int open_gpu(struct inode *inode, struct file *file)
{
    return 0;
}

static const struct file_operations gpu_files = {
    .owner = THIS_MODULE,
    .open = open_gpu,
};

/* -- Loading ------------------------------------------------------------------------------ */

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define make_class(name) class_create(THIS_MODULE, name)
#else
#define make_class(name) class_create(name)
#endif

/* Finds the next virtio device after one, which may be NULL, and gives it other ids. */
static struct pci_dev *next_function(struct pci_dev *pci, int vendor, int id)
{
    pci = pci_get_device(VIRTIO_VENDOR, VIRTIO_RNG, pci);
    if (!pci)
        return NULL;
    device_release_driver(&pci->dev);
    pci->vendor = (unsigned short)vendor;
    pci->device = (unsigned short)id;
    pci->class = CLASS_NPU;
    return pci;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
static char *render_path(struct device *dev, umode_t *mode)
#else
static char *render_path(const struct device *dev, umode_t *mode)
#endif
{
    *mode = 0666;
    return kasprintf(GFP_KERNEL, "dri/%s", dev_name(dev));
}

/* The functions of the GPUs come after those of the NPUs. */
static int make_gpus(struct pci_dev *pci)
{
    const int drm_major = register_chrdev(0, "drm", &gpu_files);
    const int kfd_major = register_chrdev(0, "kfd", &gpu_files);
    struct class *drm = make_class("drm"), *kfd = make_class("kfd");

    if (drm_major < 0 || kfd_major < 0)
        return drm_major < 0 ? drm_major : kfd_major;
    if (IS_ERR(drm) || IS_ERR(kfd))
        return IS_ERR(drm) ? PTR_ERR(drm) : PTR_ERR(kfd);
    drm->devnode = render_path;
    for (int n = FIRST_RENDER; n < FIRST_RENDER + gpus; n++) {
        struct device *made;

        pci = next_function(pci, GPU_VENDOR, GPU_DEVICE);
        if (!pci)
            return -ENODEV;
        made = device_create(drm, &pci->dev, MKDEV(drm_major, n), NULL, "renderD%d", n);
        if (IS_ERR(made))
            return PTR_ERR(made);
    }
    pci_dev_put(pci);
    return PTR_ERR_OR_ZERO(device_create(kfd, NULL, MKDEV(kfd_major, 0), NULL, "kfd"));
}

static int make_functions(void)
{
    struct pci_dev *pci = NULL;

    for (int n = 0; n < functions; n++) {
        pci = next_function(pci, VENDOR, device);
        if (!pci)
            return -ENODEV;
    }
    if (gpus > 0) {
        const int error = make_gpus(pci);

        if (error)
            return error;
    } else {
        pci_dev_put(pci);
    }
    return pci_register_driver(&npu_driver);
}

/* Sleeps as the driver's thread does between interrupts, which never come here. */
static int send_tasks(void *data)
{
    while (!kthread_should_stop()) {
        set_current_state(TASK_INTERRUPTIBLE);
        if (!kthread_should_stop())
            schedule();
    }
    __set_current_state(TASK_RUNNING);
    return 0;
}

static int make_kernel_threads(int id)
{
    struct task_struct *thread = kthread_run(send_tasks, NULL, "dev%d_sq_task", id);

    if (IS_ERR(thread))
        return PTR_ERR(thread);
    if (!alloc_workqueue("dev%d_sq_send_wq", WQ_UNBOUND | WQ_SYSFS, 0, id) ||
        !alloc_workqueue("dev%d_sq_fair_wq", WQ_UNBOUND | WQ_SYSFS, 0, id))
        return -ENOMEM;
    return 0;
}

static int make_devices(void)
{
    npu_class = make_class("devdrv-class");
    if (IS_ERR(npu_class))
        return PTR_ERR(npu_class);
    npu_major = register_chrdev(0, "devdrv-cdev", &npu_files);
    if (npu_major < 0)
        return npu_major;
    for (int id = 0; id < MAX_NPU; id++) {
        struct device *made;

        if (!function_of[id])
            continue;
        made = device_create(npu_class, NULL, MKDEV(npu_major, id), NULL, "davinci%d", id);
        if (IS_ERR(made))
            return PTR_ERR(made);
        views[0].npus |= BIT(id);
        if (mailbox) {
            int error = make_kernel_threads(id);

            if (error)
                return error;
        }
    }
    views[0].ns = current->nsproxy->mnt_ns;
    views[0].root = 1;
    return misc_register(&manager_device);
}

static int make_proc_files(void)
{
    struct proc_dir_entry *uda = proc_mkdir("uda", NULL);
    struct proc_dir_entry *trs = proc_mkdir("trs_core", NULL);

    if (!uda || !trs || !proc_create_single("npu_writes", 0444, NULL, show_writes) ||
        !proc_create_single("npu_stuck", 0444, NULL, show_stuck))
        return -ENOMEM;
    task_dir = proc_mkdir("proc", trs);
    if (!task_dir || !proc_create_single_data("namespace_node", 0400, uda, show_views, NULL))
        return -ENOMEM;
    return 0;
}

/* Has no exit function: the machine ends with its tests. */
static int __init npu_init(void)
{
    int error = make_proc_files();

    if (!error)
        error = make_functions();
    return error ? error : make_devices();
}
module_init(npu_init);

MODULE_DESCRIPTION("fake NPUs of an Ascend host");
MODULE_LICENSE("Dual MIT/GPL");
