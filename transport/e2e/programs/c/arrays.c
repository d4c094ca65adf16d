// Arrays and all copies of them, mipmapped arrays, texture and surface objects, and the references of a module.
#include "common.h"

// `sample` reads line by line what the texture reference has at (x, y) = (thread + 0.5, block + 0.5) x scale, `fetch` plain
// memory by numbers, and `store` writes 100 x y + x to the surface reference.
static const char kernels[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".global .texref image;\n.global .texref line;\n.global .surfref canvas;\n"
    ".visible .entry sample(.param .u64 out, .param .f32 scale)\n"
    "{\n"
    "    .reg .b32 %r<8>; .reg .f32 %f<12>; .reg .b64 %rd<6>;\n"
    "    ld.param.u64 %rd1, [out];\n    ld.param.f32 %f1, [scale];\n"
    "    mov.u32 %r1, %tid.x;\n    mov.u32 %r2, %ctaid.x;\n    mov.u32 %r3, %ntid.x;\n"
    "    cvt.rn.f32.u32 %f2, %r1;\n    cvt.rn.f32.u32 %f3, %r2;\n"
    "    add.f32 %f2, %f2, 0f3F000000;\n    add.f32 %f3, %f3, 0f3F000000;\n"
    "    mul.f32 %f2, %f2, %f1;\n    mul.f32 %f3, %f3, %f1;\n"
    "    tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [image, {%f2, %f3}];\n"
    "    mad.lo.u32 %r4, %r2, %r3, %r1;\n    mul.wide.u32 %rd2, %r4, 4;\n    add.s64 %rd3, %rd1, %rd2;\n"
    "    st.global.f32 [%rd3], %f4;\n    ret;\n"
    "}\n"
    ".visible .entry fetch(.param .u64 out)\n"
    "{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
    "    ld.param.u64 %rd1, [out];\n    mov.u32 %r1, %tid.x;\n"
    "    tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1}];\n"
    "    add.u32 %r2, %r2, %r3;\n"
    "    mul.wide.u32 %rd2, %r1, 4;\n    add.s64 %rd3, %rd1, %rd2;\n"
    "    st.global.u32 [%rd3], %r2;\n    ret;\n"
    "}\n"
    ".visible .entry store()\n"
    "{\n"
    "    .reg .b32 %r<8>;\n"
    "    mov.u32 %r1, %tid.x;\n    mov.u32 %r2, %ctaid.x;\n"
    "    mad.lo.u32 %r3, %r2, 100, %r1;\n    shl.b32 %r4, %r1, 2;\n"
    "    sust.b.2d.b32.trap [canvas, {%r4, %r2}], {%r3};\n    ret;\n"
    "}\n"
    ".visible .entry beyond()\n"
    "{\n"
    "    .reg .b32 %r<4>;\n"
    "    mov.u32 %r1, 4000;\n    sust.b.2d.b32.clamp [canvas, {%r1, %r1}], {%r1};\n    ret;\n"
    "}\n";

static void arrays(void) {
    CUarray array, other;
    CUDA_ARRAY_DESCRIPTOR flat = {64, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1}, found;
    CHECK(cuArrayCreate(&array, &flat));
    CHECK(cuArrayCreate(&other, &flat));
    CHECK(cuArrayGetDescriptor(&found, array));
    printf("array of %zu x %zu, format %d, channels %u\n", found.width, found.height, found.format, found.channels);
    unsigned numbers[64], back[64];
    for (unsigned i = 0; i < 64; i++)
        numbers[i] = i * 7;
    CHECK(cuMemcpyHtoA(array, 0, numbers, sizeof numbers));
    CHECK(cuMemcpyAtoA(other, 32, array, 64, 128));
    CHECK(cuMemcpyAtoH(back, other, 32, 128));
    REQUIRE(!memcmp(back, numbers + 16, 128), "the copy between arrays is another");
    CUdeviceptr device = allocate(sizeof numbers);
    CHECK(cuMemsetD32(device, 9, 64));
    CHECK(cuMemcpyAtoD(device + 16, array, 16, 200));
    CHECK(cuMemcpyDtoA(other, 0, device, sizeof numbers));
    CUstream stream = new_stream();
    // Copies on the device are not awaited by the calls that ask for them.
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyHtoAAsync(other, 240, numbers, 16, stream));
    CHECK(cuMemcpyAtoHAsync(back, other, 0, sizeof back, stream));
    CHECK(cuStreamSynchronize(stream));
    REQUIRE(back[0] == 9 && back[4] == 28 && back[60] == 0 && back[63] == 21, "%u %u %u %u", back[0], back[4], back[60],
            back[63]);
    print_digest("copies", back, sizeof back);
    SHOW_SOON(cuMemcpyHtoA(array, 200, numbers, 64));
    SHOW(cuMemcpyAtoH(back, array, 253, 8));
    CHECK(cuArrayDestroy(array));
    SHOW_STALE(cuArrayDestroy(array));
    SHOW_STALE(cuArrayGetDescriptor(&found, array));
    CHECK(cuArrayDestroy(other));

    // Two dimensions: a part of an array, from within a larger picture.
    flat = (CUDA_ARRAY_DESCRIPTOR){20, 10, CU_AD_FORMAT_UNSIGNED_INT8, 2};
    CHECK(cuArrayCreate(&array, &flat));
    unsigned char picture[30 * 50], small[12 * 6];
    for (unsigned i = 0; i < sizeof picture; i++)
        picture[i] = (unsigned char)(i * 31);
    CUDA_MEMCPY2D in = {.source_x = 3, .source_y = 5, .source_kind = 1, .source_host = picture, .source_pitch = 50,
                        .target_kind = 3, .target_array = array, .width = 40, .height = 10};
    CHECK(cuMemcpy2D(&in));
    CUDA_MEMCPY2D out = {.source_x = 8, .source_y = 2, .source_kind = 3, .source_array = array, .target_kind = 1,
                         .target_host = small, .target_pitch = 12, .width = 12, .height = 6};
    CHECK(cuMemcpy2DAsync(&out, stream));
    CHECK(cuStreamSynchronize(stream));
    for (unsigned y = 0; y < 6; y++)
        REQUIRE(!memcmp(small + 12 * y, picture + (5 + 2 + y) * 50 + 3 + 8, 12), "row %u is another", y);
    print_digest("part", small, sizeof small);
    out.source_y = 5;
    SHOW(cuMemcpy2D(&out));
    CHECK(cuArrayDestroy(array));

    // Three dimensions, and layers.
    CUDA_ARRAY3D_DESCRIPTOR deep = {8, 4, 3, CU_AD_FORMAT_FLOAT, 4, 0}, told;
    CHECK(cuArray3DCreate(&array, &deep));
    float box[8 * 4 * 3 * 4], again[8 * 4 * 3 * 4];
    for (unsigned i = 0; i < 384; i++)
        box[i] = (float)i / 4;
    CUDA_MEMCPY3D whole = {.source_kind = 1, .source_host = box, .source_pitch = 128, .source_height = 4, .target_kind = 3,
                           .target_array = array, .width = 128, .height = 4, .depth = 3};
    CHECK(cuMemcpy3D(&whole));
    CUDA_MEMCPY3D part = {.source_x = 16, .source_y = 1, .source_z = 1, .source_kind = 3, .source_array = array,
                          .target_kind = 1, .target_host = again, .target_pitch = 32, .target_height = 2, .width = 32,
                          .height = 2, .depth = 2};
    CHECK(cuMemcpy3D(&part));
    REQUIRE(again[0] == box[(1 * 4 + 1) * 32 + 4] && again[31] == box[(2 * 4 + 2) * 32 + 11], "%g %g", (double)again[0],
            (double)again[31]);
    print_digest("box", again, 32 * sizeof(float));
    CHECK(cuArray3DGetDescriptor(&told, array));
    printf("array of %zu x %zu x %zu, flags %u\n", told.width, told.height, told.depth, told.flags);
    CHECK(cuArrayDestroy(array));
    deep.flags = CUDA_ARRAY3D_LAYERED;
    CHECK(cuArray3DCreate(&array, &deep));
    CHECK(cuArrayDestroy(array));
    deep.height = 0;
    deep.flags = 0;
    SHOW(cuArray3DCreate(&array, &deep));
    deep = (CUDA_ARRAY3D_DESCRIPTOR){8, 4, 3, 77, 1, 0};
    SHOW(cuArray3DCreate(&array, &deep));
    deep = (CUDA_ARRAY3D_DESCRIPTOR){8, 4, 3, CU_AD_FORMAT_FLOAT, 3, 0};
    SHOW(cuArray3DCreate(&array, &deep));

    CUmipmappedArray levels;
    deep = (CUDA_ARRAY3D_DESCRIPTOR){16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CHECK(cuMipmappedArrayCreate(&levels, &deep, 9));
    for (unsigned number = 0;; number++) {
        CUresult result = cuMipmappedArrayGetLevel(&array, levels, number);
        if (result != CUDA_SUCCESS) {
            printf("level %u: %s\n", number, name_of(result));
            break;
        }
        CHECK(cuArrayGetDescriptor(&found, array));
        printf("level %u: %zu x %zu\n", number, found.width, found.height);
    }
    CHECK(cuMipmappedArrayDestroy(levels));
    SHOW_STALE(cuMipmappedArrayGetLevel(&array, levels, 0));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(device));
}

