// SPDX-License-Identifier: GPL-2.0
/* The GSP: started by the driver, it reads calls from one queue in memory, and writes answers and events to another. */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/irq_work.h>
#include <linux/kfifo.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "fakegpu.h"
#include "gsp.h"
#include "layout.h"

/* Registers and bits, as NVIDIA's headers below src/common/inc/swref/published name them. */
#define NV_PMC_BOOT_0			0x0
#define NV_THERM_I2CS_SCRATCH		0x200bc
#define   FSP_BOOT_COMPLETE		0xff
#define NV_PGSP_FALCON_IRQSCLR		0x110004
#define NV_PGSP_FALCON_IRQSTAT		0x110008
#define NV_PGSP_FALCON_IRQMASK		0x110018
#define NV_PGSP_FALCON_IRQDEST		0x11001c
#define   IRQ_HALT_SWGEN0		0x50
#define   IRQ_SWGEN0			0x40
#define NV_PGSP_FALCON_MAILBOX0		0x110040
#define NV_PGSP_FALCON_MAILBOX1		0x110044
#define   PROCESSOR_SUSPENDED		0x80000000
#define NV_PGSP_FALCON_HWCFG2		0x1100f4
#define   HWCFG2_RISCV			0x400
#define NV_PGSP_FALCON_ENGINE		0x1103c0
#define   ENGINE_RESET			0x1
#define   ENGINE_RESET_STATUS		0x700
#define   ENGINE_RESET_DEASSERTED	0x200
#define NV_PGSP_RISCV_CPUCTL		0x111388
#define   CPUCTL_START			0x1
#define   CPUCTL_ACTIVE			0x80
#define NV_PTIMER_TIME_0		0x9400
#define NV_PTIMER_TIME_1		0x9410
#define NV_VF_TIME_0			0xbb0080
#define NV_VF_TIME_1			0xbb0084
#define NV_VF_MMU_INVALIDATE		0xb830b0
#define   INVALIDATE_TRIGGER		0x80000000
#define NV_VF_CPU_INTR_TOP		0xb81600
#define NV_VF_CPU_INTR_LEAF(i)		(0xb81000 + 4 * (i))
#define NV_VF_CPU_INTR_LEAF_TRIGGER	0xb81640

/* libos names its regions so: eight characters, the first in the highest byte. */
#define REGION_ARGUMENTS	0x524d41524753ull /* RMARGS */
#define REGIONS			8

/* Queues: a page of headers, then elements of a page each. */
#define QUEUE_BYTES		0x40000
#define QUEUE_ELEMENTS		63
#define MESSAGE_ELEMENTS	16
#define MESSAGE_BYTES		(MESSAGE_ELEMENTS * PAGE_SIZE)
/* Words of a queue's header: msgqTxHeader, and msgqRxHeader behind it. */
enum { TX_VERSION, TX_SIZE, TX_MESSAGE_SIZE, TX_COUNT, TX_WRITE, TX_FLAGS, TX_RX_OFFSET, TX_ENTRY_OFFSET, RX_READ };
#define TX_SWAPS_RX		1

/* Calls come in bursts, and in an emulated machine a sleep takes far longer than was asked: for so long after a call
 * the next is waited for awake. */
#define AWAKE_NS		(2 * NSEC_PER_MSEC)

#define SIGNATURE		0x43505256 /* "VRPC" */
#define HEADER_VERSION		0x03000000

/* An element's header with the message's: GSP_MSG_QUEUE_ELEMENT and rpc_message_header_v. */
struct message {
	u8 tags[32];
	u32 checksum, element_sequence, elements, padding;
	u32 version, signature, bytes, function, result, private_result, sequence, spare;
	u8 body[];
};
static_assert(offsetof(struct message, version) == ELEMENT_HEADER_BYTES);
static_assert(offsetof(struct message, body) - offsetof(struct message, version) == SIZE_rpc_message_header_v);

struct xid {
	u32 code, channel;
	char text[GSP_TEXT_BYTES];
};

