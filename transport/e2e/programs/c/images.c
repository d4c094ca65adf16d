// Kernel images in each of their forms, with the options of the compiler and of the linker, and contexts that are
// attached to.
#include "common.h"

static const char text[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry number(.param .u64 out)\n"
    "{\n"
    "    .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    "    ld.param.u64 %rd1, [out];\n    mov.u32 %r1, 77;\n    st.global.u32 [%rd1], %r1;\n    ret;\n"
    "}\n";
static const char broken[] = ".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry f() { frob.u32 %r1; }\n";

// A fat binary with the text as its only entry, as NVIDIA's `fatbinary` writes it: behind the fields that every entry
// has are those of PTX, the place of the compiler's options and these, of which there are none.
static struct {
    uint32_t magic;
    uint16_t version, header;
    uint64_t bytes;
    struct {
        uint16_t kind, version;
        uint32_t header;
        uint64_t bytes;
        uint32_t packed, more;
        uint16_t minor, major;
        uint32_t architecture;
        uint64_t name, flags, unused, unpacked;
        uint32_t options, unused_more;
        char none[8];
    } entry;
    char text[(sizeof text + 7) / 8 * 8];
} fat = {.magic = 0xba55ed50, .version = 1, .header = 16, .bytes = sizeof fat - 16,
         .entry = {.kind = 1, .version = 0x101, .header = 80, .bytes = sizeof fat.text, .more = 64, .minor = 3, .major = 6,
                   .architecture = 70, .flags = 0x11, .options = 72}};
static struct {
    uint32_t magic, version;
    const void *fat;
    void *unused;
} wrapper = {0x466243b1, 1, &fat, NULL};

static void number_of(const char *how, CUfunction function) {
    unsigned value = 0;
    CUdeviceptr device = upload(&value, sizeof value);
    CHECK(LAUNCH(function, 1, 1, NULL, &device));
    CHECK(cuMemcpyDtoH(&value, device, sizeof value));
    CHECK(cuMemFree(device));
    REQUIRE(value == 77, "%s gives %u", how, value);
    printf("%s: %u\n", how, value);
}

// What `module` has become by a call before.
static void loaded(const char *how, CUmodule module) {
    number_of(how, function_of(module, "number"));
    CHECK(cuModuleUnload(module));
}

static void images(void) {
    CUmodule module;
    CUlibrary library;
    CUkernel kernel;
    memcpy(fat.text, text, sizeof text);
    CHECK(cuModuleLoadData(&module, text));
    loaded("text", module);
    CHECK(cuModuleLoadData(&module, &fat));
    loaded("fat binary", module);
    // Made by hand, which a driver notices.
    if (!is_real()) {
        CHECK(cuModuleLoadData(&module, &wrapper));
        loaded("fat binary in its wrapper", module);
    }
    CHECK(cuModuleLoadFatBinary(&module, &fat));
    loaded("fat binary, by its own function", module);
    void *codes[] = {&wrapper, &fat, (void *)text};
    for (int i = is_real(); i < 3; i++) {
        CHECK(cuLibraryLoadData(&library, codes[i], NULL, NULL, 0, NULL, NULL, 0));
        CHECK(cuLibraryGetKernel(&kernel, library, "number"));
        number_of("library", (CUfunction)kernel);
        void *shared;
        if (i == 2 && !is_real())
            SHOW(cuLibraryGetUnifiedFunction(&shared, library, "number"));
        CHECK(cuLibraryUnload(library));
    }
    int mode;
    CHECK(cuModuleGetLoadingMode(&mode));
    printf("loading mode %d\n", mode);
    SHOW(cuModuleLoadData(&module, "this is no image"));
    if (!is_real()) {
        // A number that is no length.
        fat.bytes = (uint64_t)1 << 40;
        SHOW(cuModuleLoadData(&module, &wrapper));
        fat.bytes = sizeof fat - 16;
    }
}

enum { WALL_TIME = 2, OPTIMIZATION_LEVEL = 7, LOG_VERBOSE = 12 };

static void options(void) {
    CUmodule module;
    char information[2048] = "", errors[2048] = "", little[8] = "";
    int names[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                   CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, WALL_TIME, OPTIMIZATION_LEVEL, LOG_VERBOSE};
    void *values[] = {information, (void *)sizeof information, errors, (void *)sizeof errors, NULL, (void *)3, (void *)1};
    CHECK(cuModuleLoadDataEx(&module, text, 7, names, values));
    float milliseconds;
    memcpy(&milliseconds, &values[4], sizeof milliseconds);
    REQUIRE(milliseconds >= 0 && milliseconds < 60000 && values[4], "it took %g ms", (double)milliseconds);
    REQUIRE(strstr(information, "number"), "the information is %s", information);
    REQUIRE((unsigned)(uintptr_t)values[1] == strlen(information), "%u", (unsigned)(uintptr_t)values[1]);
    printf("information names the kernel, errors have %zu bytes\n", strlen(errors));
    number_of("with options", function_of(module, "number"));
    CHECK(cuModuleUnload(module));

    void *more[] = {information, (void *)sizeof information, errors, (void *)sizeof errors, NULL, (void *)3, (void *)0};
    SHOW(cuModuleLoadDataEx(&module, broken, 7, names, more));
    REQUIRE(strstr(errors, "frob"), "the errors are %s", errors);
    void *less[] = {information, (void *)0, little, (void *)sizeof little};
    SHOW(cuModuleLoadDataEx(&module, broken, 4, names, less));
    REQUIRE(strlen(little) == sizeof little - 1 && !strncmp(little, errors, strlen(little)), "%s", little);

    CUlinkState state;
    void *image;
    size_t size;
    information[0] = errors[0] = 0;
    void *linked[] = {information, (void *)sizeof information, errors, (void *)sizeof errors, NULL, (void *)3, (void *)1};
    CHECK(cuLinkCreate(7, names, linked, &state));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)text, sizeof text, "number.ptx", 0, NULL, NULL));
    CHECK(cuLinkComplete(state, &image, &size));
    REQUIRE(strstr(information, "number") && linked[4], "the information is %s", information);
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuLinkDestroy(state));
    loaded("linked", module);
    // The sizes have become the lengths of the logs.
    void *again[] = {information, (void *)sizeof information, errors, (void *)sizeof errors};
    CHECK(cuLinkCreate(4, names, again, &state));
    CUresult result = cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)broken, sizeof broken, "broken.ptx", 0, NULL, NULL);
    if (result == CUDA_SUCCESS)
        result = cuLinkComplete(state, &image, &size);
    printf("linking what is broken: %s\n", name_of(result));
    REQUIRE(strstr(errors, "frob"), "the errors are %s", errors);
    CHECK(cuLinkDestroy(state));
}

int main(void) {
    CUcontext context = begin(), attached, now;
    images();
    options();
    CHECK(cuProfilerStart());
    CHECK(cuProfilerStop());
    SHOW(cuCtxAttach(&attached, 5));
    CHECK(cuCtxAttach(&attached, 0));
    REQUIRE(attached == context, "another context");
    CHECK(cuCtxDetach(attached));
    CHECK(cuCtxGetCurrent(&now));
    REQUIRE(now == context, "the context is gone");
    CHECK(cuCtxDetach(context));
    CHECK(cuCtxGetCurrent(&now));
    printf("current after the last: %s\n", now ? "one" : "none");
    SHOW_STALE(cuCtxDetach(context));
    return 0;
}
