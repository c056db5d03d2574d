# RUN: %fad_python %s
"""Reductions of every kind and type over a constant number of elements, compiled for
this machine, against numpy. With --all, of columns and rows of 1 to 40 elements."""

import sys

import fad
from reduction_cases import find_faults, float_case, loop_case, make_cases, other_case

SIZES = range(1, 41)


def main():
    if "--all" in sys.argv[1:]:
        cases = [
            case for size in SIZES for wide in (False, True) for case in make_cases(size, wide)
        ]
    else:
        cases = make_cases(11, wide=True) + [loop_case("maxnumf", 15)]
        cases += [float_case("minnumf", "f32", size, wide=True) for size in SIZES if size != 11]
        cases += [float_case("maxnumf", "f64", size, wide=False) for size in (10, 15, 39)]
        cases += [other_case("greatest_fast", 1000, wide=False)]
    run = fad.compile(fad.parse("".join(case.source for case in cases)))
    faults = find_faults(cases, lambda case, *arguments: run.call(case.name, *arguments))
    sys.exit("\n".join(faults) or None)


if __name__ == "__main__":
    main()
