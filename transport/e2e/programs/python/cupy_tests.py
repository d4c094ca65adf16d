"""Runs tests that come with CuPy's sources: which, and which not and why, is in cupy_tests.txt.

    cupy_tests.py FOLDER [MODULE...]

FOLDER has the sources' tests. Prints a line for each: `ok`, `skipped` where it leaves itself out, or `failed`, and its name.
What went wrong goes to standard error. Kernels are compiled to PTX, reductions are CuPy's own, and random numbers come from
NumPy, as cuRAND is machine code.
"""

import contextlib
import os
import sys
from pathlib import Path

os.environ.update(CUPY_COMPILE_WITH_PTX="1", CUPY_CACHE_IN_MEMORY="1", CUPY_ACCELERATORS="")

import cupy
import numpy
import pytest

LIST = Path(__file__).with_name("cupy_tests.txt")
PACKAGE = "cupy_tests/cuda_tests/"
NAMES = {"passed": "ok", "skipped": "skipped", "failed": "failed"}


class Lines:
    """Tells of each test as it ends; leaves some out."""

    def __init__(self, left_out, lines):
        self.left_out = left_out
        self.gone = set(left_out)
        self.lines = lines

    def pytest_collection_modifyitems(self, items):
        def name(item):
            # Without its parameters.
            return item.nodeid.removeprefix(PACKAGE).split("[")[0]

        self.gone -= {name(item) for item in items}
        items[:] = [item for item in items if name(item) not in self.left_out]

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed" and report.when == "setup":
            print(NAMES[report.outcome], report.nodeid.removeprefix(PACKAGE), file=self.lines, flush=True)
        elif report.when == "teardown" and report.outcome == "failed":
            print("failed", report.nodeid.removeprefix(PACKAGE), file=self.lines, flush=True)
        if report.outcome == "failed":
            print(report.nodeid, report.longreprtext, sep="\n", file=sys.stderr, flush=True)


def random(*arguments, dtype=float, **named):
    return cupy.asarray(numpy.random.random(*arguments, **named).astype(dtype))


def randint(*arguments, size=None, dtype=int):
    return cupy.asarray(numpy.random.randint(*arguments, size=size, dtype=dtype))


def main():
    cupy.random.random, cupy.random.randint = random, randint
    folder, *modules = sys.argv[1:]
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    left_out = {line.split(": ")[0].lstrip("- ") for line in lines if line.startswith("-")}
    os.chdir(folder)
    every = not modules
    modules = modules or [line for line in lines if not line.startswith("-")]
    files = [f"{PACKAGE}{name}.py" for name in modules]
    told = Lines(left_out, sys.stdout)
    with contextlib.redirect_stdout(sys.stderr):
        # A cache beside them would be one of this version of Python and pytest.
        code = pytest.main(["-q", "--rootdir=.", "-p", "no:cacheprovider", "-W", "ignore", "--tb=short", *files], plugins=[told])
    assert code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), code
    if every:
        assert not told.gone, f"{LIST} leaves out what is not there: {told.gone}"


if __name__ == "__main__":
    main()
