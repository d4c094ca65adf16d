// SPDX-License-Identifier: GPL-2.0
/* Lines that change what a function reads as, and what is answered: README.md lists them. */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "fakegpu.h"
#include "gsp.h"

static struct dentry *dir;

#define READING(name)	{ #name, offsetof(struct gsp_readings, name) }

/* Names of `reading`. */
static const struct {
	const char *name;
	size_t offset;
} readings[] = {
	READING(temperature),
	READING(gpu_utilization),
	READING(memory_utilization),
	READING(performance_state),
	READING(ecc_corrected),
	READING(ecc_uncorrected),
	READING(remapped_correctable),
	READING(remapped_uncorrectable),
	READING(remap_pending),
	READING(pcie_replays),
	READING(power),
	READING(power_limit),
	READING(clock_graphics),
	READING(clock_memory),
	READING(throttle_reasons),
	READING(violation_power),
	READING(violation_reliability),
	READING(violation_board_limit),
	READING(violation_low_utilization),
	READING(violation_sync_boost),
	READING(pcie_sent),
	READING(pcie_received),
	READING(slowdown_limit),
	READING(shutdown_limit),
	READING(mig_mode),
	READING(nvlink_active),
	READING(nvlink_replays),
	READING(nvlink_recoveries),
	READING(nvlink_crc),
};

static int set_reading(struct gsp *gsp, const char *name, u32 value)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(readings); i++) {
		if (strcmp(readings[i].name, name))
			continue;
		WRITE_ONCE(*(u32 *)((u8 *)gsp_readings(gsp) + readings[i].offset), value);
		return 0;
	}
	return -EINVAL;
}

/* `answer COMMAND OFFSET VALUE [WORDS STEP]`: each word STEP more than the one before it. */
static int add_patch(struct gsp *gsp, const char *line)
{
	struct gsp_patch patch = { .words = 1 };
	int fields = sscanf(line, "answer %i %i %i %i %i", &patch.command, &patch.offset, &patch.value, &patch.words,
			    &patch.step);

	if ((fields != 3 && fields != 5) || patch.offset % 4 || patch.offset > SZ_1M || patch.words > SZ_64K)
		return -EINVAL;
	return gsp_patch(gsp, &patch);
}

/* Lines for a GPU that answers. */
static int obey_gsp(struct gsp *gsp, const char *line)
{
	char name[32];
	u32 value, channel = ~0;
	int text = 0;

	if (sscanf(line, "reading %31s %i", name, &value) == 2)
		return set_reading(gsp, name, value);
	if (sscanf(line, "mute %i", &value) == 1) {
		gsp_mute(gsp, value);
		return 0;
	}
	if (sscanf(line, "verbose %i", &value) == 1) {
		gsp_verbose(gsp, value);
		return 0;
	}
	if (str_has_prefix(line, "answer "))
		return add_patch(gsp, line);
	if (!strcmp(line, "forget")) {
		gsp_forget_patches(gsp);
		return 0;
	}
	if ((sscanf(line, "xid %i channel %i %n", &value, &channel, &text) == 2 ||
	     sscanf(line, "xid %i %n", &value, &text) == 1) && line[text])
		return gsp_xid(gsp, value, channel, line + text);
	return -EINVAL;
}

static int obey(const char *line)
{
	struct fakegpu *gpu = fakegpus;
	u32 offset, value, at;
	int rest = 0;

	if (sscanf(line, "gpu %i %n", &value, &rest) == 1) {
		if (value >= fakegpu_count)
			return -EINVAL;
		gpu += value;
		line += rest;
	}
	if (sscanf(line, "poke %i %i", &offset, &value) == 2) {
		if (offset % 4 || offset >= FAKEGPU_BAR0_BYTES)
			return -EINVAL;
		writel(value, gpu->registers + offset);
	} else if (sscanf(line, "fill32 %i", &value) == 1) {
		for (at = 0; at < FAKEGPU_BAR0_BYTES; at += 4)
			writel(value, gpu->registers + at);
	} else if (sscanf(line, "fill %i", &value) == 1) {
		memset_io(gpu->registers, value, FAKEGPU_BAR0_BYTES);
	} else if (sscanf(line, "cfg %i %i", &offset, &value) == 2) {
		if (offset % 4 || offset >= FAKEGPU_CONFIG_BYTES)
			return -EINVAL;
		memcpy(gpu->config + offset, &value, sizeof(value));
	} else if (sscanf(line, "dead %i", &value) == 1) {
		WRITE_ONCE(gpu->dead, value);
	} else {
		return gpu->gsp ? obey_gsp(gpu->gsp, line) : -EINVAL;
	}
	return 0;
}

static ssize_t control_write(struct file *file, const char __user *user, size_t bytes, loff_t *position)
{
	char *text, *rest, *line;
	ssize_t result = bytes;

	if (bytes > PAGE_SIZE)
		return -E2BIG;
	text = memdup_user_nul(user, bytes);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		int error = *line ? obey(line) : 0;

		if (error) {
			pr_err("fakegpu: \"%s\" is no command, or not now: %d\n", line, error);
			result = error;
			break;
		}
	}
	kfree(text);
	return result;
}

static const struct file_operations control_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = control_write,
};

int fakegpu_control_start(void)
{
	dir = debugfs_create_dir("fakegpu", NULL);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	debugfs_create_file("control", 0200, dir, NULL, &control_operations);
	return 0;
}

void fakegpu_control_stop(void)
{
	debugfs_remove(dir);
}
