// Managed memory: one pointer for host and device, in either direction, through structures, streams, copies,
// variables, system calls and threads.
#include <unistd.h>

#include "common.h"
#include "managed.h"

struct node {
    struct node *next;
    uint64_t value;
};

static CUcontext context;
static CUfunction add_each, walk, bump;

static void add(void *words, unsigned count, unsigned value, CUstream stream) {
    CUdeviceptr address = address_of(words);
    CHECK(LAUNCH(add_each, (count + 255) / 256, 256, stream, &address, &count, &value));
}

static void to_and_fro(void) {
    enum { N = 300000 };
    unsigned *words = managed(N * sizeof *words, CU_MEM_ATTACH_GLOBAL);
    for (unsigned i = 0; i < N; i++)
        words[i] = i;
    for (unsigned round = 1; round <= 3; round++) {
        add(words, N, 10, NULL);
        CHECK(cuCtxSynchronize());
        for (unsigned i = 0; i < N; i += 997)
            REQUIRE(words[i] == i + 10 * round + (round - 1) * (i % 2), "word %u is %u", i, words[i]);
        for (unsigned i = 0; i < N; i++)
            words[i] += i % 2;
    }
    print_digest("to and fro", words, N * sizeof *words);
    CHECK(cuMemFree(address_of(words)));
}

static void structures(void) {
    struct node *nodes = managed(1000 * sizeof *nodes, CU_MEM_ATTACH_GLOBAL);
    // Larger than a piece of any copy, used here and there.
    char *large = managed(96u << 20, CU_MEM_ATTACH_GLOBAL);
    uint64_t *sum = managed(sizeof *sum, CU_MEM_ATTACH_GLOBAL), random = 1;
    struct node *head = NULL;
    for (int i = 0; i < 1000; i++) {
        char *place = large + random_u64(&random) % 6000 * 16384 + 16 * i;
        struct node *node = i % 2 ? &nodes[i] : (struct node *)place;
        node->next = head;
        node->value = (uint64_t)i;
        head = node;
    }
    CUdeviceptr first = address_of(head), result = address_of(sum);
    CHECK(LAUNCH(walk, 1, 1, NULL, &first, &result));
    CHECK(LAUNCH(walk, 1, 1, NULL, &first, &result));
    CHECK(cuCtxSynchronize());
    uint64_t found = 0;
    for (struct node *node = head; node; node = node->next)
        found += node->value;
    printf("walked twice: the device's sum %llu, the host's %llu\n", (unsigned long long)*sum, (unsigned long long)found);
    CHECK(cuMemFree(address_of(large)));
    CHECK(cuMemFree(address_of(nodes)));
    CHECK(cuMemFree(result));
}

static void copies(void) {
    enum { N = 20000 };
    unsigned char *one = managed(N, CU_MEM_ATTACH_GLOBAL), *two = managed(N, CU_MEM_ATTACH_GLOBAL), plain[N];
    for (int i = 0; i < N; i++)
        plain[i] = (unsigned char)(i * 7);
    memset(one, 1, N);
    CHECK(cuMemcpyHtoD(address_of(one) + 100, plain, 5000));
    CHECK(cuMemsetD8(address_of(one) + 6000, 0xee, 3000));
    CHECK(cuCtxSynchronize());
    print_digest("copied into and filled", one, N);
    one[0] = 77;
    CHECK(cuMemcpyDtoD(address_of(two), address_of(one), N));
    CHECK(cuCtxSynchronize());
    printf("copied over: %d\n", memcmp(one, two, N));
    two[N - 1] = 5;
    CHECK(cuMemcpyDtoH(plain, address_of(two), N));
    printf("copied out: %d, last %d\n", memcmp(plain, two, N), plain[N - 1]);
    // Called the host's, it is the same memory.
    CUdeviceptr device = allocate(N);
    CHECK(cuMemcpyHtoD(device, two, N));
    CHECK(cuMemcpyDtoH(one, device, N));
    printf("by way of the device: %d\n", memcmp(one, two, N));
    CHECK(cuMemcpy(address_of(one) + 1, address_of(two), N - 1));
    CHECK(cuCtxSynchronize());
    printf("moved: %d\n", memcmp(one + 1, two, N - 1));
    CUDA_MEMCPY2D rectangle = {.source_kind = 1, .source_host = two, .source_pitch = 200, .target_kind = 2,
                               .target_device = device, .target_pitch = 100, .width = 100, .height = 50};
    CHECK(cuMemcpy2D(&rectangle));
    CHECK(cuMemcpyDtoH(plain, device, 5000));
    print_digest("every other hundred", plain, 5000);
    CHECK(cuMemFree(device));
    CHECK(cuMemFree(address_of(one)));
    CHECK(cuMemFree(address_of(two)));
}

