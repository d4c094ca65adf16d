// Calls ioctl(2) on a device so many times, and ends: ioctls DEVICE COUNT [COMMANDS]. The calls are of one control command, or
// of so many in turn, as those by which a CUDA program starts.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

int main(int argc, char **argv) {
    // NV_ESC_RM_CONTROL, 32 bytes.
    const unsigned long request = 0xc020462a;
    unsigned argument[8] = {0};
    int device = argc >= 3 ? open(argv[1], O_RDONLY) : -1;
    if (device < 0)
        return 1;
    const unsigned commands = argc > 3 ? atoi(argv[3]) : 1;
    for (unsigned call = 0, count = atoi(argv[2]); call < count; call++) {
        if (argc > 3)
            argument[2] = 0x2080a000 + call % commands;
        ioctl(device, request, argument);
    }
    return 0;
}
