"""Checks what budgets keep of tensors of 2^30 to 2^45 elements.

Each branch keeps one tensor at least, and two where backward is to compute
nothing again; so a budget of any number of tensors in between is spent whole.

Usage: large_budgets.py FAD_OPT"""

import re
import subprocess
import sys

BRANCHES = 6


def program(tensor, weight):
    """Branches of two matmuls with an activation in between."""
    arguments = ", ".join(f"%x{i}: {tensor}" for i in range(BRANCHES))
    lines = []
    for i in range(BRANCHES):
        lines += [
            f"%m{i} = linalg.matmul ins(%x{i}, %v : {tensor}, {weight}) "
            f"outs(%z : {tensor}) -> {tensor}",
            f"%y{i} = fad.gelu %m{i} : {tensor}",
            f"%r{i} = linalg.matmul ins(%y{i}, %w : {tensor}, {weight}) "
            f"outs(%z : {tensor}) -> {tensor}",
        ]
    results = ", ".join(f"%r{i}" for i in range(BRANCHES))
    types = ", ".join([tensor] * BRANCHES)
    return "\n".join(
        [
            f"func.func @f({arguments}, %v: {weight}, %w: {weight}, %z: {tensor}) -> ({types}) {{",
            *lines,
            f"return {results} : {types}",
            "}",
        ]
    )


def count_kept(fad_opt, text, options):
    """The tensors that forward computes and returns for backward."""
    run = subprocess.run(
        [fad_opt, f"--fad-nest={options}"], input=text, capture_output=True, text=True
    )
    if run.returncode:
        sys.exit(run.stderr)
    forward = run.stdout.split("func.func @f_backward")[0]
    returned = re.search(r"return (.*?) :", forward)[1].split(", ")
    return len({value for value in returned[BRANCHES:] if not value.startswith("%arg")})


def main():
    fad_opt = sys.argv[1]
    wrt = ",".join(str(i) for i in range(BRANCHES + 2))
    cases = [(2**exponent, f"tensor<{2**exponent // 8}x8xf32>", "") for exponent in (30, 37, 45)]
    cases.append((2**37 * 8, "tensor<?x8xf32>", f" assumed-size={2**37}"))
    for elements, tensor, assumed in cases:
        text = program(tensor, "tensor<8x8xf32>")
        kept = [
            count_kept(fad_opt, text, f"wrt={wrt}{assumed} residual-budget={count * elements * 4}")
            for count in (6, 7, 9, 12)
        ]
        print(f"{tensor}:", *kept)


if __name__ == "__main__":
    main()
