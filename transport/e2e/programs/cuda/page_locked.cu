// Page-locked memory that kernels use: cudaMallocHost, cudaHostAlloc with each flag, cudaHostRegister, by the host's address and
// by the device's.
#include "common.h"

__global__ void saxpy(int count, float factor, const float *x, float *y) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) y[at] = factor * x[at] + y[at];
}

const int COUNT = 10000;

static void use(const char *what, float *x, float *y, float *x_device, float *y_device) {
    for (int at = 0; at < COUNT; at++) x[at] = at, y[at] = 1;
    saxpy<<<(COUNT + 255) / 256, 256>>>(COUNT, 2, x_device, y_device);
    done();
    for (int at = 0; at < COUNT; at++) EXPECT(y[at] == 2.f * at + 1);
    // Again, with what the host has written in between.
    for (int at = 0; at < COUNT; at += 3) x[at] = 0;
    saxpy<<<(COUNT + 255) / 256, 256>>>(COUNT, 1, x_device, y_device);
    OK(cudaMemsetAsync(x_device, 0, 40));
    done();
    for (int at = 0; at < COUNT; at++) EXPECT(y[at] == (at % 3 ? 3.f : 2.f) * at + 1);
    for (int at = 0; at < 10; at++) EXPECT(x[at] == 0);
    cudaPointerAttributes of;
    OK(cudaPointerGetAttributes(&of, y));
    printf("%s: %016llx, memory %d, at the device %d\n", what, digest(y, COUNT * sizeof *y), of.type, of.devicePointer == y_device);
}

int main() {
    size_t bytes = COUNT * sizeof(float);
    float *x, *y, *x_device, *y_device;
    OK(cudaMallocHost(&x, bytes));
    OK(cudaMallocHost(&y, bytes));
    use("cudaMallocHost", x, y, x, y);
    OK(cudaFreeHost(x));
    OK(cudaFreeHost(y));
    for (unsigned flags = 0; flags < 8; flags++) {
        OK(cudaHostAlloc(&x, bytes, flags));
        OK(cudaHostAlloc(&y, bytes, flags));
        OK(cudaHostGetDevicePointer(&x_device, x, 0));
        OK(cudaHostGetDevicePointer(&y_device, y, 0));
        unsigned has;
        OK(cudaHostGetFlags(&has, x));
        printf("flags %u, %u: ", flags, has);
        use("cudaHostAlloc", x, y, x_device, y_device);
        OK(cudaFreeHost(x));
        OK(cudaFreeHost(y));
    }
    x = (float *)malloc(bytes);
    y = (float *)malloc(bytes);
    OK(cudaHostRegister(x, bytes, cudaHostRegisterDefault));
    OK(cudaHostRegister(y, bytes, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&x_device, x, 0));
    OK(cudaHostGetDevicePointer(&y_device, y, 0));
    use("cudaHostRegister", x, y, x_device, y_device);
    OK(cudaHostUnregister(x));
    OK(cudaHostUnregister(y));
    printf("again: %s\n", cudaGetErrorName(cudaHostUnregister(y)));
    free(x);
    free(y);
    return 0;
}
