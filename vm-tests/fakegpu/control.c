// SPDX-License-Identifier: GPL-2.0
/* Lines that change what the function reads as: README.md lists them. */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "fakegpu.h"

static void __iomem *registers;
static struct dentry *dir;

static int obey(const char *line)
{
	u32 offset, value, at;

	if (sscanf(line, "poke %i %i", &offset, &value) == 2) {
		if (offset % 4 || offset >= FAKEGPU_BAR0_BYTES)
			return -EINVAL;
		writel(value, registers + offset);
	} else if (sscanf(line, "fill32 %i", &value) == 1) {
		for (at = 0; at < FAKEGPU_BAR0_BYTES; at += 4)
			writel(value, registers + at);
	} else if (sscanf(line, "fill %i", &value) == 1) {
		memset_io(registers, value, FAKEGPU_BAR0_BYTES);
	} else if (sscanf(line, "cfg %i %i", &offset, &value) == 2) {
		if (offset % 4 || offset >= FAKEGPU_CONFIG_BYTES)
			return -EINVAL;
		fakegpu_config_poke(offset, value);
	} else if (sscanf(line, "dead %i", &value) == 1) {
		fakegpu_config_set_dead(value);
	} else {
		return -EINVAL;
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
			pr_err("fakegpu: \"%s\" is no command, or its offset is none\n", line);
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

int fakegpu_control_start(void __iomem *bar0)
{
	registers = bar0;
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
