"""Runs tests that come with numba-cuda: which, and which not and why, is in numba_tests.txt.

    numba_tests.py [MODULE...]

Prints a line for each: `ok`, `skipped` where it leaves itself out, or `failed`, and its name. What went wrong goes to
standard error. Kernels are linked as PTX.
"""

import os
import sys
import traceback
import unittest
import warnings
from pathlib import Path

os.environ.update(CUPY_COMPILE_WITH_PTX="1", CUPY_CACHE_IN_MEMORY="1")

import ptx_linked  # noqa: F401  before numba, and again in processes that tests start

LIST = Path(__file__).with_name("numba_tests.txt")
PACKAGE = "numba.cuda.tests."


class Lines(unittest.TestResult):
    """Tells of each test as it ends."""

    def tell(self, what, test, error=None):
        print(what, test.id().removeprefix(PACKAGE), flush=True)
        if error is not None:
            print(test.id(), *traceback.format_exception(*error), sep="\n", file=sys.stderr, flush=True)

    def addSuccess(self, test):
        self.tell("ok", test)

    def addExpectedFailure(self, test, error):
        self.tell("ok", test)

    def addUnexpectedSuccess(self, test):
        self.tell("failed", test)

    def addSkip(self, test, reason):
        self.tell("skipped", test)

    def addFailure(self, test, error):
        self.tell("failed", test, error)

    def addError(self, test, error):
        self.tell("failed", test, error)

    def addSubTest(self, test, part, error):
        if error is not None:
            self.tell("failed", test, error)


def tests_of(suite):
    for one in suite:
        yield from tests_of(one) if isinstance(one, unittest.TestSuite) else (one,)


def main():
    warnings.simplefilter("ignore")
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    left_out = {PACKAGE + line.split(":")[0].lstrip("- ") for line in lines if line.startswith("-")}
    modules = sys.argv[1:] or [line for line in lines if not line.startswith("-")]
    found = list(tests_of(unittest.defaultTestLoader.loadTestsFromNames([PACKAGE + name for name in modules])))
    if not sys.argv[1:]:
        gone = left_out.difference(test.id() for test in found)
        assert not gone, f"{LIST} leaves out what is not there: {gone}"
    unittest.TestSuite(test for test in found if test.id() not in left_out).run(Lines())


if __name__ == "__main__":
    main()