struct gsp {
	struct fakegpu *gpu;
	struct gsp_model model;
	struct task_struct *task;
	bool mute;
	enum { OFF, STARTED, RUNS } state;
	/* Physical addresses of the pages that both queues lie in, and where they begin there. */
	u64 *pages;
	u32 page_count;
	u64 commands, statuses;
	/* Where we read and write next, and the sequence number of what we write. */
	u32 read, write, sequence;
	/* The message that is worked on. */
	struct message *message;
	/* Xids to be logged: the driver takes one at a time. */
	struct mutex lock;
	DECLARE_KFIFO_PTR(xids, struct xid);
	struct irq_work irq_work;
	u32 vector;
};

static u32 get(struct gsp *gsp, u32 offset)
{
	return readl(gsp->gpu->registers + offset);
}

static void put(struct gsp *gsp, u32 offset, u32 value)
{
	writel(value, gsp->gpu->registers + offset);
}

/* Physical memory that the driver names; NULL where there is none. */
static void *memory_at(u64 address)
{
	return pfn_valid(address >> PAGE_SHIFT) ? phys_to_virt(address) : NULL;
}

/* A place in what driver and GSP share; the driver has made the table of its pages. */
static void *shared(struct gsp *gsp, u64 offset)
{
	u64 page = offset >> PAGE_SHIFT;

	return phys_to_virt(gsp->pages[min_t(u64, page, gsp->page_count - 1)]) + offset_in_page(offset);
}

static void *element(struct gsp *gsp, u64 queue, u32 index)
{
	return shared(gsp, queue + PAGE_SIZE + (u64)index * PAGE_SIZE);
}

/* Takes the queues from the arguments that MAILBOX0 and 1 point to, and makes ours ready. */
static bool boot(struct gsp *gsp)
{
	u64 address = get(gsp, NV_PGSP_FALCON_MAILBOX0) | (u64)get(gsp, NV_PGSP_FALCON_MAILBOX1) << 32;
	u8 *arguments = address ? memory_at(address) : NULL, *regions = NULL, *queues = NULL;
	u32 *header, i;

	if (arguments)
		regions = memory_at(*(u64 *)(arguments + OFF_GSP_FMC_BOOT_PARAMS__bootArgsOffset));
	for (i = 0; regions && i < REGIONS; i++) {
		u8 *region = regions + i * SIZE_LibosMemoryRegionInitArgument;

		if (*(u64 *)(region + OFF_LibosMemoryRegionInitArgument__id8) == REGION_ARGUMENTS)
			queues = memory_at(*(u64 *)(region + OFF_LibosMemoryRegionInitArgument__pa));
	}
	if (!queues) {
		pr_err("fakegpu: the GSP of GPU %u was started without arguments\n", gsp->gpu->index);
		return false;
	}
	gsp->pages = memory_at(*(u64 *)(queues + OFF_MESSAGE_QUEUE_INIT_ARGUMENTS__sharedMemPhysAddr));
	gsp->page_count = *(u32 *)(queues + OFF_MESSAGE_QUEUE_INIT_ARGUMENTS__pageTableEntryCount);
	gsp->commands = *(u64 *)(queues + OFF_MESSAGE_QUEUE_INIT_ARGUMENTS__cmdQueueOffset);
	gsp->statuses = *(u64 *)(queues + OFF_MESSAGE_QUEUE_INIT_ARGUMENTS__statQueueOffset);
	if (!gsp->pages || !gsp->page_count) {
		pr_err("fakegpu: the GSP of GPU %u was started without queues\n", gsp->gpu->index);
		return false;
	}
	gsp->read = gsp->write = gsp->sequence = 0;
	header = shared(gsp, gsp->statuses);
	header[TX_VERSION] = 0;
	header[TX_MESSAGE_SIZE] = PAGE_SIZE;
	header[TX_COUNT] = QUEUE_ELEMENTS;
	header[TX_WRITE] = 0;
	header[TX_FLAGS] = TX_SWAPS_RX;
	header[TX_RX_OFFSET] = RX_READ * sizeof(u32);
	header[TX_ENTRY_OFFSET] = PAGE_SIZE;
	header[RX_READ] = 0;
	/* The driver takes it for ready once it has a size. */
	smp_store_release(&header[TX_SIZE], QUEUE_BYTES);
	put(gsp, NV_PGSP_FALCON_MAILBOX0, 0);
	put(gsp, NV_PGSP_FALCON_MAILBOX1, 0);
	put(gsp, NV_PGSP_RISCV_CPUCTL, CPUCTL_ACTIVE);
	put(gsp, NV_PGSP_FALCON_IRQMASK, IRQ_HALT_SWGEN0);
	put(gsp, NV_PGSP_FALCON_IRQDEST, IRQ_HALT_SWGEN0);
	put(gsp, NV_PGSP_FALCON_IRQSCLR, 0);
	/* It stays set: whoever serves an interrupt then finds a reason for it, and an empty queue does no harm. */
	put(gsp, NV_PGSP_FALCON_IRQSTAT, IRQ_SWGEN0);
	/* What the driver waits for, so last. */
	put(gsp, NV_PGSP_FALCON_HWCFG2, HWCFG2_RISCV);
	gsp_forget_memory(&gsp->model);
	return true;
}

