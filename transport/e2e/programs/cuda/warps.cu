// What threads of a warp do together, and atomic operations of all kinds.
#include "common.h"

__global__ void together(const int *in, int *out) {
    int lane = threadIdx.x % 32, at = blockIdx.x * blockDim.x + threadIdx.x, value = in[at];
    // A scan by shuffles.
    int sum = value;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    unsigned even = __ballot_sync(~0u, value % 2 == 0);
    unsigned same = __match_any_sync(~0u, value % 4);
    int all = __all_sync(~0u, value < 100), any = __any_sync(~0u, value == 50);
    int across = __shfl_xor_sync(~0u, value, 16);
    out[at * 4] = sum;
    out[at * 4 + 1] = __popc(even) * 1000 + __popc(same) * 10 + all * 2 + any;
    out[at * 4 + 2] = across + __shfl_down_sync(~0u, value, 3, 8);
    out[at * 4 + 3] = __ffs(same) + __clz(even) + __brev(value) % 97 + __byte_perm(value, sum, 0x5410) % 89;
}

__global__ void atomics(int *words, unsigned long long *wide, float *number) {
    int own = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&words[0], own);
    atomicSub(&words[1], 3);
    atomicMax(&words[2], own);
    atomicMin(&words[3], -own);
    atomicInc((unsigned *)&words[4], 17);
    atomicDec((unsigned *)&words[5], 29);
    atomicAnd(&words[6], ~(1 << own % 32));
    atomicOr(&words[7], 1 << own % 31);
    atomicXor(&words[8], own);
    atomicExch(&words[9], 4);
    // One thread after the other.
    int old = words[10], seen;
    do {
        seen = old;
        old = atomicCAS(&words[10], seen, seen + 2);
    } while (old != seen);
    atomicAdd(wide, (unsigned long long)own << 20);
    atomicAdd(number, 1.f);
}

int main() {
    const int count = 256;
    int host[count], *in, *out, results[count * 4];
    for (int at = 0; at < count; at++) host[at] = at * 37 % 83;
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&out, sizeof results));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    together<<<2, 128>>>(in, out);
    done();
    OK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDefault));
    for (int at = 0, sum = 0; at < count; at++) {
        sum = (at % 32 ? sum : 0) + host[at];
        EXPECT(results[at * 4] == sum);
    }
    printf("%016llx\n", digest(results, sizeof results));

    struct {
        int words[12];
        unsigned long long wide;
        float number;
    } all = {}, *device;
    all.words[6] = -1;
    OK(cudaMalloc(&device, sizeof all));
    OK(cudaMemcpy(device, &all, sizeof all, cudaMemcpyDefault));
    atomics<<<8, 100>>>(device->words, &device->wide, &device->number);
    done();
    OK(cudaMemcpy(&all, device, sizeof all, cudaMemcpyDefault));
    for (int word : all.words) printf("%d ", word);
    printf("%llu %.0f\n", all.wide, all.number);
    EXPECT(all.words[0] == 799 * 400 && all.words[10] == 1600 && all.number == 800);
    return 0;
}
