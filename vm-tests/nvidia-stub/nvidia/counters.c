// SPDX-License-Identifier: MIT OR GPL-2.0
/* Counts exactly what the stub answered, for tests to compare with what a tracer saw. */
#include <linux/export.h>
#include <linux/jhash.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "nv-stub.h"

#define SLOTS	2048	/* a power of two */

struct counter {
	u32 node, op, code, status;
	u64 count;		/* 0: free */
};

static const char * const op_names[] = {
	[NV_STUB_OP_OPEN] = "OPEN",
	[NV_STUB_OP_CLOSE] = "CLOSE",
	[NV_STUB_OP_RM_CONTROL] = "RM_CONTROL",
	[NV_STUB_OP_RM_ALLOC] = "RM_ALLOC",
	[NV_STUB_OP_RM_FREE] = "RM_FREE",
	[NV_STUB_OP_CARD_INFO] = "CARD_INFO",
	[NV_STUB_OP_CHECK_VERSION_STR] = "CHECK_VERSION_STR",
	[NV_STUB_OP_SYS_PARAMS] = "SYS_PARAMS",
	[NV_STUB_OP_UVM] = "UVM",
	[NV_STUB_OP_ERRNO] = "ERRNO",
};

static DEFINE_SPINLOCK(lock);
static struct counter counters[SLOTS];
static u64 uncounted;

void nv_stub_count(u16 node, enum nv_stub_op op, u32 code, u32 status)
{
	u32 key[4] = { node, op, code, status };
	u32 at = jhash2(key, 4, 0);
	unsigned int i;

	spin_lock(&lock);
	for (i = 0; i < SLOTS; i++) {
		struct counter *c = &counters[(at + i) % SLOTS];

		if (!c->count)
			*c = (struct counter){ node, op, code, status, 0 };
		else if (memcmp(c, key, sizeof(key)))
			continue;
		c->count++;
		break;
	}
	if (i == SLOTS)
		uncounted++;
	spin_unlock(&lock);
}
EXPORT_SYMBOL_GPL(nv_stub_count);

static void show_node(struct seq_file *seq, u32 node)
{
	if (node == NV_STUB_NODE_UVM)
		seq_puts(seq, "nvidia-uvm");
	else if (node == NV_STUB_NODE_CTL)
		seq_puts(seq, "nvidiactl");
	else
		seq_printf(seq, "nvidia%u", node);
}

/* A line each: node, op, code, status, count. */
int nv_counters_show(struct seq_file *seq, void *unused)
{
	unsigned int i;

	spin_lock(&lock);
	for (i = 0; i < SLOTS; i++) {
		struct counter *c = &counters[i];

		if (!c->count)
			continue;
		show_node(seq, c->node);
		seq_printf(seq, " %s 0x%x 0x%x %llu\n", op_names[c->op], c->code, c->status,
			   c->count);
	}
	if (uncounted)
		seq_printf(seq, "uncounted %llu\n", uncounted);
	spin_unlock(&lock);
	return 0;
}

void nv_counters_reset(void)
{
	spin_lock(&lock);
	memset(counters, 0, sizeof(counters));
	uncounted = 0;
	spin_unlock(&lock);
}
