"""Has numba and cuda.core link PTX with the driver's linker, as where nvJitLink is not installed.

nvJitLink makes machine code of a GPU, which the CPU emulator does not execute; what the driver links stays PTX there. To be
imported before them. Processes that a program starts import it again if its main module does.
"""

from cuda.bindings._internal import nvjitlink
from cuda.pathfinder import DynamicLibNotFoundError


def missing(name):
    raise DynamicLibNotFoundError(f"{name} is left out: this program links PTX")


nvjitlink.load_nvidia_dynamic_lib = missing
