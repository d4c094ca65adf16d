// Loads an image of a megabyte, as often as its argument says, as a module and as a library.
#include "common.h"

enum { SIZE = 1 << 20 };

int main(int argc, char **argv) {
    static const char head[] =
        ".version 6.3\n.target sm_70\n.address_size 64\n"
        ".visible .entry number(.param .u64 out)\n"
        "{\n"
        "    .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
        "    ld.param.u64 %rd1, [out];\n    mov.u32 %r1, 77;\n    st.global.u32 [%rd1], %r1;\n    ret;\n"
        "}\n//";
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    begin();
    // The rest is a remark.
    char *text = malloc(SIZE);
    REQUIRE(text, "no memory");
    memset(text, 'x', SIZE);
    memcpy(text, head, sizeof head - 1);
    text[SIZE - 2] = '\n';
    text[SIZE - 1] = 0;
    unsigned value = 0;
    CUdeviceptr device = upload(&value, sizeof value);
    for (int round = 0; round < rounds; round++) {
        CUmodule module;
        CUlibrary library;
        CUkernel kernel;
        CHECK(cuModuleLoadData(&module, text));
        CHECK(LAUNCH(function_of(module, "number"), 1, 1, NULL, &device));
        CHECK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
        CHECK(cuLibraryGetKernel(&kernel, library, "number"));
        CHECK(LAUNCH((CUfunction)kernel, 1, 1, NULL, &device));
        CHECK(cuMemcpyDtoH(&value, device, sizeof value));
        REQUIRE(value == 77, "the kernel gives %u", value);
        CHECK(cuLibraryUnload(library));
        CHECK(cuModuleUnload(module));
    }
    free(text);
    printf("loaded\n");
    return 0;
}
