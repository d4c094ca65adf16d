// Two processes with one piece of physical memory: one takes it and sends a file descriptor of it over a Unix socket, as
// NCCL and PyTorch's segments do; the other maps it, and both see what either writes.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { FILE_DESCRIPTOR = 1 };

static void send_descriptor(int to, int fd) {
    char byte = 1, space[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    REQUIRE(sendmsg(to, &message, 0) == 1, "the other process is gone");
}

static int receive_descriptor(int from) {
    int fd = -1;
    char byte, space[CMSG_SPACE(sizeof fd)];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    REQUIRE(recvmsg(from, &message, 0) == 1 && CMSG_FIRSTHDR(&message), "the other process is gone");
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static CUmemAllocationProp properties(void) {
    CUmemAllocationProp wanted = {.kind = 1, .handle_types = FILE_DESCRIPTOR};
    wanted.location.kind = 1;
    return wanted;
}

// Memory at an address of its own, for this process.
static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t size) {
    CUdeviceptr address;
    CUmemAccessDesc access = {{1, 0}, 3};
    CHECK(cuMemAddressReserve(&address, size, 0, 0, 0));
    CHECK(cuMemMap(address, size, 0, handle, 0));
    CHECK(cuMemSetAccess(address, size, &access, 1));
    return address;
}

static void unmap(CUdeviceptr address, size_t size) {
    CHECK(cuMemUnmap(address, size));
    CHECK(cuMemAddressFree(address, size));
}

static unsigned word_at(CUdeviceptr address) {
    unsigned word = 0;
    CHECK(cuMemcpyDtoH(&word, address, sizeof word));
    return word;
}

static int other(int socket) {
    size_t size = 0;
    CUcontext context = begin();
    int fd = receive_descriptor(socket);
    REQUIRE(read(socket, &size, sizeof size) == sizeof size, "the other process is gone");
    CUmemGenericAllocationHandle handle;
    CHECK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, FILE_DESCRIPTOR));
    CHECK(close(fd));
    CUdeviceptr address = map(handle, size);
    CHECK(cuMemRelease(handle));
    REQUIRE(word_at(address) == 7, "the first word is %u", word_at(address));
    CHECK(cuMemsetD32(address, 8, 1000));
    CHECK(cuCtxSynchronize());
    char byte = 1;
    REQUIRE(write(socket, &byte, 1) == 1 && read(socket, &byte, 1) == 1, "the other process is gone");
    // The other process has given all up.
    REQUIRE(word_at(address) == 9, "the first word is then %u", word_at(address));
    unmap(address, size);
    CHECK(cuCtxDestroy(context));
    return 0;
}

int main(void) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "no sockets");
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        return other(ends[1]);
    }
    close(ends[1]);
    CUcontext context = begin();
    int can = 0, fd = -1, none = -1;
    CHECK(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 0));
    printf("file descriptors: %d\n", can);
    CUmemAllocationProp wanted = properties(), plain = properties();
    plain.handle_types = 0;
    size_t size = 0;
    CHECK(cuMemGetAllocationGranularity(&size, &wanted, 0));
    CUmemGenericAllocationHandle handle, again, alone;
    CHECK(cuMemCreate(&handle, size, &wanted, 0));
    CHECK(cuMemCreate(&alone, size, &plain, 0));
    CUdeviceptr address = map(handle, size);
    CHECK(cuMemsetD32(address, 7, 1000));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemExportToShareableHandle(&fd, handle, FILE_DESCRIPTOR, 0));
    REQUIRE(fd > 2, "the descriptor is %d", fd);
    // In the same process too.
    CHECK(cuMemImportFromShareableHandle(&again, (void *)(intptr_t)fd, FILE_DESCRIPTOR));
    CUdeviceptr twice = map(again, size);
    printf("in the same process: %u\n", word_at(twice));
    unmap(twice, size);
    CHECK(cuMemRelease(again));
    send_descriptor(ends[0], fd);
    REQUIRE(write(ends[0], &size, sizeof size) == sizeof size, "the other process is gone");
    close(fd);
    char byte;
    REQUIRE(read(ends[0], &byte, 1) == 1, "the other process is gone");
    printf("from the other process: %u\n", word_at(address));
    CHECK(cuMemsetD32(address, 9, 1));
    CHECK(cuCtxSynchronize());
    unmap(address, size);
    CHECK(cuMemRelease(handle));
    REQUIRE(write(ends[0], &byte, 1) == 1, "the other process is gone");
    int status = -1;
    waitpid(child, &status, 0);
    printf("it ended with %d\n", status);
    SHOW_STALE(cuMemExportToShareableHandle(&none, handle, FILE_DESCRIPTOR, 0));
    SHOW(cuMemExportToShareableHandle(&none, alone, FILE_DESCRIPTOR, 0));
    SHOW(cuMemExportToShareableHandle(&none, alone, 8, 0));
    SHOW(cuMemImportFromShareableHandle(&again, (void *)(intptr_t)ends[0], FILE_DESCRIPTOR));
    CHECK(cuMemRelease(alone));
    CHECK(cuCtxDestroy(context));
    return 0;
}