static void called(void *data) {
    unsigned *words = data;
    words[1] = words[0] * 2;
}

static void streams(void) {
    CUstream one = new_stream(), two = new_stream();
    unsigned *words = managed(8192, CU_MEM_ATTACH_HOST), *other = managed(8192, CU_MEM_ATTACH_GLOBAL);
    words[0] = 1;
    CHECK(cuStreamAttachMemAsync(one, address_of(words), 0, CU_MEM_ATTACH_SINGLE));
    CHECK(cuStreamSynchronize(one));
    other[0] = 10;
    add(words, 1, 5, one);
    CHECK(cuStreamSynchronize(one));
    // The other stream's kernel has nothing to do with it.
    add(other, 1, 5, two);
    words[0] += 100;
    CHECK(cuStreamSynchronize(two));
    printf("a stream's own: %u, everybody's: %u\n", words[0], other[0]);
    CHECK(cuStreamAttachMemAsync(one, address_of(words), 0, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuStreamSynchronize(one));
    add(words, 1, 1, two);
    CHECK(cuLaunchHostFunc(two, called, words));
    add(words, 2, 1, two);
    CHECK(cuStreamSynchronize(two));
    printf("with a function of the host between: %u %u\n", words[0], words[1]);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    add(words, 2, 1, two);
    CHECK(cuEventRecord(event, two));
    CHECK(cuEventSynchronize(event));
    printf("behind an event: %u %u\n", words[0], words[1]);
    SHOW_SOON(cuStreamAttachMemAsync(one, address_of(words), 0, 8));
    CHECK(cuEventDestroy(event));
    CHECK(cuMemFree(address_of(words)));
    CHECK(cuMemFree(address_of(other)));
    CHECK(cuStreamDestroy(one));
    CHECK(cuStreamDestroy(two));
}

static void variables(CUmodule module) {
    CUdeviceptr counter, text, own;
    size_t size;
    CHECK(cuModuleGetGlobal(&counter, &size, module, "shared_counter"));
    printf("a managed variable of %zu bytes: %u", size, *(unsigned *)(uintptr_t)counter);
    CHECK(cuModuleGetGlobal(&text, &size, module, "shared_text"));
    char *bytes = (char *)(uintptr_t)text;
    bytes[0] = 'a';
    *(unsigned *)(uintptr_t)counter += 10;
    CHECK(LAUNCH(bump, 1, 1, NULL, NULL));
    CHECK(cuCtxSynchronize());
    printf(", then %u; an array of %zu: %c, %c\n", *(unsigned *)(uintptr_t)counter, size, bytes[0], bytes[8999]);
    int is_managed = -1;
    CHECK(cuModuleGetGlobal(&own, &size, module, "own_counter"));
    CHECK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, own));
    printf("another variable is managed: %d\n", is_managed & 1);
    unsigned value;
    CHECK(cuMemcpyDtoH(&value, own, sizeof value));
    printf("its value: %u\n", value);
    // The variables of the next library may lie where those of the one before did.
    CUlibrary library;
    unsigned first = 0;
    for (int round = 0; round < 3; round++) {
        CHECK(cuLibraryLoadData(&library, managed_ptx, NULL, NULL, 0, NULL, NULL, 0));
        CHECK(cuLibraryGetManaged(&counter, &size, library, "shared_counter"));
        unsigned *found = (unsigned *)(uintptr_t)counter;
        if (round == 0)
            first = *found;
        REQUIRE(*found == first, "library %d: the variable is %u, not %u", round, *found, first);
        *found += 1;
        SHOW(cuLibraryGetManaged(&counter, &size, library, "own_counter"));
        CHECK(cuLibraryUnload(library));
    }
    printf("of a library: %u\n", first);
    // Other memory goes with no module.
    unsigned *other = managed(4096, CU_MEM_ATTACH_GLOBAL);
    *other = 7;
    SHOW_STALE_SOON(cuModuleUnload(NULL));
    SHOW_STALE_SOON(cuLibraryUnload(NULL));
    printf("of no module: %u\n", *other);
    CHECK(cuMemFree(address_of(other)));
}