static void objects(CUarray array) {
    CUDA_RESOURCE_DESC resource = {.kind = 0, .of.array = array}, told;
    CUDA_TEXTURE_DESC description = {.address_modes = {1, 2, 3}, .flags = CU_TRSF_NORMALIZED_COORDINATES, .border = {1, 2, 3, 4}};
    CUDA_TEXTURE_DESC shown;
    uint64_t texture, surface;
    CHECK(cuTexObjectCreate(&texture, &resource, &description, NULL));
    CHECK(cuTexObjectGetResourceDesc(&told, texture));
    CHECK(cuTexObjectGetTextureDesc(&shown, texture));
    REQUIRE(told.kind == 0 && told.of.array == array, "the texture is of something else");
    // Driver 580 shows none where no address is beyond the array.
    if (is_real())
        shown.border[0] = shown.border[3] = 0;
    printf("texture: modes %d %d %d, flags %u, border %g %g\n", shown.address_modes[0], shown.address_modes[1],
           shown.address_modes[2], shown.flags, (double)shown.border[0], (double)shown.border[3]);
    char view[128];
    if (!is_real())
        SHOW(cuTexObjectGetResourceViewDesc(view, texture));
    CHECK(cuTexObjectDestroy(texture));
    SHOW_STALE_SOON(cuTexObjectDestroy(texture));
    CHECK(cuSurfObjectCreate(&surface, &resource));
    CHECK(cuSurfObjectGetResourceDesc(&told, surface));
    REQUIRE(told.of.array == array, "the surface is of something else");
    CHECK(cuSurfObjectDestroy(surface));
    SHOW_STALE_SOON(cuSurfObjectDestroy(surface));
    resource = (CUDA_RESOURCE_DESC){.kind = 2, .of.linear = {0x1000, CU_AD_FORMAT_FLOAT, 1, 64}};
    if (!is_real())
        SHOW(cuTexObjectCreate(&texture, &resource, &description, NULL));
    resource.kind = 7;
    SHOW(cuTexObjectCreate(&texture, &resource, &description, NULL));
    SHOW(cuSurfObjectCreate(&surface, NULL));
}

