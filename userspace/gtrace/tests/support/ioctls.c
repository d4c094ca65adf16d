// Calls ioctl(2) on a device so many times, and ends: ioctls DEVICE COUNT.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

int main(int argc, char **argv) {
    // NV_ESC_RM_CONTROL, 32 bytes.
    const unsigned long request = 0xc020462a;
    char argument[32] = {0};
    int device = argc == 3 ? open(argv[1], O_RDONLY) : -1;
    if (device < 0)
        return 1;
    for (int left = atoi(argv[2]); left > 0; left--)
        ioctl(device, request, argument);
    return 0;
}
