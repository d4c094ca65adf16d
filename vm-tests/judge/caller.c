// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Calls of the NVIDIA driver 535 that succeed and fail in known ways.
 *
 *   caller cuda       cuInit of NVIDIA's libcuda.so.1, which makes them
 *   caller calls      its own, good ones and bad ones
 *   caller many N     N control calls that succeed
 *   caller modeset N  N calls of nvidia-modeset, which knows none of that number
 *
 * Structures: nvos.h, nv-ioctl.h, uvm_ioctl.h and nvkms-ioctl.h of the driver.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define ESCAPE(number, size) (0xc0000000u | (size) << 16 | 'F' << 8 | (number))

enum { FREE = 0x29, CONTROL = 0x2a, ALLOC = 0x2b, DUP_OBJECT = 0x34, SHARE = 0x35, CHECK_VERSION_STR = 210, XFER = 211 };
/* NV0000_CTRL_CMD_GPU_GET_ATTACHED_IDS' neighbour: GET_PROBED_IDS, 0x80 ids twice. */
enum { GET_PROBED_IDS = 0x214, PROBED_IDS_BYTES = 256 };

static int node, uvm;
static char room[4096];
static uint32_t client;

static void put(void *at, int offset, uint32_t value)
{
	memcpy((char *)at + offset, &value, 4);
}

static void put_address(void *at, int offset, const void *value)
{
	uint64_t address = (uintptr_t)value;

	memcpy((char *)at + offset, &address, 8);
}

static uint32_t get(const void *at, int offset)
{
	uint32_t value;

	memcpy(&value, (const char *)at + offset, 4);
	return value;
}

static void open_nodes(void)
{
	node = open("/dev/nvidiactl", O_RDWR);
	uvm = open("/dev/nvidia-uvm", O_RDWR);
	if (node < 0 || uvm < 0) {
		perror("/dev/nvidiactl, /dev/nvidia-uvm");
		exit(1);
	}
	/* NVOS64 of class NV01_ROOT: a client. */
	char root[48] = { 0 };

	if (ioctl(node, ESCAPE(ALLOC, 48), root) || get(root, 40)) {
		fprintf(stderr, "no client: %#x\n", get(root, 40));
		exit(1);
	}
	client = get(root, 8);
}

/* NVOS54, then the call. */
static uint32_t control(uint32_t object, uint32_t command, const void *parameters, uint32_t bytes)
{
	char call[32] = { 0 };

	put(call, 0, client);
	put(call, 4, object);
	put(call, 8, command);
	put_address(call, 16, parameters);
	put(call, 24, bytes);
	ioctl(node, ESCAPE(CONTROL, 32), call);
	return get(call, 28);
}

/* A call of `size` bytes, handles and words as given. */
static void words(int fd, unsigned long request, const uint32_t *values, int count)
{
	char call[256] = { 0 };

	for (int i = 0; i < count; i++)
		put(call, 4 * i, values[i]);
	ioctl(fd, request, call);
}

#define WORDS(fd, request, ...) do { \
	const uint32_t values[] = { __VA_ARGS__ }; \
	words(fd, request, values, sizeof(values) / 4); \
} while (0)

static void wrapped(void *parameters, uint32_t number, uint32_t bytes)
{
	char call[16] = { 0 };

	put(call, 0, number);
	put(call, 4, bytes);
	put_address(call, 8, parameters);
	ioctl(node, ESCAPE(XFER, 16), call);
}

static int calls(void)
{
	char carried[32] = { 0 }, version[72] = { 0 };

	open_nodes();
	WORDS(node, ESCAPE(ALLOC, 32), 0, 0, 0, 0x41);
	WORDS(node, ESCAPE(ALLOC, 48), client, client, 0xd0, 0x80);
	WORDS(node, ESCAPE(ALLOC, 32), client, client, 0xd1, 0xdead);
	WORDS(node, ESCAPE(ALLOC, 32), 0x1234, 0x1234, 0, 0x80);
	control(client, 0xdeadbeef, NULL, 0);
	control(0x777, 0x20800a01, NULL, 0);
	control(client, 0x101, (void *)8, 40);
	control(client, GET_PROBED_IDS, room, 3);
	control(client, GET_PROBED_IDS, room, PROBED_IDS_BYTES);
	put(carried, 0, client);
	put(carried, 4, client);
	put(carried, 8, GET_PROBED_IDS);
	put_address(carried, 16, room);
	put(carried, 24, PROBED_IDS_BYTES);
	wrapped(carried, CONTROL, 32);
	put(carried, 8, 0xdeadbeef);
	wrapped(carried, CONTROL, 32);
	WORDS(node, ESCAPE(0x27, 56), client, client, 0xd2, 0x3e);
	WORDS(node, ESCAPE(0x4a, 184), client, client, 2);
	WORDS(node, ESCAPE(DUP_OBJECT, 28), client, client, 0xd3, client, 0x99);
	WORDS(node, ESCAPE(SHARE, 24), client, 0x99);
	WORDS(node, ESCAPE(FREE, 16), client, client, 0x99);
	WORDS(node, ESCAPE(0x99, 16), 0);
	WORDS(node, ESCAPE(CONTROL, 8), 0);
	strcpy(version + 8, "570.00.00");
	ioctl(node, ESCAPE(CHECK_VERSION_STR, 72), version);
	ioctl(node, ESCAPE(CONTROL, 32), (void *)16);
	WORDS(node, ESCAPE(FREE, 16), client, 0, client);
	WORDS(uvm, 34, 0);
	WORDS(uvm, 0x30000001, 0);
	WORDS(uvm, 0x30000001, 0);
	WORDS(uvm, 34, 0);
	WORDS(uvm, 37, 0);
	WORDS(uvm, 23, 0);
	WORDS(uvm, 39, 0);
	WORDS(uvm, 9999, 0);
	return 0;
}

static int many(long count)
{
	open_nodes();
	for (long i = 0; i < count; i++)
		if (control(client, GET_PROBED_IDS, room, PROBED_IDS_BYTES)) {
			fprintf(stderr, "call %ld failed\n", i);
			return 1;
		}
	return 0;
}

static int modeset(long count)
{
	/* NvKmsIoctlParams: command, size, address. */
	char call[16] = { 0 };
	int kms = open("/dev/nvidia-modeset", O_RDWR);

	if (kms < 0) {
		perror("/dev/nvidia-modeset");
		return 1;
	}
	put(call, 0, 0xffff);
	for (long i = 0; i < count; i++)
		if (!ioctl(kms, 0xc0106d00u, call)) {
			fprintf(stderr, "call %ld succeeded\n", i);
			return 1;
		}
	return 0;
}

static int cuda(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int) = library ? dlsym(library, "cuInit") : NULL;

	if (!init) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	printf("%d\n", init(0));
	return 0;
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";

	if (!strcmp(what, "cuda"))
		return cuda();
	if (!strcmp(what, "calls"))
		return calls();
	if (!strcmp(what, "many") && count == 3)
		return many(atol(arguments[2]));
	if (!strcmp(what, "modeset") && count == 3)
		return modeset(atol(arguments[2]));
	fprintf(stderr, "usage: caller cuda | calls | many N | modeset N\n");
	return 2;
}
