// SPDX-License-Identifier: MIT OR GPL-2.0
/* The lines of /proc/nvidia-stub/control. */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "nv-stub.h"

/* The next word, or NULL; `*rest` is what follows it. */
static char *word(char **rest)
{
	char *at = *rest = skip_spaces(*rest);

	if (!*at)
		return NULL;
	while (**rest && !isspace(**rest))
		(*rest)++;
	if (**rest)
		*(*rest)++ = '\0';
	return at;
}

static int fail(const char *what, const char *wanted)
{
	pr_err("nvidia-stub: control: %s: say '%s'\n", what, wanted);
	return -EINVAL;
}

/* A number in decimal or 0x hexadecimal. */
static int number(char **rest, u32 *value)
{
	char *text = word(rest);

	return text ? kstrtou32(text, 0, value) : -EINVAL;
}

/* How often, at the end of a line. -EINVAL for 0, or for more on the line. */
static int count(char **rest, s64 otherwise, s64 *value)
{
	char *text = word(rest);

	*value = otherwise;
	if (text && (kstrtos64(text, 0, value) || *value < 1))
		return -EINVAL;
	return *skip_spaces(*rest) ? -EINVAL : 0;
}

static bool is_clear(char **rest)
{
	char *at = skip_spaces(*rest);

	return !strcmp(at, "clear");
}

static int status_line(char *rest)
{
	u32 code, status;
	s64 times;

	if (is_clear(&rest)) {
		nv_inject_clear_status();
		return 0;
	}
	if (number(&rest, &code) || number(&rest, &status) || count(&rest, S64_MAX, &times))
		return fail("status: bad arguments", "status CODE STATUS [COUNT]' or 'status clear");
	return nv_inject_status(code, status, times);
}

static int delay_line(char *rest)
{
	u32 nr, us;
	s64 times;

	if (is_clear(&rest)) {
		nv_inject_clear_delay();
		return 0;
	}
	if (number(&rest, &nr) || number(&rest, &us) || count(&rest, S64_MAX, &times))
		return fail("delay: bad arguments", "delay NR MICROSECONDS [COUNT]' or 'delay clear");
	return nv_inject_delay(nr, us, times);
}

static int hang_line(char *rest)
{
	u32 seconds;
	s64 times;

	if (is_clear(&rest)) {
		nv_inject_clear_hang();
		return 0;
	}
	if (number(&rest, &seconds) || count(&rest, 1, &times))
		return fail("hang: bad arguments", "hang SECONDS [COUNT]' or 'hang clear");
	return nv_inject_hang(seconds, times);
}

static struct nv_gpu *gpu_of(char **rest)
{
	u32 index;

	if (number(rest, &index))
		return NULL;
	return nv_gpu_get(index);
}

/* Takes `key=value` or `key="some value"` off the front of a text; NULL if another text stands there. */
static char *option(char **rest, const char *key)
{
	size_t len = strlen(key);
	char *at = skip_spaces(*rest);
	char *end;

	if (strncmp(at, key, len) || at[len] != '=')
		return NULL;
	at += len + 1;
	if (*at != '"') {
		*rest = at;
		return word(rest);
	}
	end = strchr(++at, '"');
	if (!end)
		return NULL;
	*end = '\0';
	*rest = end + 1;
	return at;
}

static int mig_instance(const char *text, int *value)
{
	return kstrtoint(text, 10, value) || *value < 0 || *value > 99 ? -EINVAL : 0;
}

static int process_of(const char *pid, struct nv_xid *xid)
{
	xid->has_process = true;
	if (!strcmp(pid, "self")) {
		xid->pid = task_tgid_nr(current);
		if (!xid->name)
			xid->name = current->comm;
		return 0;
	}
	return kstrtou32(pid, 10, &xid->pid);
}

/* Reads what stands between an Xid's code and its text. */
static int xid_options(char **rest, struct nv_xid *xid)
{
	char *pid = NULL;
	char *value;

	for (;;) {
		*rest = skip_spaces(*rest);
		if ((value = option(rest, "pid"))) {
			pid = value;
		} else if ((value = option(rest, "name"))) {
			xid->name = value;
		} else if ((value = option(rest, "gi"))) {
			if (mig_instance(value, &xid->gi))
				return -EINVAL;
		} else if ((value = option(rest, "ci"))) {
			if (mig_instance(value, &xid->ci))
				return -EINVAL;
		} else if (!strncmp(*rest, "pieces ", 7)) {
			xid->pieces = true;
			*rest += 7;
		} else {
			break;
		}
	}
	if (pid && process_of(pid, xid))
		return -EINVAL;
	if (!pid != !xid->name || (xid->ci >= 0 && xid->gi < 0) ||
	    (xid->name && strlen(xid->name) > 100))
		return -EINVAL;
	return 0;
}

static int xid_line(char *rest)
{
	static const char wanted[] =
		"xid GPU CODE [pid=N name=S|pid=self] [gi=N [ci=N]] [pieces] TEXT";
	struct nv_xid xid = { .gi = -1, .ci = -1 };
	struct nv_gpu *gpu = gpu_of(&rest);

	if (!gpu)
		return fail("xid: no such GPU", wanted);
	if (number(&rest, &xid.code) || xid_options(&rest, &xid))
		return fail("xid: bad arguments", wanted);
	xid.text = rest;
	if (!*rest)
		return fail("xid: no text", wanted);
	nv_log_xid(gpu, &xid);
	return 0;
}

static int sxid_line(char *rest)
{
	static const char wanted[] = "sxid DDDD:BB:SS.F CODE fatal|non-fatal TEXT";
	char *address = word(&rest);
	char *severity;
	u32 code;

	if (!address || number(&rest, &code) || !(severity = word(&rest)))
		return fail("sxid: bad arguments", wanted);
	if (strcasecmp(severity, "fatal") && strcasecmp(severity, "non-fatal"))
		return fail("sxid: bad severity", wanted);
	rest = skip_spaces(rest);
	if (!*rest)
		return fail("sxid: no text", wanted);
	if (nv_log_sxid(address, code, !strcasecmp(severity, "fatal"), rest))
		return fail("sxid: bad address", wanted);
	return 0;
}

static int reset_line(char *rest)
{
	if (*skip_spaces(rest))
		return fail("reset: more on the line", "reset");
	nv_counters_reset();
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char *rest);
} commands[] = {
	{ "status", status_line }, { "delay", delay_line }, { "hang", hang_line },
	{ "xid", xid_line }, { "sxid", sxid_line }, { "reset", reset_line },
};

/* Obeys a line, which it takes apart. -EINVAL, and a line in the kernel log, for one it does not know. */
int nv_control_line(char *line)
{
	char *rest = strim(line);
	char *name = word(&rest);
	unsigned int i;

	if (!name)
		return 0;
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run(rest);
	return fail(name, "status, delay, hang, xid, sxid or reset");
}