/* What is to become zero: all words, folded to 32 bits. */
static u32 checksum(const void *bytes, u32 length)
{
	const u64 *word = bytes, *end = bytes + length;
	u64 sum = 0;

	while (word < end)
		sum ^= *word++;
	return (sum >> 32) ^ (u32)sum;
}

/* Elements that the driver has not read yet. */
static u32 unread(struct gsp *gsp)
{
	u32 *commands = shared(gsp, gsp->commands), read = READ_ONCE(commands[RX_READ]);

	return (gsp->write + QUEUE_ELEMENTS - read) % QUEUE_ELEMENTS;
}

/* Sends gsp->message; its function, bytes and body are set. */
static void send(struct gsp *gsp)
{
	struct message *message = gsp->message;
	u32 bytes = ELEMENT_HEADER_BYTES + message->bytes, elements = DIV_ROUND_UP(bytes, PAGE_SIZE), i;
	u32 *header = shared(gsp, gsp->statuses);

	while (unread(gsp) + elements >= QUEUE_ELEMENTS && !kthread_should_stop())
		usleep_range(100, 200);
	memset((u8 *)message + bytes, 0, -bytes & 7);
	memset(message, 0, ELEMENT_HEADER_BYTES);
	message->element_sequence = gsp->sequence++;
	message->elements = elements;
	message->version = HEADER_VERSION;
	message->signature = SIGNATURE;
	message->result = message->private_result = 0;
	message->checksum = checksum(message, bytes);
	for (i = 0; i < elements; i++) {
		memcpy(element(gsp, gsp->statuses, gsp->write), (u8 *)message + i * PAGE_SIZE, PAGE_SIZE);
		gsp->write = (gsp->write + 1) % QUEUE_ELEMENTS;
	}
	smp_store_release(&header[TX_WRITE], gsp->write);
}

static void send_event(struct gsp *gsp, u32 event, u32 bytes)
{
	struct message *message = gsp->message;

	message->function = event;
	message->bytes = SIZE_rpc_message_header_v + bytes;
	message->sequence = message->spare = 0;
	send(gsp);
}

static void set_pending(struct gsp *gsp, bool pending)
{
	u32 vector = gsp->vector;
	u32 leaf = get(gsp, NV_VF_CPU_INTR_LEAF(vector / 32)) & ~BIT(vector % 32);
	u32 top = get(gsp, NV_VF_CPU_INTR_TOP) & ~BIT(vector / 64);

	put(gsp, NV_VF_CPU_INTR_LEAF(vector / 32), leaf | (pending ? BIT(vector % 32) : 0));
	put(gsp, NV_VF_CPU_INTR_TOP, top | (pending ? BIT(vector / 64) : 0));
}

/* In hard interrupt context, where handlers expect to be called. */
static void interrupt(struct irq_work *work)
{
	struct gsp *gsp = container_of(work, struct gsp, irq_work);

	set_pending(gsp, true);
	generic_handle_irq(gsp->gpu->pci->irq);
	if (gsp->vector != GSP_VECTOR)
		set_pending(gsp, false);
}

