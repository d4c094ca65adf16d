// Managed memory against a model of it: host and device write words in turn, at random, by kernels, fills, copies
// and plain stores, in several streams and from several threads; after each wait what either side reads is what the
// model says. Arguments: steps in all, and threads.
#include <pthread.h>

#include "common.h"
#include "managed.h"

// Words of a thread's part of the memory. Each is an allocation of its own and attached to the thread's stream, as
// others' kernels run while the host uses it.
enum { WORDS = 6 * 1024, PARTS_MAX = 16 };

static CUcontext context;
static CUfunction add_each;
static long steps;

typedef struct {
    int number;
    unsigned *words;
    unsigned model[WORDS];
    uint64_t random;
    CUstream stream;
    CUdeviceptr plain;
    int waits;
} Part;

static unsigned below(Part *part, unsigned most) {
    return (unsigned)(random_u64(&part->random) >> 33) % most;
}

static CUdeviceptr address_of(const void *pointer) {
    return (CUdeviceptr)(uintptr_t)pointer;
}

// The host may look only where the device has nothing to do.
static void settle(Part *part) {
    if (part->waits)
        CHECK(cuStreamSynchronize(part->stream));
    part->waits = 0;
}

static void step(Part *part) {
    unsigned at = below(part, WORDS), count = 1 + below(part, below(part, 8) ? 16 : WORDS), value = below(part, 1000);
    if (count > WORDS - at)
        count = WORDS - at;
    unsigned *words = part->words + at, *model = part->model + at;
    CUdeviceptr address = address_of(words);
    switch (below(part, 20)) {
    case 0: // a kernel
        CHECK(LAUNCH(add_each, (count + 63) / 64, 64, part->stream, &address, &count, &value));
        for (unsigned i = 0; i < count; i++)
            model[i] += value;
        part->waits = 1;
        break;
    case 1: // a fill
        CHECK(cuMemsetD32Async(address, value, count, part->stream));
        for (unsigned i = 0; i < count; i++)
            model[i] = value;
        part->waits = 1;
        break;
    case 2: // out to the device's own memory and back to another place
    {
        unsigned to = below(part, WORDS - count + 1);
        CHECK(cuMemcpyDtoDAsync(part->plain, address, 4 * (size_t)count, part->stream));
        CHECK(cuMemcpyDtoDAsync(address_of(part->words + to), part->plain, 4 * (size_t)count, part->stream));
        memmove(part->model + to, model, 4 * (size_t)count);
        part->waits = 1;
        break;
    }
    case 3: // from memory of the program
    {
        unsigned source[64];
        count = count < 64 ? count : 64;
        for (unsigned i = 0; i < count; i++)
            model[i] = source[i] = value + i;
        CHECK(cuMemcpyHtoDAsync(address, source, 4 * (size_t)count, part->stream));
        part->waits = 1;
        break;
    }
    case 4: // to memory of the program
    {
        unsigned target[64];
        count = count < 64 ? count : 64;
        settle(part);
        CHECK(cuMemcpyDtoH(target, address, 4 * (size_t)count));
        REQUIRE(memcmp(target, model, 4 * (size_t)count) == 0, "part %d copied out at %u", part->number, at);
        break;
    }
    case 5:
        settle(part);
        CHECK(cuMemPrefetchAsync(address_of(part->words), 4 * WORDS, (int)below(part, 2) - 1, part->stream));
        part->waits = 1;
        break;
    case 6: // all of it
        settle(part);
        for (unsigned i = 0; i < WORDS; i++)
            REQUIRE(part->words[i] == part->model[i], "part %d word %u is %u, not %u", part->number, i, part->words[i],
                    part->model[i]);
        break;
    case 7:
    case 8:
    case 9: // writes of the host
        settle(part);
        for (unsigned i = 0; i < count; i += 1 + value % 7)
            words[i] = model[i] = value + i;
        break;
    default: // one word, read and written
        settle(part);
        REQUIRE(*words == *model, "part %d word %u is %u, not %u", part->number, at, *words, *model);
        *words = *model = value;
    }
}

static void *work(void *data) {
    Part *part = data;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&part->stream, part->number % 2 ? CU_STREAM_NON_BLOCKING : 0));
    CHECK(cuMemAlloc(&part->plain, 4 * WORDS));
    CUdeviceptr address;
    CHECK(cuMemAllocManaged(&address, sizeof *part->words * WORDS, CU_MEM_ATTACH_HOST));
    CHECK(cuStreamAttachMemAsync(part->stream, address, 0, CU_MEM_ATTACH_SINGLE));
    CHECK(cuStreamSynchronize(part->stream));
    part->words = (unsigned *)(uintptr_t)address;
    memset(part->words, 0, sizeof *part->words * WORDS);
    for (long i = 0; i < steps; i++)
        step(part);
    settle(part);
    for (unsigned i = 0; i < WORDS; i++)
        REQUIRE(part->words[i] == part->model[i], "part %d word %u at the end is %u, not %u", part->number, i,
                part->words[i], part->model[i]);
    CHECK(cuMemFree(part->plain));
    CHECK(cuMemFree(address));
    CHECK(cuStreamDestroy(part->stream));
    return NULL;
}

int main(int count, char **arguments) {
    static Part parts[PARTS_MAX];
    long all = count > 1 ? atol(arguments[1]) : 10000;
    int threads = count > 2 ? atoi(arguments[2]) : 1;
    REQUIRE(threads > 0 && threads <= PARTS_MAX, "1 to %d threads", PARTS_MAX);
    steps = all / threads;
    context = begin();
    CUmodule module;
    CHECK(cuModuleLoadData(&module, managed_ptx));
    add_each = function_of(module, "add_each");
    pthread_t handles[PARTS_MAX];
    for (int i = 0; i < threads; i++) {
        parts[i].number = i;
        parts[i].random = (uint64_t)i + 1;
        pthread_create(&handles[i], NULL, work, &parts[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++)
        sum ^= digest(parts[i].model, sizeof parts[i].model) * (uint64_t)(i + 1);
    printf("%ld steps of %d threads: %016llx\n", steps * threads, threads, (unsigned long long)sum);
    CHECK(cuCtxDestroy(context));
    return 0;
}