static void system_calls(void) {
    char *bytes = managed(3 * 4096, CU_MEM_ATTACH_GLOBAL);
    CHECK(cuMemsetD8(address_of(bytes), 'x', 3 * 4096));
    CHECK(cuCtxSynchronize());
    int ends[2];
    REQUIRE(pipe(ends) == 0, "no pipe");
    // Touched first, as the kernel may do it for processes without privileges not.
    for (int i = 0; i < 3; i++)
        bytes[i * 4096] = 'y';
    REQUIRE(write(ends[1], bytes, 3 * 4096) == 3 * 4096, "written less");
    char plain[3 * 4096];
    REQUIRE(read(ends[0], plain, sizeof plain) == sizeof plain, "read less");
    print_digest("through a pipe", plain, sizeof plain);
    close(ends[0]);
    close(ends[1]);
    CHECK(cuMemFree(address_of(bytes)));
}

enum { THREADS = 4, WORDS = 50000 };

static void *reads(void *data) {
    unsigned *words = data;
    uint64_t sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum += words[i];
    return (void *)(uintptr_t)sum;
}

static void several_threads(void) {
    unsigned *words = managed(WORDS * sizeof *words, CU_MEM_ATTACH_GLOBAL);
    for (int i = 0; i < WORDS; i++)
        words[i] = 1;
    for (int round = 0; round < 20; round++) {
        add(words, WORDS, 1, NULL);
        CHECK(cuCtxSynchronize());
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, reads, words);
        for (int i = 0; i < THREADS; i++) {
            void *sum;
            pthread_join(threads[i], &sum);
            REQUIRE((uintptr_t)sum == (uintptr_t)WORDS * (unsigned)(round + 2), "sum %zu in round %d", (size_t)sum, round);
        }
    }
    printf("read by %d threads at once\n", THREADS);
    CHECK(cuMemFree(address_of(words)));
}

