// Variables of the device, by their symbols.
#include "common.h"

struct Polynomial {
    float factors[4];
    int terms;
};

__constant__ Polynomial polynomial;
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int counter = 40;
__device__ double results[16];
// A table of functions, whose addresses are the device's.
__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
typedef int (*Function)(int);
__device__ Function functions[2] = {twice, square};
static __device__ int hidden[3] = {7, 8, 9};

__global__ void evaluate() {
    double x = threadIdx.x, sum = 0;
    for (int term = polynomial.terms - 1; term >= 0; term--) sum = sum * x + polynomial.factors[term];
    results[threadIdx.x] = sum + table[threadIdx.x % 8];
    atomicAdd(&counter, 1);
}

__global__ void apply(int which, int *out) { out[threadIdx.x] = functions[which](threadIdx.x + hidden[threadIdx.x % 3]); }

int main() {
    Polynomial host = {{1.0f, 0.5f, 0.25f, 2.0f}, 4};
    OK(cudaMemcpyToSymbol(polynomial, &host, sizeof host));
    evaluate<<<1, 16>>>();
    done();
    double values[16];
    OK(cudaMemcpyFromSymbol(values, results, sizeof values));
    for (int at = 0; at < 16; at++) printf("%g ", values[at]);
    int count;
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    printf("\ncounter %d\n", count);

    // A part of it, at an offset, in a stream.
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    float factor = -1;
    OK(cudaMemcpyToSymbolAsync(polynomial, &factor, sizeof factor, offsetof(Polynomial, factors[3]), cudaMemcpyHostToDevice, stream));
    evaluate<<<1, 16, 0, stream>>>();
    OK(cudaMemcpyFromSymbolAsync(values, results, 8 * sizeof(double), 8 * sizeof(double), cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    for (int at = 0; at < 8; at++) printf("%g ", values[at]);
    printf("\n");
    OK(cudaStreamDestroy(stream));

    void *address;
    size_t size;
    OK(cudaGetSymbolAddress(&address, counter));
    OK(cudaGetSymbolSize(&size, counter));
    OK(cudaMemset(address, 0, size));
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    printf("counter of %zu bytes is %d\n", size, count);
    OK(cudaGetSymbolSize(&size, results));
    printf("results of %zu bytes; beyond them: ", size);
    printf("%s\n", cudaGetErrorName(cudaMemcpyFromSymbol(values, results, sizeof values, 8)));
    OK(cudaGetLastError() == cudaSuccess ? cudaErrorUnknown : cudaSuccess);

    int *out, numbers[8];
    OK(cudaMalloc(&out, sizeof numbers));
    for (int which = 0; which < 2; which++) {
        apply<<<1, 8>>>(which, out);
        OK(cudaMemcpy(numbers, out, sizeof numbers, cudaMemcpyDefault));
        for (int number : numbers) printf("%d ", number);
        printf("\n");
    }
    return 0;
}
