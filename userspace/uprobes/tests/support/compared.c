// A library whose functions begin as those of NVIDIA's libcuda do: a comparison, which the kernel
// single-steps, and a conditional jump, which it emulates.
#include <stdint.h>

__attribute__((visibility("hidden"))) int magic, turns;
static uint64_t next = 0x1000;

__attribute__((visibility("hidden"))) int allocate(uint64_t *place, uint64_t size) {
    *place = next;
    next += size;
    return size == 0;
}

__attribute__((visibility("hidden"))) int nothing(void) { return 0; }

__asm__(".text\n"
        ".macro begins name\n"
        ".p2align 4\n"
        ".globl \\name\n"
        ".type \\name, @function\n"
        "\\name:\n"
        "cmpl $0x321cba00, magic(%rip)\n"
        ".endm\n"
        // Probed at the jump.
        "begins cuMemAlloc_v2\n"
        "je 1f\n"
        "jmp allocate\n"
        "1: ud2\n"
        ".size cuMemAlloc_v2, .-cuMemAlloc_v2\n"
        // Three turns a call, each by the jump.
        "begins cuCtxSynchronize\n"
        "2: je 1f\n"
        "incl turns(%rip)\n"
        "cmpl $3, turns(%rip)\n"
        "jb 2b\n"
        "movl $0, turns(%rip)\n"
        "xorl %eax, %eax\n"
        "ret\n"
        "1: ud2\n"
        ".size cuCtxSynchronize, .-cuCtxSynchronize\n"
        // Another function begins at the jump.
        "begins cuStreamSynchronize\n"
        ".globl inner\n"
        ".type inner, @function\n"
        "inner:\n"
        "je 1f\n"
        "1: jmp nothing\n"
        ".size cuStreamSynchronize, .-cuStreamSynchronize\n"
        ".size inner, .-inner\n");
