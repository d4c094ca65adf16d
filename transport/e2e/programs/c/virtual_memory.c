// Addresses and pages managed apart, as allocators use them whose blocks grow: a large range of addresses, pages
// mapped side by side, used across their borders, taken away and mapped again elsewhere.
#include "common.h"
#include "managed.h"

// Whether something is mapped at an address, and the range that is reserved, whatever is mapped there.
static void show_mapping(CUdeviceptr address, CUdeviceptr base, size_t size) {
    unsigned char mapped = 9;
    CUdeviceptr start = 0;
    size_t reserved = 0;
    CHECK(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, address));
    CHECK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address));
    CHECK(cuPointerGetAttribute(&reserved, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address));
    REQUIRE(start == base && reserved == size, "a range of %zu bytes, not %zu", reserved, size);
    printf("mapped: %d\n", mapped);
}

int main(void) {
    CUcontext context = begin();
    CUmodule module = managed_module();
    CUfunction add_each = function_of(module, "add_each");
    int has = 0;
    CHECK(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    CUmemAllocationProp prop = {.kind = 1, .location = {1, 0}};
    size_t unit = 0, free_before, free_now, total;
    CHECK(cuMemGetAllocationGranularity(&unit, &prop, 0));
    REQUIRE(has == 1 && unit >= 4096 && (unit & (unit - 1)) == 0, "granularity %zu", unit);
    CHECK(cuMemGetInfo(&free_before, &total));

    CUdeviceptr base, other;
    CHECK(cuMemAddressReserve(&base, 64 * unit, 0, 0, 0));
    CHECK(cuMemAddressReserve(&other, 8 * unit, 16 * unit, 0, 0));
    printf("reserved: aligned %d and %d\n", base % unit == 0, other % (16 * unit) == 0);
    CUmemGenericAllocationHandle pages[3], again;
    for (int i = 0; i < 3; i++) {
        CHECK(cuMemCreate(&pages[i], 2 * unit, &prop, 0));
        CHECK(cuMemMap(base + 2 * (size_t)i * unit, 2 * unit, 0, pages[i], 0));
    }
    CHECK(cuMemGetInfo(&free_now, &total));
    if (!is_real())
        printf("created takes %zu units\n", (free_before - free_now) / unit);
    if (!is_real()) // Mapped where nobody may use it yet.
        show_mapping(base + 3 * unit, base, 64 * unit);
    SHOW_STALE_SOON(cuMemsetD8(base, 1, 100));
    CUmemAccessDesc access = {{1, 0}, 3};
    CHECK(cuMemSetAccess(base, 6 * unit, &access, 1));
    uint64_t flags = 7;
    CHECK(cuMemGetAccess(&flags, &access.location, base + unit));
    printf("access %llu\n", (unsigned long long)flags);

    // Across the borders.
    unsigned count = (unsigned)(6 * unit / 4), value = 3;
    CHECK(cuMemsetD32(base, 40, count));
    CUdeviceptr inner = base + 2 * unit - 4000;
    unsigned some = 2000;
    CHECK(LAUNCH(add_each, (some + 127) / 128, 128, NULL, &inner, &some, &value));
    unsigned *host = malloc(6 * unit);
    CHECK(cuMemcpyDtoH(host, base, 6 * unit));
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += host[i];
    printf("sum %llu\n", (unsigned long long)(sum - 40ull * count));
    CUdeviceptr start;
    size_t size;
    SHOW_STALE(cuMemGetAddressRange(&start, &size, base + 3 * unit));
    if (!is_real()) { // What a driver says of addresses where nothing is mapped is not documented.
        show_mapping(base + 3 * unit, base, 64 * unit);
        show_mapping(base + 7 * unit, base, 64 * unit);
    }

    // The middle is mapped elsewhere too, and taken away here.
    CHECK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(base + 2 * unit + 5)));
    printf("the same handle: %d\n", again == pages[1]);
    CHECK(cuMemMap(other, 2 * unit, 0, again, 0));
    CHECK(cuMemSetAccess(other, 2 * unit, &access, 1));
    CHECK(cuMemRelease(again));
    for (int i = 0; i < 3; i++)
        CHECK(cuMemRelease(pages[i]));
    CHECK(cuMemUnmap(base + 2 * unit, 2 * unit));
    unsigned first;
    CHECK(cuMemcpyDtoH(&first, other, 4));
    printf("mapped elsewhere: %u\n", first);
    SHOW_STALE(cuMemcpyDtoH(host, base, 6 * unit));
    SHOW_STALE(cuMemcpyDtoH(&first, base + 2 * unit, 4));
    CHECK(cuMemUnmap(other, 2 * unit));
    CHECK(cuMemGetInfo(&free_now, &total));
    if (!is_real())
        printf("left of it: %zu units\n", (free_before - free_now) / unit);

    SHOW_STALE(cuMemFree(base));
    SHOW(cuMemUnmap(base, unit));
    // What is mapped is not freed.
    SHOW_STALE(cuMemAddressFree(base, 64 * unit));
    SHOW(cuMemAddressFree(other, 4 * unit));
    SHOW(cuMemAddressFree(other, 8 * unit));
    SHOW(cuMemCreate(&again, unit + 1, &prop, 0));
    SHOW(cuMemCreate(&again, total + unit, &prop, 0));
    SHOW_STALE(cuMemMap(base + unit, 2 * unit, 0, 12345, 0));
    CHECK(cuMemCreate(&again, unit, &prop, 0));
    CUmemAllocationProp found = {0};
    CHECK(cuMemGetAllocationPropertiesFromHandle(&found, again));
    printf("properties: kind %d, place %d %d\n", found.kind, found.location.kind, found.location.number);
    SHOW(cuMemMap(base, unit, 0, again, 0));
    SHOW(cuMemMap(base + 62 * unit, unit, 0, again, 0));
    // Read only.
    access.flags = 1;
    CHECK(cuMemSetAccess(base + 62 * unit, unit, &access, 1));
    CHECK(cuMemcpyDtoH(&first, base + 62 * unit, 4));
    CHECK(cuMemUnmap(base + 62 * unit, unit));
    CHECK(cuMemRelease(again));
    SHOW_STALE(cuMemRelease(again));
    // Two mappings with nothing between them.
    SHOW(cuMemUnmap(base, 6 * unit));
    CHECK(cuMemAddressFree(base, 64 * unit));
    CHECK(cuMemGetInfo(&free_now, &total));
    if (!is_real())
        printf("all given back: %d\n", free_now == free_before);
    free(host);
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    return 0;
}
