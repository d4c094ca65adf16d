/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What the parts of the stub's nvidia.ko know of each other. */
#ifndef NV_STUB_H
#define NV_STUB_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/stdarg.h>

#include "nv_abi.h"
#include "nv_stub_shared.h"

#define NV_STUB_MAX_GPUS	32

/* A GPU of the stub. */
struct nv_gpu {
	unsigned int minor;
	unsigned int domain, bus, slot, function;
	/* Adopted PCI function, with a reference; NULL if there was none at the address. */
	struct pci_dev *pdev;
	u16 own_vendor, own_device;
	u32 own_class;
	char uuid[48];
	/* Whether the UUID line, which goes before the first Xid, was logged. */
	unsigned long uuid_logged;
	spinlock_t vram_lock;
	u64 vram_total, vram_used;	/* bytes */
};

/* A device node: a GPU's, or nvidiactl, whose memory is that of GPU 0. */
struct nv_node {
	unsigned int minor;
	struct nv_gpu *gpu;
};

/* An open file. */
struct nv_file {
	struct nv_node *node;
	struct mutex lock;
	struct list_head memory;	/* struct nv_memory, under lock */
};

/* An Xid to log. */
struct nv_xid {
	u32 code;
	bool has_process;
	u32 pid;
	const char *name;
	int gi, ci;		/* MIG instances; -1: none */
	bool pieces;		/* log the line in several nv_printf calls */
	const char *text;
};

/* version.c */
int nv_stub_version_init(const char *text);
const char *nv_stub_version(void);
unsigned int nv_stub_branch(void);
u32 nv_stub_alloc_status_offset(u32 size);
NV_STATUS nv_stub_version_check(struct nv_ioctl_rm_api_version *arg);

/* gpu.c */
int nv_gpus_init(char *addresses, unsigned int vram_mb);
void nv_gpus_exit(void);
unsigned int nv_gpu_count(void);
struct nv_gpu *nv_gpu_get(unsigned int index);
struct nv_node *nv_node_get(unsigned int minor);
void nv_card_info(struct nv_ioctl_card_info *cards, size_t count);

/* vram.c */
NV_STATUS nv_vram_alloc(struct nv_file *file, u32 client, u32 handle, u64 bytes);
void nv_vram_free(struct nv_file *file, u32 client, u32 handle);
void nv_vram_release(struct nv_file *file);

/* rm.c */
NV_STATUS rm_ioctl(void *sp, void *nv, void *nvfp, u32 cmd, void *kdata, u32 size);

/* report_err.c */
__printf(3, 0)
void nv_report_error(struct pci_dev *dev, u32 error_number, const char *format, va_list ap);

/* log.c */
__printf(1, 2) void nv_printf(const char *format, ...);
void nv_log_xid(struct nv_gpu *gpu, const struct nv_xid *xid);
int nv_log_sxid(const char *address, u32 code, bool fatal, const char *text);

/* inject.c */
int nv_inject_status(u32 code, u32 status, s64 count);
int nv_inject_delay(u32 nr, u32 us, s64 count);
int nv_inject_hang(u32 seconds, s64 count);
void nv_inject_clear_status(void);
void nv_inject_clear_delay(void);
void nv_inject_clear_hang(void);

/* counters.c */
struct seq_file;
int nv_counters_show(struct seq_file *seq, void *unused);
void nv_counters_reset(void);

/* control.c */
int nv_control_line(char *line);

/* procfs.c */
int nv_procfs_init(void);
void nv_procfs_exit(void);

/* entry.c */
extern const struct file_operations nv_stub_fops;

#endif
