// What the runtime says of devices: properties, attributes, limits.
#include "common.h"

int main() {
    int count, runtime, driver;
    OK(cudaGetDeviceCount(&count));
    OK(cudaRuntimeGetVersion(&runtime));
    OK(cudaDriverGetVersion(&driver));
    printf("devices %d, runtime %d, driver %d\n", count, runtime, driver);
    for (int device = 0; device < count; device++) {
        cudaDeviceProp is;
        OK(cudaGetDeviceProperties(&is, device));
        printf("%s, %d.%d, %zu bytes\n", is.name, is.major, is.minor, is.totalGlobalMem);
        printf("warp %d, threads %d, shared %zu of %zu, registers %d, multiprocessors %d\n", is.warpSize,
               is.maxThreadsPerBlock, is.sharedMemPerBlock, is.sharedMemPerBlockOptin, is.regsPerBlock, is.multiProcessorCount);
        char bus[32];
        int found;
        OK(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
        OK(cudaDeviceGetByPCIBusId(&found, bus));
        EXPECT(found == device);
        for (int attribute = 1; attribute < 150; attribute++) {
            // What host and device can do with each other's memory at the same time: never all of it over a network.
            if (attribute == cudaDevAttrHostNativeAtomicSupported || attribute == cudaDevAttrConcurrentManagedAccess ||
                attribute == cudaDevAttrDirectManagedMemAccessFromHost || attribute == cudaDevAttrPageableMemoryAccess)
                continue;
            int value = -1;
            cudaError_t error = cudaDeviceGetAttribute(&value, (cudaDeviceAttr)attribute, device);
            if (error == cudaSuccess) printf("%d=%d ", attribute, value);
            else printf("%d:%s ", attribute, cudaGetErrorName(error));
        }
        printf("\n");
        (void)cudaGetLastError();
        OK(cudaSetDevice(device));
        for (int limit = 0; limit < 7; limit++) {
            size_t value = 0;
            cudaError_t error = cudaDeviceGetLimit(&value, (cudaLimit)limit);
            printf("limit %d: %zu %s\n", limit, value, cudaGetErrorName(error));
        }
        (void)cudaGetLastError();
        int least, greatest;
        OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
        printf("priorities %d to %d\n", least, greatest);
        for (int other = 0; other < count; other++) {
            int can;
            OK(cudaDeviceCanAccessPeer(&can, device, other));
            printf("reaches %d: %d\n", other, can);
        }
    }
    return 0;
}