static void raise(struct gsp *gsp, u32 vector)
{
	gsp->vector = vector;
	irq_work_queue(&gsp->irq_work);
	irq_work_sync(&gsp->irq_work);
}

/* Has the driver serve what lies in our queue; it says so by clearing the interrupt, which we then no longer raise. */
static void notify(struct gsp *gsp)
{
	unsigned long end = jiffies + HZ;

	put(gsp, NV_PGSP_FALCON_IRQSCLR, 0);
	raise(gsp, GSP_VECTOR);
	while (!get(gsp, NV_PGSP_FALCON_IRQSCLR) && time_before(jiffies, end))
		cond_resched();
	set_pending(gsp, false);
	put(gsp, NV_PGSP_FALCON_IRQSCLR, 0);
}

static void send_xid(struct gsp *gsp)
{
	u8 *body = gsp->message->body;
	struct xid xid;
	bool taken;

	mutex_lock(&gsp->lock);
	taken = kfifo_get(&gsp->xids, &xid);
	mutex_unlock(&gsp->lock);
	if (!taken)
		return;
	memset(body, 0, SIZE_rpc_os_error_log_v17_00);
	*(u32 *)(body + OFF_rpc_os_error_log_v17_00__exceptType) = xid.code;
	*(u32 *)(body + OFF_rpc_os_error_log_v17_00__chid) = xid.channel;
	strscpy(body + OFF_rpc_os_error_log_v17_00__errString, xid.text, GSP_TEXT_BYTES);
	send_event(gsp, EVENT_OS_ERROR_LOG, SIZE_rpc_os_error_log_v17_00);
	notify(gsp);
}

/* The words that are not zero, the first of them: offset=value. */
static void log_words(const char *what, const u8 *at, u32 bytes)
{
	char line[400];
	u32 offset, length = 0, value;

	for (offset = 0; offset + sizeof(value) <= bytes && length + 24 < sizeof(line); offset += sizeof(value)) {
		memcpy(&value, at + offset, sizeof(value));
		if (value)
			length += scnprintf(line + length, sizeof(line) - length, " %#x=%#x", offset, value);
	}
	if (length)
		pr_info("fakegpu: %s:%s\n", what, line);
}

static void answer(struct gsp *gsp)
{
	struct message *message = gsp->message;
	u8 *body = message->body;
	u32 function = message->function, command = 0, bytes = 0;

	if (function == FUNCTION_CONTROL) {
		command = *(u32 *)(body + OFF_rpc_gsp_rm_control_v03_00__cmd);
		bytes = *(u32 *)(body + OFF_rpc_gsp_rm_control_v03_00__paramsSize);
		/* What did not fit comes in messages of its own. */
		bytes = min_t(u32, bytes, MESSAGE_BYTES - sizeof(*message) - OFF_rpc_gsp_rm_control_v03_00__params);
	} else if (function == FUNCTION_ALLOC) {
		command = *(u32 *)(body + OFF_rpc_gsp_rm_alloc_v03_00__hClass);
	}
	if (gsp->model.verbose)
		pr_info("fakegpu: GPU %u: function %u, command or class %#x, %u bytes\n",
			gsp->gpu->index, function, command, bytes);
	if (gsp->model.verbose > 1 && function == FUNCTION_CONTROL)
		log_words("asks", body + OFF_rpc_gsp_rm_control_v03_00__params, bytes);
	if (READ_ONCE(gsp->mute)) {
		/* Answered or not, the driver frees the queues after this. */
		if (function == FUNCTION_UNLOADING)
			gsp->state = OFF;
		return;
	}
	/* They want no answer. */
	if (function == FUNCTION_SET_SYSTEM_INFO || function == FUNCTION_SET_REGISTRY)
		return;
	if (function == FUNCTION_STATIC_INFO) {
		gsp_static_info(&gsp->model, body);
	} else if (function == FUNCTION_CONTROL) {
		gsp_control(&gsp->model, command, body + OFF_rpc_gsp_rm_control_v03_00__params, bytes);
		*(u32 *)(body + OFF_rpc_gsp_rm_control_v03_00__status) = 0;
	} else if (function == FUNCTION_ALLOC) {
		*(u32 *)(body + OFF_rpc_gsp_rm_alloc_v03_00__status) = 0;
	}
	send(gsp);
	if (function == FUNCTION_UNLOADING) {
		gsp->state = OFF;
		put(gsp, NV_PGSP_RISCV_CPUCTL, 0);
		put(gsp, NV_PGSP_FALCON_HWCFG2, 0);
		put(gsp, NV_PGSP_FALCON_MAILBOX0, PROCESSOR_SUSPENDED);
	}
}

