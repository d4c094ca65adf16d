// Checks that end a program of NVIDIA's runtime, which finds cudaGetErrorName by name.
#ifndef RUNTIME_H
#define RUNTIME_H

#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%s:%d: ", __FILE__, __LINE__);                                                                     \
            printf(__VA_ARGS__);                                                                                       \
            printf("\n");                                                                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        REQUIRE(code_ == 0, "%s: %s", #call, cudaGetErrorName(code_));                                                 \
    } while (0)

#endif
