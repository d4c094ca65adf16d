// Copies in two and three dimensions.
#include <vector>

#include "common.h"

__global__ void number(cudaPitchedPtr memory, int width, int height, int depth) {
    for (int z = 0; z < depth; z++)
        for (int y = threadIdx.y; y < height; y += blockDim.y)
            for (int x = threadIdx.x; x < width; x += blockDim.x) {
                char *row = (char *)memory.ptr + (z * memory.ysize + y) * memory.pitch;
                ((int *)row)[x] = z * 10000 + y * 100 + x;
            }
}

int main() {
    const int width = 37, height = 11, depth = 5;
    size_t pitch, row = width * sizeof(int);
    int *flat;
    OK(cudaMallocPitch(&flat, &pitch, row, height));
    EXPECT(pitch >= row && pitch % 32 == 0);
    std::vector<int> host(width * height), back(64 * height, -1);
    for (size_t at = 0; at < host.size(); at++) host[at] = at * 3;
    OK(cudaMemset2D(flat, pitch, 0x11, row, height));
    OK(cudaMemcpy2D(flat, pitch, host.data(), row, row, height, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(back.data(), 64 * sizeof(int), flat, pitch, row, height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < 64; x++) EXPECT(back[y * 64 + x] == (x < width ? host[y * width + x] : -1));
    printf("2D %016llx\n", digest(back.data(), back.size() * sizeof(int)));

    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    int *other;
    OK(cudaMalloc(&other, row * height));
    OK(cudaMemset2DAsync(other, row, 0x22, 2 * sizeof(int), height, stream));
    OK(cudaMemcpy2DAsync(other + 2, row, flat, pitch, row - 2 * sizeof(int), height, cudaMemcpyDeviceToDevice, stream));
    OK(cudaMemcpy2DAsync(back.data(), 64 * sizeof(int), other, row, row, height, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(back[0] == 0x22222222 && back[2] == host[0]);
    printf("2D in a stream %016llx\n", digest(back.data(), back.size() * sizeof(int)));

    cudaExtent extent = make_cudaExtent(row, height, depth);
    cudaPitchedPtr box;
    OK(cudaMalloc3D(&box, extent));
    EXPECT(box.ysize == height && box.pitch >= row);
    number<<<1, dim3(16, 8)>>>(box, width, height, depth);
    OK(cudaGetLastError());
    std::vector<int> whole(width * height * depth, -1);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(whole.data(), row, width, height);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    for (int z = 0; z < depth; z++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) EXPECT(whole[(z * height + y) * width + x] == z * 10000 + y * 100 + x);
    printf("3D %016llx\n", digest(whole.data(), whole.size() * sizeof(int)));

    // A part, from within one box to within another.
    cudaPitchedPtr second;
    OK(cudaMalloc3D(&second, extent));
    OK(cudaMemset3D(second, 0, extent));
    copy = {};
    copy.srcPtr = box;
    copy.srcPos = make_cudaPos(4 * sizeof(int), 2, 1);
    copy.dstPtr = second;
    copy.dstPos = make_cudaPos(8 * sizeof(int), 5, 3);
    copy.extent = make_cudaExtent(7 * sizeof(int), 3, 2);
    copy.kind = cudaMemcpyDeviceToDevice;
    OK(cudaMemcpy3DAsync(&copy, stream));
    copy = {};
    copy.srcPtr = second;
    copy.dstPtr = make_cudaPitchedPtr(whole.data(), row, width, height);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3DAsync(&copy, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(whole[(3 * height + 5) * width + 8] == 10204);
    printf("part %016llx\n", digest(whole.data(), whole.size() * sizeof(int)));
    printf("overlapping rows: %s\n", cudaGetErrorName(cudaMemcpy2D(flat, row / 2, host.data(), row, row, height, cudaMemcpyHostToDevice)));
    return 0;
}
