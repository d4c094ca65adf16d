// Memory that host and device share against a model of it: both write words in turn, at random, by kernels, fills, copies
// and plain stores, in several streams and from several threads; after each wait what either side reads is what the
// model says. Page-locked memory the host also uses while the device does, beside the words that the device is given.
// Arguments: steps in all, threads, and what the memory is: managed (which is the default), allocated, small (which is
// less than pages of its own), registered (which begins and ends within pages), or shared (the threads have parts of the same
// pages).
#include "common.h"
#include "managed.h"

// Words of a thread's part of the memory. Each is an allocation of its own and attached to the thread's stream, as
// others' kernels run while the host uses it.
enum { WORDS = 6 * 1024, PARTS_MAX = 16 };

static CUcontext context;
static CUfunction add_each;
static long steps;
static const char *kind = "managed";
static unsigned words_of_part = WORDS;
// Of all threads.
static unsigned *shared;

static int is(const char *wanted) {
    return strcmp(kind, wanted) == 0;
}

typedef struct {
    int number;
    unsigned *words;
    unsigned model[WORDS];
    uint64_t random;
    CUstream stream;
    CUdeviceptr plain;
    int waits;
    // Words that the device has been given since the last wait.
    unsigned first, end;
} Part;

static unsigned below(Part *part, unsigned most) {
    return (unsigned)(random_u64(&part->random) >> 33) % most;
}

// The host may look only where the device has nothing to do.
static void settle(Part *part) {
    if (part->waits)
        CHECK(cuStreamSynchronize(part->stream));
    part->waits = 0;
    part->first = part->end = 0;
}

// The device is given words.
static void give(Part *part, unsigned at, unsigned count) {
    int none = part->first == part->end;
    part->first = none || at < part->first ? at : part->first;
    part->end = none || at + count > part->end ? at + count : part->end;
    part->waits = 1;
}

// The host is going to use words.
static void use(Part *part, unsigned at, unsigned count) {
    if (is("managed") || (at < part->end && part->first < at + count))
        settle(part);
}

