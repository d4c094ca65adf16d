// SPDX-License-Identifier: MIT OR GPL-2.0
/* Failures, delays and hangs that tests ask for. */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "nv-stub.h"

#define MAX_RULES	64
#define MAX_DELAY_US	60000000
#define MAX_HANG_S	3600

/* `value` for the next `left` calls with the number `key`; S64_MAX: for all. */
struct rule {
	u32 key;
	u32 value;
	s64 left;
};

struct rules {
	const char *what;
	unsigned int count;
	struct rule rule[MAX_RULES];
};

static DEFINE_SPINLOCK(lock);
static struct rules statuses = { .what = "status" };
static struct rules delays = { .what = "delay" };
static s64 hangs_left;
static u32 hang_seconds;
static unsigned int hang_round;
static DECLARE_WAIT_QUEUE_HEAD(hang_end);

/* Sets the rule of a number anew: the last word counts. */
static int set(struct rules *rules, u32 key, u32 value, s64 count)
{
	unsigned int i;
	int err = 0;

	spin_lock(&lock);
	for (i = 0; i < rules->count && rules->rule[i].key != key; i++)
		;
	if (i == MAX_RULES) {
		err = -EINVAL;
	} else {
		rules->rule[i] = (struct rule){ .key = key, .value = value, .left = count };
		if (i == rules->count)
			WRITE_ONCE(rules->count, i + 1);
	}
	spin_unlock(&lock);
	if (err)
		pr_err("nvidia-stub: more than %d rules of %s: say '%s clear' first\n", MAX_RULES,
		       rules->what, rules->what);
	return err;
}

static bool take(struct rules *rules, u32 key, u32 *value)
{
	bool found = false;
	unsigned int i;

	if (!READ_ONCE(rules->count))
		return false;
	spin_lock(&lock);
	for (i = 0; i < rules->count; i++) {
		struct rule *rule = &rules->rule[i];

		if (rule->key != key)
			continue;
		found = true;
		*value = rule->value;
		if (rule->left != S64_MAX && --rule->left == 0) {
			*rule = rules->rule[rules->count - 1];
			WRITE_ONCE(rules->count, rules->count - 1);
		}
		break;
	}
	spin_unlock(&lock);
	return found;
}

static void clear(struct rules *rules)
{
	spin_lock(&lock);
	WRITE_ONCE(rules->count, 0);
	spin_unlock(&lock);
}

/* The next `count` calls with control command, class or UVM number `code` end with `status`. */
int nv_inject_status(u32 code, u32 status, s64 count)
{
	return set(&statuses, code, status, count);
}

/* The next `count` ioctls with number `nr` take `us` microseconds more. */
int nv_inject_delay(u32 nr, u32 us, s64 count)
{
	if (us > MAX_DELAY_US) {
		pr_err("nvidia-stub: delay of %u us is too long: at most %d\n", us, MAX_DELAY_US);
		return -EINVAL;
	}
	return set(&delays, nr, us, count);
}

/* The next `count` ioctls of any kind sleep `seconds` in the state D. */
int nv_inject_hang(u32 seconds, s64 count)
{
	if (!seconds || seconds > MAX_HANG_S) {
		pr_err("nvidia-stub: hang of %u s is out of range: say 1 to %d\n", seconds, MAX_HANG_S);
		return -EINVAL;
	}
	spin_lock(&lock);
	hang_seconds = seconds;
	WRITE_ONCE(hangs_left, count);
	spin_unlock(&lock);
	return 0;
}

void nv_inject_clear_status(void)
{
	clear(&statuses);
}

void nv_inject_clear_delay(void)
{
	clear(&delays);
}

/* Lets go on what hangs now, too. */
void nv_inject_clear_hang(void)
{
	spin_lock(&lock);
	WRITE_ONCE(hangs_left, 0);
	WRITE_ONCE(hang_round, hang_round + 1);
	spin_unlock(&lock);
	wake_up_all(&hang_end);
}

/* Whether the call with `code` is to fail, and with which status. */
bool nv_stub_take_status(u32 code, u32 *status)
{
	return take(&statuses, code, status) && *status != NV_OK;
}
EXPORT_SYMBOL_GPL(nv_stub_take_status);

static void hang(void)
{
	unsigned int round;
	u32 seconds = 0;

	spin_lock(&lock);
	round = hang_round;
	if (hangs_left > 0) {
		seconds = hang_seconds;
		if (hangs_left != S64_MAX)
			WRITE_ONCE(hangs_left, hangs_left - 1);
	}
	spin_unlock(&lock);
	if (seconds)
		wait_event_timeout(hang_end, READ_ONCE(hang_round) != round,
				   (unsigned long)seconds * HZ);
}

/* Below a millisecond a sleep would be longer than asked for. */
static void spin(u32 us)
{
	ktime_t end = ktime_add_us(ktime_get(), us);

	while (ktime_before(ktime_get(), end)) {
		cpu_relax();
		cond_resched();
	}
}

/* Holds up the ioctl with number `nr` as tests asked for. May sleep. */
void nv_stub_pause(u32 nr)
{
	u32 us;

	if (READ_ONCE(hangs_left))
		hang();
	if (!take(&delays, nr, &us))
		return;
	if (us < 1000)
		spin(us);
	else
		usleep_range(us, us);
}
EXPORT_SYMBOL_GPL(nv_stub_pause);