static void attributes(void) {
    CUdeviceptr address = address_of(managed(10000, CU_MEM_ATTACH_GLOBAL)), plain = allocate(100);
    unsigned kind = 0, is_managed = 0;
    CUdeviceptr device = 0;
    void *host = NULL;
    size_t size = 0;
    CHECK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 5));
    CHECK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    CHECK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address + 5));
    CHECK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address + 5));
    CHECK(cuMemGetAddressRange(NULL, &size, address + 9999));
    printf("kind %u, managed %u, device %d, host %d, size %zu\n", kind, is_managed & 1, (int)(device - address),
           (int)(address_of(host) - address), size);
    int mostly = -1, preferred = -7, last = -7, by[3] = {7, 7, 7};
    CHECK(cuMemAdvise(address, 10000, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    CHECK(cuMemAdvise(address, 10000, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
    CHECK(cuMemAdvise(address, 10000, CU_MEM_ADVISE_SET_ACCESSED_BY, 0));
    *(int *)(uintptr_t)address = 3;
    CHECK(cuMemPrefetchAsync(address, 10000, 0, NULL));
    int wanted[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
                    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};
    void *values[] = {&mostly, &preferred, &last, by};
    size_t sizes[] = {4, 4, 4, 12};
    CHECK(cuMemRangeGetAttributes(values, sizes, wanted, 4, address, 10000));
    printf("read mostly %d, preferred %d, prefetched to %d, accessed by %d %d %d\n", mostly, preferred, last, by[0],
           by[1], by[2]);
    CHECK(cuMemAdvise(address, 10000, CU_MEM_ADVISE_UNSET_READ_MOSTLY, 0));
    CHECK(cuMemAdvise(address, 10000, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 0));
    CHECK(cuMemPrefetchAsync(address, 10000, CU_DEVICE_CPU, NULL));
    CHECK(cuMemRangeGetAttribute(&mostly, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 10000));
    CHECK(cuMemRangeGetAttribute(&preferred, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, 10000));
    CHECK(cuMemRangeGetAttribute(&last, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, 10000));
    CHECK(cuCtxSynchronize());
    printf("read mostly %d, preferred %d, prefetched to %d, value %d\n", mostly, preferred, last,
           *(int *)(uintptr_t)address);
    if (is_real())
        return;
    SHOW(cuMemRangeGetAttribute(&mostly, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 10000));
    SHOW(cuMemRangeGetAttribute(&mostly, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, plain, 100));
    SHOW_SOON(cuMemAdvise(plain, 100, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    SHOW_SOON(cuMemPrefetchAsync(plain, 100, 0, NULL));
    SHOW_SOON(cuMemPrefetchAsync(address, 10000, 77, NULL));
    SHOW(cuMemAllocManaged(&address, 100, 4));
    SHOW(cuMemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL));
    SHOW(cuMemAllocManaged(&address, (size_t)1 << 50, CU_MEM_ATTACH_GLOBAL));
    // Memory of which a part is registered.
    static char pages[3 * 4096];
    SHOW(cuMemHostRegister(pages + 4096, 4096, 0));
    SHOW(cuMemHostRegister(pages, sizeof pages, 0));
    SHOW(cuMemHostUnregister(pages + 4096));
    SHOW(cuMemHostRegister(pages, SIZE_MAX, 0));
    CHECK(cuMemFree(plain));
}

static void twice(void *data) {
    unsigned *words = data;
    usleep(30000);
    words[1] = 2 * words[0];
}

// Copies without Async wait for a function that itself uses managed memory.
static void behind_functions(void) {
    unsigned *words, *others, back[4];
    CHECK(cuMemAllocManaged((CUdeviceptr *)&words, 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemAllocManaged((CUdeviceptr *)&others, 4096, CU_MEM_ATTACH_GLOBAL));
    CUdeviceptr there = allocate(4096);
    others[0] = 5;
    CHECK(cuMemsetD32((CUdeviceptr)(uintptr_t)words, 21, 4));
    CHECK(cuLaunchHostFunc(NULL, twice, words));
    CHECK(cuMemcpyHtoD(there, others, 16));
    CHECK(cuMemcpyDtoH(back, there, 16));
    CHECK(cuCtxSynchronize());
    REQUIRE(back[0] == 5 && words[1] == 42, "%u, %u", back[0], words[1]);
    CUDA_MEMCPY2D over = {.source_kind = 1, .source_host = words, .source_pitch = 16, .target_kind = 2,
                          .target_device = there, .target_pitch = 16, .width = 16, .height = 1};
    CHECK(cuMemsetD32((CUdeviceptr)(uintptr_t)words, 22, 4));
    CHECK(cuLaunchHostFunc(NULL, twice, words));
    CHECK(cuMemcpy2D(&over));
    CHECK(cuMemcpyDtoH(back, there, 16));
    REQUIRE(back[0] == 22 && back[1] == 44, "%u, %u", back[0], back[1]);
    CHECK(cuMemFree((CUdeviceptr)(uintptr_t)words));
    CHECK(cuMemFree((CUdeviceptr)(uintptr_t)others));
    CHECK(cuMemFree(there));
    printf("behind functions: %u\n", back[1]);
}

// What was attached to a stream is everybody's again when that is destroyed.
static void detached(void) {
    unsigned *words, back;
    CHECK(cuMemAllocManaged((CUdeviceptr *)&words, 4096, CU_MEM_ATTACH_GLOBAL));
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)words, there = allocate(4096);
    CUstream stream = new_stream(), other = new_stream();
    CHECK(cuStreamAttachMemAsync(stream, address, 0, CU_MEM_ATTACH_SINGLE));
    CHECK(cuStreamSynchronize(stream));
    words[0] = 1;
    CHECK(cuMemsetD32Async(address, 7, 1, stream));
    CHECK(cuStreamSynchronize(stream));
    REQUIRE(words[0] == 7, "%u", words[0]);
    CHECK(cuStreamDestroy(stream));
    words[0] = 8;
    unsigned count = 1, value = 1;
    void *parameters[] = {&address, &count, &value};
    CHECK(cuLaunchKernel(add_each, 1, 1, 1, 1, 1, 1, 0, other, parameters, NULL));
    CHECK(cuMemcpyDtoDAsync(there, address, 4, other));
    CHECK(cuStreamSynchronize(other));
    CHECK(cuMemcpyDtoH(&back, there, 4));
    REQUIRE(back == words[0], "the device has %u, the host %u", back, words[0]);
    printf("detached: %u\n", back);
    CHECK(cuMemFree(address));
    CHECK(cuMemFree(there));
    CHECK(cuStreamDestroy(other));
}

// A kernel in one stream uses memory that is attached to another, or to the host, as GPUs with concurrent access permit.
static void elsewhere(void) {
    unsigned *words, *hosts;
    CHECK(cuMemAllocManaged((CUdeviceptr *)&words, 3 * 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemAllocManaged((CUdeviceptr *)&hosts, 4096, CU_MEM_ATTACH_HOST));
    CUstream stream = new_stream(), other = new_stream();
    CHECK(cuStreamAttachMemAsync(stream, address_of(words), 0, CU_MEM_ATTACH_SINGLE));
    CHECK(cuStreamSynchronize(stream));
    for (unsigned round = 1; round <= 3; round++) {
        for (unsigned i = 0; i < 3; i++)
            words[1024 * i] = 100 * round + i;
        hosts[0] = 1000 * round;
        add(words, 3 * 1024, round, other);
        add(hosts, 1, round, other);
        CHECK(cuStreamSynchronize(other));
        for (unsigned i = 0; i < 3; i++)
            REQUIRE(words[1024 * i] == 101 * round + i, "round %u: word %u is %u", round, i, words[1024 * i]);
        REQUIRE(hosts[0] == 1001 * round, "round %u: the host's is %u", round, hosts[0]);
    }
    printf("in another stream: %u and %u\n", words[0], hosts[0]);
    CHECK(cuMemFree(address_of(words)));
    CHECK(cuMemFree(address_of(hosts)));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuStreamDestroy(other));
}

int main(void) {
    context = begin();
    int has = 0;
    CHECK(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0));
    REQUIRE(has == 1, "no managed memory");
    CUmodule module = managed_module();
    add_each = function_of(module, "add_each");
    walk = function_of(module, "walk");
    bump = function_of(module, "bump");
    to_and_fro();
    structures();
    copies();
    streams();
    variables(module);
    system_calls();
    several_threads();
    behind_functions();
    detached();
    // A real GPU without concurrent access may do anything here.
    if (!is_real())
        elsewhere();
    attributes();
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    return 0;
}