static void step(Part *part) {
    unsigned all = words_of_part, at = below(part, all), count = 1 + below(part, below(part, 8) ? 16 : all);
    unsigned value = below(part, 1000);
    if (count > all - at)
        count = all - at;
    unsigned *words = part->words + at, *model = part->model + at;
    CUdeviceptr address = address_of(words);
    switch (below(part, 20)) {
    case 0: // a kernel
        CHECK(LAUNCH(add_each, (count + 63) / 64, 64, part->stream, &address, &count, &value));
        for (unsigned i = 0; i < count; i++)
            model[i] += value;
        give(part, at, count);
        break;
    case 1: // a fill
        CHECK(cuMemsetD32Async(address, value, count, part->stream));
        for (unsigned i = 0; i < count; i++)
            model[i] = value;
        give(part, at, count);
        break;
    case 2: // out to the device's own memory and back to another place
    {
        unsigned to = below(part, all - count + 1);
        CHECK(cuMemcpyDtoDAsync(part->plain, address, 4 * (size_t)count, part->stream));
        CHECK(cuMemcpyDtoDAsync(address_of(part->words + to), part->plain, 4 * (size_t)count, part->stream));
        memmove(part->model + to, model, 4 * (size_t)count);
        give(part, at, count);
        give(part, to, count);
        break;
    }
    case 3: // from memory of the program
    {
        unsigned source[64];
        count = count < 64 ? count : 64;
        for (unsigned i = 0; i < count; i++)
            model[i] = source[i] = value + i;
        CHECK(cuMemcpyHtoDAsync(address, source, 4 * (size_t)count, part->stream));
        give(part, at, count);
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
        if (is("managed"))
            CHECK(cuMemPrefetchAsync(address_of(part->words), 4 * WORDS, (int)below(part, 2) - 1, part->stream));
        else // for all that other threads have given the device, some of which they are just about to give
            CHECK(cuCtxSynchronize());
        part->waits = 1;
        break;
    case 6: // all of it
        settle(part);
        for (unsigned i = 0; i < all; i++)
            REQUIRE(part->words[i] == part->model[i], "part %d word %u is %u, not %u", part->number, i, part->words[i],
                    part->model[i]);
        break;
    case 7:
    case 8:
    case 9: // writes of the host
        use(part, at, count);
        for (unsigned i = 0; i < count; i += 1 + value % 7)
            words[i] = model[i] = value + i;
        break;
    default: // one word, read and written
        use(part, at, 1);
        REQUIRE(*words == *model, "part %d word %u is %u, not %u", part->number, at, *words, *model);
        *words = *model = value;
    }
}

static void *work(void *data) {
    Part *part = data;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&part->stream, part->number % 2 ? CU_STREAM_NON_BLOCKING : 0));
    CHECK(cuMemAlloc(&part->plain, 4 * WORDS));
    size_t bytes = sizeof *part->words * words_of_part;
    CUdeviceptr address;
    char *own = NULL;
    if (is("managed")) {
        CHECK(cuMemAllocManaged(&address, bytes, CU_MEM_ATTACH_HOST));
        CHECK(cuStreamAttachMemAsync(part->stream, address, 0, CU_MEM_ATTACH_SINGLE));
        CHECK(cuStreamSynchronize(part->stream));
        part->words = (unsigned *)(uintptr_t)address;
    } else if (is("registered")) {
        // With something of the program's before and behind.
        own = malloc(bytes + 256);
        memset(own, 7, bytes + 256);
        part->words = (unsigned *)(void *)(own + 64);
        CHECK(cuMemHostRegister(part->words, bytes, 0));
    } else if (is("shared")) {
        part->words = shared + (size_t)part->number * words_of_part;
    } else {
        CHECK(cuMemHostAlloc((void **)&part->words, bytes, part->number % 2 ? CU_MEMHOSTALLOC_PORTABLE : 0));
    }
    memset(part->words, 0, bytes);
    for (long i = 0; i < steps; i++)
        step(part);
    settle(part);
    for (unsigned i = 0; i < words_of_part; i++)
        REQUIRE(part->words[i] == part->model[i], "part %d word %u at the end is %u, not %u", part->number, i,
                part->words[i], part->model[i]);
    CHECK(cuMemFree(part->plain));
    if (is("managed")) {
        CHECK(cuMemFree(address));
    } else if (is("registered")) {
        CHECK(cuMemHostUnregister(part->words));
        for (unsigned i = 0; i < words_of_part; i++)
            REQUIRE(part->words[i] == part->model[i], "part %d word %u afterwards is %u, not %u", part->number, i,
                    part->words[i], part->model[i]);
        for (size_t i = 0; i < 256; i++)
            REQUIRE(own[i < 64 ? i : i + bytes] == 7, "the byte at %zu is no more what it was", i);
        free(own);
    } else if (!is("shared")) {
        CHECK(cuMemFreeHost(part->words));
    }
    CHECK(cuStreamDestroy(part->stream));
    return NULL;
}

int main(int count, char **arguments) {
    static Part parts[PARTS_MAX];
    long all = count > 1 ? atol(arguments[1]) : 10000;
    int threads = count > 2 ? atoi(arguments[2]) : 1;
    REQUIRE(threads > 0 && threads <= PARTS_MAX, "1 to %d threads", PARTS_MAX);
    steps = all / threads;
    kind = count > 3 ? arguments[3] : kind;
    if (is("small"))
        words_of_part = 1000;
    if (is("shared"))
        words_of_part = 1500;
    context = begin();
    CUmodule module = managed_module();
    add_each = function_of(module, "add_each");
    if (is("shared"))
        CHECK(cuMemHostAlloc((void **)&shared, sizeof *shared * words_of_part * (size_t)threads, 0));
    pthread_t handles[PARTS_MAX];
    for (int i = 0; i < threads; i++) {
        parts[i].number = i;
        parts[i].random = (uint64_t)i + 1;
        pthread_create(&handles[i], NULL, work, &parts[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    if (shared)
        CHECK(cuMemFreeHost(shared));
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++)
        sum ^= digest(parts[i].model, sizeof parts[i].model) * (uint64_t)(i + 1);
    printf("%ld steps of %d threads: %016llx\n", steps * threads, threads, (unsigned long long)sum);
    CHECK(cuCtxDestroy(context));
    return 0;
}
