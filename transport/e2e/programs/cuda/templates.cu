// C++ on the device: templates, structures as arguments, virtual functions, lambdas, recursion, the heap,
// and the functions of mathematics.
#include <cstdint>
#include <vector>

#include "common.h"

template <typename T> struct Pair {
    T first, second;
    __host__ __device__ T sum() const { return first + second; }
};

template <typename T, typename F> __global__ void transform(T *values, int count, F function) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) values[at] = function(values[at], at);
}

template <typename T> __global__ void sums(const Pair<T> *pairs, T *out) { out[threadIdx.x] = pairs[threadIdx.x].sum(); }

struct Large {
    char text[7];
    double numbers[20];
    int8_t last;
};

__global__ void take(Large large, char before, short between, double *out) {
    *out = large.numbers[threadIdx.x % 20 + 3] + large.text[1] + large.last + before + between;
}

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
    float radius;
    __device__ Circle(float radius) : radius(radius) {}
    __device__ float area() const override { return 3 * radius * radius; }
};

__global__ void areas(float *out) {
    Shape *shape;
    if (threadIdx.x % 2) shape = new Square(threadIdx.x);
    else shape = new Circle(threadIdx.x);
    out[threadIdx.x] = shape->area();
    delete shape;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursive(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x); }

__global__ void mathematics(double *out, float *single) {
    double x = 0.1 * (threadIdx.x + 1);
    out[threadIdx.x] = sin(x) + exp(x) * log(x + 1) + pow(x, 1.7) + atan2(x, 2.0) + sqrt(x) + erf(x) + cbrt(x);
    float y = 0.1f * (threadIdx.x + 1);
    single[threadIdx.x] = sinf(y) + expf(y) * logf(y + 1) + powf(y, 1.7f) + tanhf(y) + rsqrtf(y) + fmodf(y, 0.3f);
}

template <typename T> static void pairs(const char *name) {
    std::vector<Pair<T>> in(32);
    std::vector<T> out(32);
    for (int at = 0; at < 32; at++) in[at] = {T(at), T(at * at)};
    Pair<T> *din;
    T *dout;
    OK(cudaMalloc(&din, 32 * sizeof *din));
    OK(cudaMalloc(&dout, 32 * sizeof *dout));
    OK(cudaMemcpy(din, in.data(), 32 * sizeof *din, cudaMemcpyDefault));
    sums<<<1, 32>>>(din, dout);
    OK(cudaMemcpy(out.data(), dout, 32 * sizeof *dout, cudaMemcpyDefault));
    for (int at = 0; at < 32; at++) EXPECT(out[at] == in[at].sum());
    printf("%s: %016llx\n", name, digest(out.data(), 32 * sizeof(T)));
}

int main() {
    pairs<int8_t>("8 bits");
    pairs<short>("16 bits");
    pairs<unsigned>("32 bits");
    pairs<long long>("64 bits");
    pairs<float>("float");
    pairs<double>("double");

    double *numbers, host[32];
    OK(cudaMalloc(&numbers, sizeof host));
    OK(cudaMemset(numbers, 0, sizeof host));
    int factor = 3;
    transform<<<1, 32>>>(numbers, 32, [=] __device__(double was, int at) { return was + at * factor; });
    OK(cudaMemcpy(host, numbers, sizeof host, cudaMemcpyDefault));
    printf("lambda: %g %g\n", host[1], host[31]);

    Large large = {"abcdef", {}, -9};
    for (int at = 0; at < 20; at++) large.numbers[at] = at * 1.5;
    take<<<1, 1>>>(large, 5, 1000, numbers);
    OK(cudaMemcpy(host, numbers, sizeof *host, cudaMemcpyDefault));
    EXPECT(*host == 4.5 + 'b' - 9 + 5 + 1000);

    float *single, hosts[32];
    OK(cudaMalloc(&single, sizeof hosts));
    areas<<<1, 32>>>(single);
    OK(cudaMemcpy(hosts, single, sizeof hosts, cudaMemcpyDefault));
    printf("areas: %g %g %g\n", hosts[1], hosts[2], hosts[31]);

    int *whole, integers[16];
    OK(cudaMalloc(&whole, sizeof integers));
    recursive<<<1, 16>>>(whole);
    OK(cudaMemcpy(integers, whole, sizeof integers, cudaMemcpyDefault));
    printf("recursive: %d %d\n", integers[10], integers[15]);

    mathematics<<<1, 32>>>(numbers, single);
    OK(cudaMemcpy(host, numbers, sizeof host, cudaMemcpyDefault));
    OK(cudaMemcpy(hosts, single, sizeof hosts, cudaMemcpyDefault));
    printf("mathematics: %.12g %.12g, %.5g %.5g\n", host[0], host[31], hosts[0], hosts[31]);
    return 0;
}
