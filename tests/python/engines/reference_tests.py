# SPDX-License-Identifier: MIT
"""reference_tests.py - run the tests of vllm-ascend's CPU binding with bind_cpus of cpubind

  reference_tests.py CHECKOUT [reference]

CHECKOUT is a checkout of vllm-ascend. Loads its tests/ut/device_allocator/test_cpu_binding.py
against its module, in which bind_cpus is that of cpubind, and prints each test that does not
pass, with the reason, and the counts; with the word `reference`, runs them against the module
as it is. Exit status 0: all pass but those of EXPECTED. Uses the stand-ins beside this file;
needs neither vLLM nor an NPU.
"""
import importlib.util
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
STANDINS = os.path.join(HERE, "standins")

# Each asks for what cpubind does not do, on purpose.
EXPECTED = {
    "test_bind_cpus_runs_allocator_on_arm":
        "bind_cpus binds through the library, not through CpuAlloc",
}


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def import_or_stand_in(name):
    try:
        __import__(name)
    except ImportError:
        load(name, os.path.join(STANDINS, "missing", name + ".py"))


def main(checkout, is_reference):
    os.environ["CPUBIND_RULES"] = "reference"
    sys.path.insert(0, STANDINS)
    import_or_stand_in("psutil")
    import_or_stand_in("regex")
    import vllm_ascend
    place = os.path.join(checkout, "vllm_ascend", "cpu_binding.py")
    vllm_ascend.cpu_binding = load("vllm_ascend.cpu_binding", place)
    if not is_reference:
        import cpubind.vllm_ascend
        cpubind.vllm_ascend.take_place()
    tests = load("test_cpu_binding", os.path.join(
        checkout, "tests", "ut", "device_allocator", "test_cpu_binding.py"))
    suite = unittest.defaultTestLoader.loadTestsFromModule(tests)
    result = unittest.TestResult()
    suite.run(result)
    broken = {}
    for test, text in result.failures + result.errors:
        broken[test.id().rsplit(".", 1)[-1]] = text.strip().splitlines()[-1]
    for name in sorted(broken):
        print("%s: %s" % (name, EXPECTED.get(name, "NOT EXPECTED: " + broken[name])))
    print("%d tests, %d passed, %d not" % (result.testsRun, result.testsRun - len(broken),
                                           len(broken)))
    return 0 if result.testsRun and set(broken) <= set(EXPECTED) else 1


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:] == ["reference"]))
