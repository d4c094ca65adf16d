// Thrust: a sort, a scan, a reduction and a transformation, whose kernels take what occupancy and attributes say.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "common.h"

int main() {
    const int count = 5000;
    thrust::host_vector<int> host(count);
    for (int at = 0; at < count; at++) host[at] = at * 7919 % 4999;
    thrust::device_vector<int> values = host, scanned(count);
    thrust::sort(values.begin(), values.end());
    thrust::inclusive_scan(values.begin(), values.end(), scanned.begin());
    int sum = thrust::reduce(values.begin(), values.end());
    thrust::host_vector<int> sorted = values, sums = scanned;
    for (int at = 1; at < count; at++) EXPECT(sorted[at - 1] <= sorted[at]);
    EXPECT(sums[count - 1] == sum);
    printf("%d, %016llx, %016llx\n", sum, digest(sorted.data(), count * sizeof(int)), digest(sums.data(), count * sizeof(int)));
    return 0;
}
