// SPDX-License-Identifier: MIT OR GPL-2.0
/* Writes to the kernel log what the driver writes, in the wording of the version that is played. */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "nv-stub.h"

/* MAX_ERROR_STRING of os-interface.c: what is longer is cut. */
#define MAX_LINE	512

/*
 * The driver's own way to log: always KERN_CONT, so that a text without newline stays open for the
 * next one, and has no level of its own.
 */
void nv_printf(const char *format, ...)
{
	static DEFINE_SPINLOCK(lock);
	static char line[MAX_LINE];
	unsigned long flags;
	va_list ap;

	spin_lock_irqsave(&lock, flags);
	va_start(ap, format);
	vscnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	printk(KERN_CONT "%s", line);
	spin_unlock_irqrestore(&lock, flags);
}

__printf(3, 4)
static void report(struct nv_gpu *gpu, u32 code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	nv_report_error(gpu->pdev, code, format, ap);
	va_end(ap);
}

/* `pid=…, name=…, `: where unknown, said so to 560, left out since 570 (kernel_rc.c). */
static void process_part(char *buf, size_t size, const struct nv_xid *xid)
{
	if (xid->has_process)
		snprintf(buf, size, "pid=%u, name=%s, ", xid->pid, xid->name);
	else if (nv_stub_branch() < 570)
		snprintf(buf, size, "pid='<unknown>', name=<unknown>, ");
	else
		buf[0] = '\0';
}

/* Logs an Xid and reports it, in the order of nvErrorLog in journal.c. */
void nv_log_xid(struct nv_gpu *gpu, const struct nv_xid *xid)
{
	char mig[40] = "";
	char process[160];

	if (!test_and_set_bit(0, &gpu->uuid_logged))
		nv_printf("NVRM: GPU at PCI:%04x:%02x:%02x: %s\n", gpu->domain, gpu->bus, gpu->slot,
			  gpu->uuid);
	if (xid->gi >= 0 && xid->ci >= 0)
		snprintf(mig, sizeof(mig), " GPU-I:%02d GPU-CI:%02d", xid->gi, xid->ci);
	else if (xid->gi >= 0)
		snprintf(mig, sizeof(mig), " GPU-I:%02d", xid->gi);
	process_part(process, sizeof(process), xid);

	if (xid->pieces) {
		nv_printf("NVRM: Xid (PCI:%04x:%02x:%02x%s): %u, ", gpu->domain, gpu->bus,
			  gpu->slot, mig, xid->code);
		if (process[0])
			nv_printf("%s", process);
		nv_printf("%s", xid->text);
		nv_printf("\n");
	} else {
		nv_printf("NVRM: Xid (PCI:%04x:%02x:%02x%s): %u, %s%s\n", gpu->domain, gpu->bus,
			  gpu->slot, mig, xid->code, process, xid->text);
	}
	report(gpu, xid->code, "%s", xid->text);
}

/* Number of the NVSwitch at an address: they are numbered as they are first named. */
static int switch_number(u32 address)
{
	static DEFINE_SPINLOCK(lock);
	static u32 known[16];
	static unsigned int count;
	unsigned int i;

	spin_lock(&lock);
	for (i = 0; i < count && known[i] != address; i++)
		;
	if (i == count && count < ARRAY_SIZE(known))
		known[count++] = address;
	spin_unlock(&lock);
	return i < ARRAY_SIZE(known) ? i : -1;
}

/*
 * The three lines of an SXid: NVSWITCH_PRINT_SXID in common_nvswitch.h, and the severity and data
 * that error_nvswitch.c adds. Unlike NVRM's these go out with a level. The data words are the stub's
 * own: the code, then zeroes.
 */
int nv_log_sxid(const char *address, u32 code, bool fatal, const char *text)
{
	const char *link = strstr(text, "Link ");
	unsigned int domain, bus, slot, function;
	unsigned int instance = 0;
	char prefix[64];
	int number;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		return -EINVAL;
	number = switch_number(domain << 16 | bus << 8 | PCI_DEVFN(slot, function));
	if (number < 0) {
		pr_err("nvidia-stub: more than 16 NVSwitches\n");
		return -EINVAL;
	}
	if (link && sscanf(link, "Link %u", &instance) != 1)
		instance = 0;
	snprintf(prefix, sizeof(prefix), "nvidia-nvswitch%d: SXid (PCI:%04x:%02x:%02x.%x): %05u",
		 number, domain, bus, slot, function, code);
	printk(KERN_ERR "%s, %s, %s\n", prefix, fatal ? "Fatal" : "Non-fatal", text);
	printk(KERN_ERR "%s, Severity %d Engine instance %02u Sub-engine instance %02d\n", prefix,
	       fatal, instance, 0);
	printk(KERN_ERR "%s, Data {0x%08x, 0x%08x, 0x%08x, 0x%08x, 0x%08x, 0x%08x, 0x%08x, 0x%08x, 0x%08x}\n",
	       prefix, code, 0, 0, 0, 0, 0, 0, 0, 0);
	return 0;
}
