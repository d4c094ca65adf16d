// Launches with clusters of blocks, and what the runtime says of them.
#include <cooperative_groups.h>

#include "common.h"

namespace cg = cooperative_groups;

__global__ void neighbours(int *out) {
#if __CUDA_ARCH__ >= 900
    __shared__ int own;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = blockIdx.x * 10;
    cluster.sync();
    int *other = cluster.map_shared_rank(&own, (cluster.block_rank() + 1) % cluster.num_blocks());
    if (threadIdx.x == 0) out[blockIdx.x] = *other + (int)cluster.num_blocks();
    cluster.sync();
#endif
}

int main() {
    int can;
    OK(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, 0));
    int *out;
    OK(cudaMalloc(&out, 64 * sizeof(int)));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8);
    config.blockDim = dim3(32);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = -1, most = -1;
    cudaError_t asked = cudaOccupancyMaxActiveClusters(&clusters, neighbours, &config);
    printf("clusters %d, active %d %s\n", can, clusters, cudaGetErrorName(asked));
    asked = cudaOccupancyMaxPotentialClusterSize(&most, neighbours, &config);
    printf("most blocks %d %s\n", most, cudaGetErrorName(asked));
    cudaError_t launched = cudaLaunchKernelEx(&config, neighbours, out);
    if (launched == cudaSuccess) launched = cudaDeviceSynchronize();
    printf("launched: %s\n", cudaGetErrorName(launched));
    // Blocks that are not whole clusters.
    config.gridDim = dim3(7);
    launched = cudaLaunchKernelEx(&config, neighbours, out);
    if (launched == cudaSuccess) launched = cudaDeviceSynchronize();
    printf("not whole: %s\n", cudaGetErrorName(launched));
    return 0;
}
