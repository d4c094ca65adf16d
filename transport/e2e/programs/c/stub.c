// An empty library of the driver's functions, for the linker only: as the driver belongs to the machine
// that a program runs on, programs are linked against such a stub.
#define STUB
#include "driver.h"