int main(void) {
    begin();
    arrays();
    CUmodule module;
    CHECK(cuModuleLoadData(&module, kernels));
    CUtexref image, line, none;
    CUsurfref canvas;
    CHECK(cuModuleGetTexRef(&image, module, "image"));
    CHECK(cuModuleGetTexRef(&line, module, "line"));
    CHECK(cuModuleGetSurfRef(&canvas, module, "canvas"));
    SHOW(cuModuleGetTexRef(&none, module, "canvas"));
    SHOW(cuModuleGetTexRef(&none, module, "nothing"));

    CUarray array, found;
    CUDA_ARRAY3D_DESCRIPTOR description = {8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CHECK(cuArray3DCreate(&array, &description));
    unsigned char bytes[32];
    for (unsigned i = 0; i < 32; i++)
        bytes[i] = (unsigned char)(i * 8);
    CUDA_MEMCPY2D in = {.source_kind = 1, .source_host = bytes, .source_pitch = 8, .target_kind = 3, .target_array = array,
                        .width = 8, .height = 4};
    CHECK(cuMemcpy2D(&in));
    CHECK(cuTexRefSetArray(image, array, CU_TRSA_OVERRIDE_FORMAT));
    CHECK(cuTexRefSetAddressMode(image, 0, 3));
    CHECK(cuTexRefSetAddressMode(image, 1, 3));
    float border[4] = {-1, 0, 0, 0}, values[10 * 5], scale = 1;
    CHECK(cuTexRefSetBorderColor(image, border));
    CUdeviceptr device = allocate(sizeof values);
    CUfunction sample = function_of(module, "sample");
    CHECK(LAUNCH(sample, 5, 10, NULL, &device, &scale));
    CHECK(cuMemcpyDtoH(values, device, sizeof values));
    // A colour outside what the image can have is cut to that.
    REQUIRE(values[0] == 0 && values[17] == 15 * 8 / 255.0f && values[8] == 0, "%g %g", (double)values[17],
            (double)values[8]);
    printf("image: %g %g %g %g\n", (double)values[1], (double)values[13], (double)values[8], (double)values[45]);
    // What is set later holds for launches from then on.
    CHECK(cuTexRefSetFilterMode(image, 1));
    CHECK(cuTexRefSetFlags(image, CU_TRSF_NORMALIZED_COORDINATES));
    CHECK(cuTexRefSetAddressMode(image, 0, 0));
    CHECK(cuTexRefSetAddressMode(image, 1, 1));
    scale = 0.11f;
    CHECK(LAUNCH(sample, 5, 10, NULL, &device, &scale));
    CHECK(cuMemcpyDtoH(values, device, sizeof values));
    print_digest("filtered image", values, sizeof values);
    int mode, format, channels;
    unsigned flags;
    CHECK(cuTexRefGetArray(&found, image));
    CHECK(cuTexRefGetAddressMode(&mode, image, 1));
    CHECK(cuTexRefGetFormat(&format, &channels, image));
    CHECK(cuTexRefGetFlags(&flags, image));
    float colour[4];
    CHECK(cuTexRefGetBorderColor(colour, image));
    REQUIRE(found == array, "another array is bound");
    printf("mode %d, format %d, channels %d, flags %u, border %g\n", mode, format, channels, flags, (double)colour[0]);
    SHOW(cuTexRefSetAddressMode(image, 3, 0));
    CHECK(cuTexRefGetFilterMode(&mode, image));
    printf("filter %d\n", mode);

    unsigned pairs[64], sums[40];
    for (unsigned i = 0; i < 64; i++)
        pairs[i] = i * i;
    CUdeviceptr memory = upload(pairs, sizeof pairs), results = allocate(sizeof sums), bound;
    size_t offset = 77;
    CHECK(cuTexRefSetFormat(line, CU_AD_FORMAT_UNSIGNED_INT32, 2));
    CHECK(cuTexRefSetFlags(line, CU_TRSF_READ_AS_INTEGER));
    CHECK(cuTexRefSetAddress(&offset, line, memory, sizeof pairs));
    CHECK(cuTexRefGetAddress(&bound, line));
    REQUIRE(offset == 0 && bound == memory, "offset %zu", offset);
    CHECK(LAUNCH(function_of(module, "fetch"), 1, 40, NULL, &results));
    CHECK(cuMemcpyDtoH(sums, results, sizeof sums));
    for (unsigned i = 0; i < 40; i++)
        REQUIRE(sums[i] == (i < 32 ? 4 * i * i + (2 * i + 1) * (2 * i + 1) : 0), "sum %u is %u", i, sums[i]);
    print_digest("line", sums, sizeof sums);

    CUarray numbers;
    description = (CUDA_ARRAY3D_DESCRIPTOR){6, 3, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CHECK(cuArray3DCreate(&numbers, &description));
    CHECK(cuSurfRefSetArray(canvas, numbers, 0));
    CHECK(cuSurfRefGetArray(&found, canvas));
    REQUIRE(found == numbers, "another array is bound");
    CUfunction store = function_of(module, "store");
    CHECK(LAUNCH(store, 3, 6, NULL, NULL));
    CHECK(LAUNCH(function_of(module, "beyond"), 1, 1, NULL, NULL));
    unsigned drawn[18];
    CUDA_MEMCPY2D out = {.source_kind = 3, .source_array = numbers, .target_kind = 1, .target_host = drawn, .target_pitch = 24,
                         .width = 24, .height = 3};
    CHECK(cuMemcpy2D(&out));
    REQUIRE(drawn[0] == 0 && drawn[8] == 102 && drawn[17] == 4000, "%u %u", drawn[8], drawn[17]);
    print_digest("canvas", drawn, sizeof drawn);
    objects(numbers);
    CHECK(cuModuleUnload(module));
    SHOW_STALE(cuTexRefGetFlags(&flags, image));
    CHECK(cuArrayDestroy(numbers));
    CHECK(cuArrayDestroy(array));
    return 0;
}
