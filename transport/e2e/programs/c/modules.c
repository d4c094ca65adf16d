// Modules and libraries from files and from memory, with options, and their global variables.
#include "common.h"

static const char broken[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { frob.u32 %r1; }\n";

int main(void) {
    begin();
    CUmodule module;
    CUdeviceptr table;
    size_t size;
    unsigned values[4], output[8];
    CHECK(cuModuleLoad(&module, path_of("memory")));
    CHECK(cuModuleGetGlobal(&table, &size, module, "table"));
    REQUIRE(size == sizeof values, "the table has %zu bytes", size);
    CHECK(cuMemcpyDtoH(values, table, size));
    printf("table: %u %u %u %u\n", values[0], values[1], values[2], values[3]);
    values[2] = 500;
    CHECK(cuMemcpyHtoD(table, values, size));
    CUdeviceptr device = allocate(sizeof output);
    CHECK(LAUNCH(function_of(module, "globals"), 1, 8, NULL, &device));
    CHECK(cuMemcpyDtoH(output, device, sizeof output));
    REQUIRE(output[6] == 503, "the changed table gives %u", output[6]);
    printf("changed table: %u\n", output[6]);
    SHOW(cuModuleGetGlobal(&table, &size, module, "nothing"));
    CHECK(cuModuleGetGlobal(NULL, &size, module, "table"));
    CHECK(cuModuleUnload(module));
    SHOW_STALE_SOON(cuModuleUnload(module));
    SHOW(cuModuleLoad(&module, "/nonexistent/module.ptx"));

    // Two modules of one image have variables of their own.
    CUmodule other;
    CUdeviceptr a, b;
    char *text = text_of("memory");
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleLoadDataEx(&other, text, 0, NULL, NULL));
    CHECK(cuModuleGetGlobal(&a, NULL, module, "counter"));
    CHECK(cuModuleGetGlobal(&b, NULL, other, "counter"));
    REQUIRE(a != b, "two modules share a variable");

    char errors[512] = "", information[512] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                     CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *option_values[] = {errors, (void *)sizeof errors, information, (void *)sizeof information};
    CUmodule none;
    CUresult result = cuModuleLoadDataEx(&none, broken, 4, options, option_values);
    REQUIRE(result != CUDA_SUCCESS, "PTX with an unknown instruction was loaded");
    printf("unknown instruction: %s, log %s\n", name_of(result), strstr(errors, "frob") ? "names it" : "says nothing");

    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    CHECK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "globals"));
    SHOW(cuLibraryGetKernel(&kernel, library, "nothing"));
    CHECK(cuLibraryGetKernel(&kernel, library, "globals"));
    CHECK(cuKernelGetFunction(&function, kernel));
    CHECK(LAUNCH(function, 1, 8, NULL, &device));
    CHECK(cuMemcpyDtoH(output, device, sizeof output));
    REQUIRE(output[6] == 8, "the library's kernel gives %u", output[6]);
    // A kernel may be launched in place of a function.
    CHECK(LAUNCH((CUfunction)kernel, 1, 8, NULL, &device));
    CHECK(cuLibraryGetGlobal(&a, &size, library, "counter"));
    CHECK(cuMemcpyDtoH(values, a, size));
    REQUIRE(values[0] == 7 + 16, "the library's counter is %u", values[0]);
    printf("library: %u and counter %u\n", output[6], values[0]);
    CHECK(cuLibraryUnload(library));
    CHECK(cuLibraryLoadFromFile(&library, path_of("memory"), NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetModule(&none, library));
    CHECK(cuModuleGetFunction(&function, none, "globals"));
    CHECK(cuLibraryUnload(library));
    SHOW(cuLibraryLoadFromFile(&library, "/nonexistent/module.ptx", NULL, NULL, 0, NULL, NULL, 0));
    free(text);
    return 0;
}
