"""Compiles reductions for several processors, as far as this one runs what is compiled,
and compares them with numpy. The arguments are those of HostModule but the test."""

import platform
import sys

from host_module import HostModule
from reduction_cases import FLOAT_KINDS, OTHERS, find_faults, float_case, other_case

# The processors of a machine, the bits of their vectors, and what they need.
PROCESSORS = {
    "x86_64": [
        ("x86-64", 128, {}),
        ("x86-64-v3", 256, {"avx2", "bmi2", "fma"}),
        ("x86-64-v4", 512, {"avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
    ],
}


def read_features():
    try:
        with open("/proc/cpuinfo") as file:
            return set(file.read().split())
    except OSError:
        return set()


def main(*tools):
    features = read_features()
    for cpu, bits, needs in PROCESSORS.get(platform.machine(), []):
        if not features.issuperset(needs):
            continue
        cases = [other_case(name, 15, wide=name == "last") for name in OTHERS]
        cases.append(other_case("greatest_fast", 1000, wide=False))
        for kind in "f32", "f64":
            cases += [float_case(op, kind, 15, wide=True) for op in FLOAT_KINDS]
        source = "".join(case.source for case in cases)
        module = HostModule(tools, source, f"alignment=0 vector-bits={bits}", cpu)

        def call(case, *arguments):
            results = [(start.dtype, start.ndim) for start in case.starts]
            return module.call(case.name, *arguments, results=results)

        faults = find_faults(cases, call)
        if faults:
            sys.exit(f"compiled for {cpu}:\n" + "\n".join(faults))


if __name__ == "__main__":
    main(*sys.argv[1:])
