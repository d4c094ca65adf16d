// What is reported about the devices, and work on each of them, as CUDA_VISIBLE_DEVICES lets this process see.
#include "common.h"

// Attributes that say what the device does with the host's memory and with other processes and devices: through
// the network it does none of it. CAN_MAP_HOST_MEMORY, MANAGED_MEMORY, HOST_NATIVE_ATOMIC_SUPPORTED,
// PAGEABLE_MEMORY_ACCESS, CONCURRENT_MANAGED_ACCESS, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
// HOST_REGISTER_SUPPORTED, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST,
// HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, READ_ONLY_HOST_REGISTER_SUPPORTED, GPU_DIRECT_RDMA_SUPPORTED,
// DMA_BUF_SUPPORTED, IPC_EVENT_SUPPORTED.
static const int of_the_host[] = {19, 83, 86, 88, 89, 91, 99, 100, 101, 103, 113, 116, 124, 125};

// Attributes of what is not forwarded, which a real device may have: SPARSE_CUDA_ARRAY_SUPPORTED,
// MEMPOOL_SUPPORTED_HANDLE_TYPES, HANDLE_TYPE_FABRIC_SUPPORTED, MULTICAST_SUPPORTED, MEM_DECOMPRESS_ALGORITHM_MASK,
// MEM_DECOMPRESS_MAXIMUM_LENGTH, VULKAN_CIG_SUPPORTED.
static const int not_forwarded[] = {112, 119, 128, 132, 136, 137, 138};

#define IS_AMONG(attribute, list) is_among(attribute, list, sizeof list / sizeof *list)
static int is_among(int attribute, const int *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == attribute)
            return 1;
    return 0;
}

static int is_left_out(int attribute) {
    return IS_AMONG(attribute, of_the_host) || (is_real() && IS_AMONG(attribute, not_forwarded));
}

int main(void) {
    CUresult started = cuInit(0);
    if (started == CUDA_ERROR_NO_DEVICE) {
        printf("no device\n");
        return 0;
    }
    CHECK(started);
    int version, count;
    CHECK(cuDriverGetVersion(&version));
    CHECK(cuDeviceGetCount(&count));
    printf("driver %d, devices %d\n", version, count);
    CUdeviceptr first = 0;
    CUcontext contexts[16] = {0};
    for (int ordinal = 0; ordinal < count && ordinal < 16; ordinal++) {
        CUdevice device, again;
        char name[100], bus[32];
        CUuuid uuid;
        size_t total, available, all;
        CHECK(cuDeviceGet(&device, ordinal));
        CHECK(cuDeviceGetName(name, sizeof name, device));
        CHECK(cuDeviceGetUuid(&uuid, device));
        CHECK(cuDeviceTotalMem(&total, device));
        CHECK(cuDeviceGetPCIBusId(bus, sizeof bus, device));
        CHECK(cuDeviceGetByPCIBusId(&again, bus));
        REQUIRE(again == device, "%s is device %d, not %d", bus, again, device);
        printf("%d: %s at %s, %zu bytes, uuid ", ordinal, name, bus, total);
        for (int i = 0; i < 16; i++)
            printf("%02x", uuid.bytes[i]);
        printf("\n");
        char cut[5];
        CHECK(cuDeviceGetName(cut, sizeof cut, device));
        REQUIRE(memcmp(cut, name, 4) == 0 && cut[4] == 0, "a short name is %s", cut);
        uint64_t hash = 0;
        for (int attribute = 1; attribute < 150; attribute++) {
            if (is_left_out(attribute))
                continue;
            int value = -1;
            CUresult result = cuDeviceGetAttribute(&value, attribute, device);
            int both[] = {attribute, result, result == CUDA_SUCCESS ? value : 0};
            hash = hash * 31 + digest(both, sizeof both);
            // Where they differ it is to be seen which.
            if (is_real())
                printf("   attribute %d: %d %d\n", both[0], both[1], both[2]);
        }
        printf("   attributes %016llx\n", (unsigned long long)hash);

        CHECK(cuDevicePrimaryCtxRetain(&contexts[ordinal], device));
        CHECK(cuCtxSetCurrent(contexts[ordinal]));
        CHECK(cuCtxGetDevice(&again));
        REQUIRE(again == device, "the context is of device %d", again);
        CHECK(cuMemGetInfo(&available, &all));
        REQUIRE(all == total && available <= all, "%zu of %zu bytes", available, all);
        CUmodule module = module_of("memory");
        CUdeviceptr output = allocate(4 * sizeof(unsigned));
        CHECK(LAUNCH(function_of(module, "globals"), 1, 4, NULL, &output));
        unsigned back[4];
        CHECK(cuMemcpyDtoH(back, output, sizeof back));
        REQUIRE(back[0] == 5 && back[3] == 10, "the kernel gave %u and %u", back[0], back[3]);
        int of = -1;
        CHECK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, output));
        REQUIRE(of == ordinal, "the memory is device %d's", of);
        if (ordinal == 0)
            first = output;
        else {
            CHECK(cuMemsetD32(output, 77u + (unsigned)ordinal, 4));
            CHECK(cuMemcpyPeer(first, contexts[0], output, contexts[ordinal], sizeof back));
            CHECK(cuMemcpyDtoH(back, first, sizeof back));
            REQUIRE(back[2] == 77u + (unsigned)ordinal, "the copy between devices gave %u", back[2]);
            printf("   copied to device 0: %u\n", back[2]);
            CHECK(cuMemFree(output));
        }
    }
    CUdevice none;
    SHOW(cuDeviceGet(&none, count));
    for (int ordinal = 0; ordinal < count && ordinal < 16; ordinal++)
        CHECK(cuDevicePrimaryCtxRelease(ordinal));
    return 0;
}