/* Takes a message from the driver's queue; whether there was one. */
static bool receive(struct gsp *gsp)
{
	u32 *commands = shared(gsp, gsp->commands), *statuses = shared(gsp, gsp->statuses);
	u32 written = smp_load_acquire(&commands[TX_WRITE]), elements, i;
	struct message *message = gsp->message;

	if (gsp->read == written)
		return false;
	memcpy(message, element(gsp, gsp->commands, gsp->read), PAGE_SIZE);
	elements = clamp_t(u32, message->elements, 1, MESSAGE_ELEMENTS);
	for (i = 1; i < elements; i++)
		memcpy((u8 *)message + i * PAGE_SIZE,
		       element(gsp, gsp->commands, (gsp->read + i) % QUEUE_ELEMENTS), PAGE_SIZE);
	gsp->read = (gsp->read + elements) % QUEUE_ELEMENTS;
	smp_store_release(&statuses[RX_READ], gsp->read);
	if (message->signature != SIGNATURE || message->bytes > MESSAGE_BYTES - ELEMENT_HEADER_BYTES) {
		pr_err("fakegpu: GPU %u was sent no message: %#x\n", gsp->gpu->index, message->signature);
		return true;
	}
	answer(gsp);
	return true;
}

/* Registers that would move or react by themselves. */
static void tick(struct gsp *gsp)
{
	u64 now = ktime_get_real_ns();
	u32 value = get(gsp, NV_PGSP_FALCON_ENGINE), trigger;

	put(gsp, NV_VF_TIME_1, now >> 32);
	put(gsp, NV_VF_TIME_0, now & ~31u);
	put(gsp, NV_PTIMER_TIME_1, now >> 32);
	put(gsp, NV_PTIMER_TIME_0, now & ~31u);
	put(gsp, NV_PGSP_FALCON_ENGINE,
	    (value & ~ENGINE_RESET_STATUS) | (value & ENGINE_RESET ? 0 : ENGINE_RESET_DEASSERTED));
	value = get(gsp, NV_VF_MMU_INVALIDATE);
	if (value & INVALIDATE_TRIGGER)
		put(gsp, NV_VF_MMU_INVALIDATE, value & ~INVALIDATE_TRIGGER);
	/* The driver tries whether interrupts come. */
	trigger = get(gsp, NV_VF_CPU_INTR_LEAF_TRIGGER);
	if (trigger) {
		put(gsp, NV_VF_CPU_INTR_LEAF_TRIGGER, 0);
		raise(gsp, trigger & 0xfff);
	}
}

static int run(void *data)
{
	struct gsp *gsp = data;
	u64 awake_until = 0;

	while (!kthread_should_stop()) {
		if (ktime_get_ns() < awake_until)
			cond_resched();
		else
			usleep_range(20, 50);
		/* Nothing reacts of a GPU that is gone. */
		if (get(gsp, NV_PMC_BOOT_0) != gsp->gpu->model.boot0)
			continue;
		tick(gsp);
		if (get(gsp, NV_PGSP_RISCV_CPUCTL) & CPUCTL_START) {
			gsp->state = boot(gsp) ? STARTED : OFF;
			if (gsp->state == OFF)
				put(gsp, NV_PGSP_RISCV_CPUCTL, 0);
		}
		if (gsp->state == OFF)
			continue;
		if (receive(gsp)) {
			awake_until = ktime_get_ns() + AWAKE_NS;
			continue;
		}
		if (gsp->state == STARTED) {
			send_event(gsp, EVENT_INIT_DONE, 0);
			gsp->state = RUNS;
		} else if (!READ_ONCE(gsp->mute)) {
			send_xid(gsp);
		}
	}
	return 0;
}

