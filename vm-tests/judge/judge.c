// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Loaded before other libraries (LD_PRELOAD) it writes down each ioctl(2) on a node of the NVIDIA driver, with what
 * the driver answered, as one line of the file that JUDGE_OUT names:
 *
 *   THREAD DEVICE REQUEST CODE STATUS RETURNED MICROSECONDS
 *
 * CODE is the control command, class or function, STATUS what the driver wrote into the structure; `-` where the call has
 * none or was refused. RETURNED is what the system call returned: 0 or a negative errno. A call that is wrapped
 * (NV_ESC_IOCTL_XFER_CMD) is written down as the one that it carries.
 *
 * Where each stands is taken from nvos.h, nv-ioctl.h and uvm_ioctl.h of driver 535, not from gtrace: a mistake there
 * must not be repeated here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NONE (-1)

struct layout {
	unsigned int number, size;
	int code, status;
};

/* Escapes by number and size of their structure. */
static const struct layout ESCAPES[] = {
	{ 0x27, 56, 12, 40 },	/* RM_ALLOC_MEMORY */
	{ 0x29, 16, NONE, 12 },	/* RM_FREE */
	{ 0x2a, 32, 8, 28 },	/* RM_CONTROL */
	{ 0x2b, 32, 12, 28 },	/* RM_ALLOC, NVOS21 */
	{ 0x2b, 48, 12, 40 },	/* RM_ALLOC, NVOS64 */
	{ 0x34, 28, NONE, 24 },	/* RM_DUP_OBJECT */
	{ 0x35, 24, NONE, 20 },	/* RM_SHARE */
	{ 0x4a, 184, 8, 20 },	/* RM_VID_HEAP_CONTROL */
	{ 0x4e, 56, NONE, 40 },	/* RM_MAP_MEMORY */
	{ 206, 16, NONE, 12 },	/* ALLOC_OS_EVENT */
	{ 207, 16, NONE, 12 },	/* FREE_OS_EVENT */
};

/* Calls of nvidia-uvm, by the whole request. */
static const struct layout UVM[] = {
	{ 0x30000001, 0, NONE, 8 },	/* UVM_INITIALIZE */
	{ 23, 0, NONE, 8 },		/* UVM_CREATE_RANGE_GROUP */
	{ 25, 0, NONE, 28 },		/* UVM_REGISTER_GPU_VASPACE */
	{ 34, 0, NONE, 16 },		/* UVM_FREE */
	{ 37, 0, NONE, 36 },		/* UVM_REGISTER_GPU */
	{ 39, 0, NONE, 4 },		/* UVM_PAGEABLE_MEM_ACCESS */
	{ 75, 0, NONE, 4 },		/* UVM_MM_INITIALIZE */
};

static const struct layout *find(const struct layout *all, size_t count, unsigned int number, unsigned int size)
{
	for (size_t i = 0; i < count; i++)
		if (all[i].number == number && all[i].size == size)
			return &all[i];
	return NULL;
}

/* A word of the structure, read as the kernel reads it: the address may be none. */
static int word(const char *at, int offset, uint32_t *value)
{
	struct { const void *base; size_t bytes; } local = { value, 4 }, remote = { at + offset, 4 };

	return syscall(SYS_process_vm_readv, getpid(), &local, 1L, &remote, 1L, 0L) == 4;
}

static void number(char *text, size_t bytes, const char *at, int offset)
{
	uint32_t value;

	if (offset != NONE && word(at, offset, &value))
		snprintf(text, bytes, "0x%x", value);
	else
		snprintf(text, bytes, "-");
}

static void record(const char *line, size_t bytes)
{
	static int out = -1;
	const char *path = getenv("JUDGE_OUT");

	if (out < 0)
		out = syscall(SYS_openat, AT_FDCWD, path ? path : "/dev/null", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (syscall(SYS_write, out, line, bytes) != (long)bytes)
		abort();
}

int ioctl(int fd, unsigned long request, ...)
{
	const struct layout *layout;
	char link[64], path[256] = "", code[16], status[16], line[512];
	struct timespec begin, end;
	unsigned int carried = request, size = (request >> 16) & 0x3fff, wrapped[2];
	const char *at;
	va_list arguments;
	void *argument;
	long returned;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) < 0 || strncmp(path, "/dev/nvidia", 11)) {
		returned = syscall(SYS_ioctl, fd, request, argument);
		return returned;
	}
	at = argument;
	if (strstr(path, "uvm")) {
		layout = find(UVM, sizeof(UVM) / sizeof(UVM[0]), request, 0);
	} else {
		uint32_t low, high;

		if ((request & 0xff) == 211 && word(at, 0, &wrapped[0]) && word(at, 4, &wrapped[1]) &&
		    word(at, 8, &low) && word(at, 12, &high)) {
			size = wrapped[1];
			carried = (request & ~0x3fff00ffu) | size << 16 | wrapped[0];
			at = (const char *)(uintptr_t)((uint64_t)high << 32 | low);
		}
		layout = find(ESCAPES, sizeof(ESCAPES) / sizeof(ESCAPES[0]), carried & 0xff, size);
	}
	/* Before the call, which may overwrite it. */
	number(code, sizeof(code), at, layout ? layout->code : NONE);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	returned = syscall(SYS_ioctl, fd, request, argument);
	int error = returned < 0 ? errno : 0;
	clock_gettime(CLOCK_MONOTONIC, &end);
	number(status, sizeof(status), at, layout && !error ? layout->status : NONE);
	int bytes = snprintf(line, sizeof(line), "%ld %s 0x%x %s %s %d %ld\n", syscall(SYS_gettid), path + strlen("/dev/"),
			     carried, code, status, -error,
			     (end.tv_sec - begin.tv_sec) * 1000000L + (end.tv_nsec - begin.tv_nsec) / 1000);
	record(line, bytes);
	errno = error;
	return returned;
}
