// Product of two matrices by tiles in shared memory: a grid and blocks of two dimensions.
#include "common.h"

enum { N = 64, TILE = 16 };

static float a[N][N], b[N][N], c[N][N];

int main(void) {
    begin();
    CUmodule module = module_of("matmul");
    uint64_t state = 4;
    for (int i = 0; i < N * N; i++) {
        a[i / N][i % N] = random_float(&state);
        b[i / N][i % N] = random_float(&state) - 0.5f;
    }
    CUdeviceptr left = upload(a, sizeof a), right = upload(b, sizeof b), product = allocate(sizeof c);
    unsigned n = N;
    CHECK(cuLaunchKernel(function_of(module, "matmul"), N / TILE, N / TILE, 1, TILE, TILE, 1, 0, NULL,
                         (void *[]){&left, &right, &product, &n}, NULL));
    CHECK(cuMemcpyDtoH(c, product, sizeof c));
    for (int row = 0; row < N; row++)
        for (int column = 0; column < N; column++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum = __builtin_fmaf(a[row][k], b[k][column], sum);
            REQUIRE(c[row][column] == sum, "(%d, %d) is %g, not %g", row, column, c[row][column], sum);
        }
    print_digest("product", c, sizeof c);
    return 0;
}