int gsp_start(struct fakegpu *gpu)
{
	struct gsp *gsp = kzalloc(sizeof(*gsp), GFP_KERNEL);
	int error;

	if (!gsp)
		return -ENOMEM;
	mutex_init(&gsp->lock);
	init_irq_work(&gsp->irq_work, interrupt);
	xa_init(&gsp->model.memory);
	gsp->gpu = gpu;
	gsp->model.index = gpu->index;
	gsp->model.pci = gpu->pci;
	gsp->model.device = gpu->model.device;
	gsp->model.subsystem = gpu->model.subsystem;
	gsp->model.bar1_mib = gpu->bar1_bytes / SZ_1M;
	gsp->model.nvlinks = gpu->model.nvlinks;
	gsp->model.readings = (struct gsp_readings){ .temperature = 35, .power = 70000, .power_limit = 700000,
		.clock_graphics = 345, .clock_memory = 2619, .slowdown_limit = 87, .shutdown_limit = 92,
		.nvlink_active = BIT(gpu->model.nvlinks) - 1 };
	gsp->message = kzalloc(MESSAGE_BYTES, GFP_KERNEL);
	error = gsp->message ? kfifo_alloc(&gsp->xids, 64, GFP_KERNEL) : -ENOMEM;
	if (error)
		goto out;
	/* The processor that starts this one has started. */
	put(gsp, NV_THERM_I2CS_SCRATCH, FSP_BOOT_COMPLETE);
	gsp->task = kthread_run(run, gsp, "fakegpu/%u", gpu->index);
	if (IS_ERR(gsp->task)) {
		error = PTR_ERR(gsp->task);
		kfifo_free(&gsp->xids);
		goto out;
	}
	gpu->gsp = gsp;
	return 0;
out:
	kfree(gsp->message);
	kfree(gsp);
	return error;
}

void gsp_stop(struct fakegpu *gpu)
{
	struct gsp *gsp = gpu->gsp;

	if (!gsp)
		return;
	kthread_stop(gsp->task);
	gsp_forget_memory(&gsp->model);
	kfifo_free(&gsp->xids);
	kfree(gsp->message);
	kfree(gsp);
	gpu->gsp = NULL;
}

struct gsp_readings *gsp_readings(struct gsp *gsp)
{
	return &gsp->model.readings;
}

void gsp_mute(struct gsp *gsp, bool mute)
{
	WRITE_ONCE(gsp->mute, mute);
}

void gsp_verbose(struct gsp *gsp, u32 verbose)
{
	WRITE_ONCE(gsp->model.verbose, verbose);
}

int gsp_patch(struct gsp *gsp, const struct gsp_patch *patch)
{
	struct gsp_model *model = &gsp->model;
	int error = 0;

	mutex_lock(&gsp->lock);
	if (model->patch_count < GSP_PATCHES) {
		model->patches[model->patch_count] = *patch;
		/* The thread reads up to the count. */
		smp_store_release(&model->patch_count, model->patch_count + 1);
	} else {
		error = -ENOSPC;
	}
	mutex_unlock(&gsp->lock);
	return error;
}

void gsp_forget_patches(struct gsp *gsp)
{
	mutex_lock(&gsp->lock);
	WRITE_ONCE(gsp->model.patch_count, 0);
	mutex_unlock(&gsp->lock);
}

int gsp_xid(struct gsp *gsp, u32 code, u32 channel, const char *text)
{
	struct xid xid = { .code = code, .channel = channel };
	int put;

	if (READ_ONCE(gsp->state) != RUNS)
		return -ENODEV;
	strscpy(xid.text, text, sizeof(xid.text));
	mutex_lock(&gsp->lock);
	put = kfifo_put(&gsp->xids, xid);
	mutex_unlock(&gsp->lock);
	return put ? 0 : -EBUSY;
}
