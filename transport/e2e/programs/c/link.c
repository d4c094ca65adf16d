// cuLink of two pieces of PTX: a kernel in one calls a function of the other.
#include "common.h"

static char caller[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 result) twice_and_one(.param .b32 x);\n"
    ".visible .entry apply(.param .u64 data)\n"
    "{\n"
    "    .reg .b32 %r<6>;\n"
    "    .reg .b64 %rd<5>;\n"
    "    ld.param.u64 %rd1, [data];\n"
    "    cvta.to.global.u64 %rd2, %rd1;\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    mul.wide.u32 %rd3, %r1, 4;\n"
    "    add.s64 %rd4, %rd2, %rd3;\n"
    "    ld.global.u32 %r2, [%rd4];\n"
    "    {\n"
    "    .param .b32 argument;\n"
    "    .param .b32 back;\n"
    "    st.param.b32 [argument], %r2;\n"
    "    call.uni (back), twice_and_one, (argument);\n"
    "    ld.param.b32 %r3, [back];\n"
    "    }\n"
    "    st.global.u32 [%rd4], %r3;\n"
    "    ret;\n"
    "}\n";

static char callee[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b32 result) twice_and_one(.param .b32 x)\n"
    "{\n"
    "    .reg .b32 %r<4>;\n"
    "    ld.param.b32 %r1, [x];\n"
    "    shl.b32 %r2, %r1, 1;\n"
    "    add.u32 %r3, %r2, 1;\n"
    "    st.param.b32 [result], %r3;\n"
    "    ret;\n"
    "}\n";

int main(void) {
    begin();
    CUlinkState state;
    void *image;
    size_t size;
    CUmodule module;
    CHECK(cuLinkCreate(0, NULL, NULL, &state));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, caller, sizeof caller, "caller", 0, NULL, NULL));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, callee, sizeof callee, "callee", 0, NULL, NULL));
    CHECK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, path_of("vector_add"), 0, NULL, NULL));
    CHECK(cuLinkComplete(state, &image, &size));
    REQUIRE(image && size, "the image is empty");
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuLinkDestroy(state));
    unsigned data[32];
    for (unsigned i = 0; i < 32; i++)
        data[i] = i * i;
    CUdeviceptr device = upload(data, sizeof data);
    CHECK(LAUNCH(function_of(module, "apply"), 1, 32, NULL, &device));
    CHECK(cuMemcpyDtoH(data, device, sizeof data));
    for (unsigned i = 0; i < 32; i++)
        REQUIRE(data[i] == 2 * i * i + 1, "element %u is %u", i, data[i]);
    function_of(module, "vector_add");
    print_digest("linked", data, sizeof data);

    // A function that nobody defines is reported at the end.
    CHECK(cuLinkCreate(0, NULL, NULL, &state));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, caller, sizeof caller, "caller", 0, NULL, NULL));
    CUresult result = cuLinkComplete(state, &image, &size);
    REQUIRE(result != CUDA_SUCCESS, "a function without a definition was linked");
    printf("undefined function: %s\n", name_of(result));
    CHECK(cuLinkDestroy(state));
    // Inputs that are empty, cut off or nothing of the kind do the link no harm.
    if (!is_real()) {
        static char none[64], cut[] = "\x7f" "ELF\2\1\1", noise[] = "neither text nor code";
        char information[256] = "", errors[256] = "";
        int names[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                       CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *values[] = {information, (void *)sizeof information, errors, (void *)sizeof errors};
        CHECK(cuLinkCreate(4, names, values, &state));
        SHOW(cuLinkAddData(state, CU_JIT_INPUT_CUBIN, none, sizeof none, "none", 0, NULL, NULL));
        // Invalid, or not for this GPU: who looks first decides.
        result = cuLinkAddData(state, CU_JIT_INPUT_CUBIN, cut, sizeof cut, "cut", 0, NULL, NULL);
        REQUIRE(result == 200 || result == 209, "what is cut off gives %d", result);
        SHOW(cuLinkAddData(state, CU_JIT_INPUT_PTX, noise, sizeof noise, "noise", 0, NULL, NULL));
        SHOW(cuLinkAddData(state, CU_JIT_INPUT_PTX, NULL, 0, "nothing", 0, NULL, NULL));
        CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, caller, sizeof caller, "caller", 0, NULL, NULL));
        CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, callee, sizeof callee, "callee", 0, NULL, NULL));
        CHECK(cuLinkComplete(state, &image, &size));
        CHECK(cuLinkDestroy(state));
    }
    SHOW_STALE(cuLinkComplete(NULL, &image, &size));
    return 0;
}
