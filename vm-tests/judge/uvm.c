// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Makes each call that nvidia-uvm serves, with wrong arguments: before the descriptor is initialised and after it, all
 * bytes 0 and all bytes 0xff. Writes each down as judge.c does, with the call's name, in the file that JUDGE_OUT names:
 *
 *   THREAD DEVICE REQUEST CODE STATUS RETURNED MICROSECONDS NAME
 *
 * It is compiled with the headers of the driver that it calls, which say where the status stands; calls.h has a line
 * CALL(NAME) for each call that the driver's sources serve. Nothing of this is taken from gtrace: a mistake there must not
 * be repeated here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "uvm_linux_ioctl.h"

static const struct call {
	const char *name;
	unsigned int request, size, status;
} CALLS[] = {
#define CALL(name) { #name, name, sizeof(name##_PARAMS), offsetof(name##_PARAMS, rmStatus) },
#include "calls.h"
};

static FILE *out;

static long micros(const struct timespec *begin, const struct timespec *end)
{
	return (end->tv_sec - begin->tv_sec) * 1000000L + (end->tv_nsec - begin->tv_nsec) / 1000;
}

/* By the system call itself: what is loaded before other libraries must not write it down once more. */
static void call(int uvm, const struct call *what, int filled)
{
	static _Alignas(16) char parameters[16384];
	struct timespec begin, end;
	unsigned int status;
	char text[16] = "-";

	if (what->size > sizeof(parameters))
		abort();
	memset(parameters, filled, what->size);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	long returned = syscall(SYS_ioctl, uvm, what->request, parameters);
	int error = returned < 0 ? errno : 0;
	clock_gettime(CLOCK_MONOTONIC, &end);
	memcpy(&status, parameters + what->status, sizeof(status));
	if (!error)
		snprintf(text, sizeof(text), "0x%x", status);
	fprintf(out, "%ld nvidia-uvm 0x%x - %s %d %ld %s\n", syscall(SYS_gettid), what->request, text, -error,
		micros(&begin, &end), what->name);
}

static const struct call *find(const char *name)
{
	for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++)
		if (!strcmp(CALLS[i].name, name))
			return &CALLS[i];
	abort();
}

static void all(int uvm, int filled)
{
	/* The first call on a descriptor says what it is good for: these two are made by themselves. */
	for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++)
		if (strcmp(CALLS[i].name, "UVM_INITIALIZE") && strncmp(CALLS[i].name, "UVM_TOOLS_INIT_EVENT_TRACKER", 28))
			call(uvm, &CALLS[i], filled);
}

int main(void)
{
	const char *path = getenv("JUDGE_OUT");
	int fresh = open("/dev/nvidia-uvm", O_RDWR), whole = open("/dev/nvidia-uvm", O_RDWR);

	out = path ? fopen(path, "a") : NULL;
	if (!out || fresh < 0 || whole < 0) {
		perror("JUDGE_OUT, /dev/nvidia-uvm");
		return 1;
	}
	all(fresh, 0);
	call(fresh, find("UVM_INITIALIZE"), 0xff);
	call(whole, find("UVM_INITIALIZE"), 0);
	all(whole, 0);
	all(whole, 0xff);
	return fclose(out) ? 1 : 0;
}
