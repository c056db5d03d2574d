"""Holds kernels that compute an activation and its derivative to the limits below,
which keep them from taking longer than memory does, and prints what they take.

usage: check_kernel_limits.py SOURCE-ROOT TOOLS PTXAS [--every]

Without --every, each activation has one chip in each type, which takes turns in bf16, where limits
differ.
"""

import os
import subprocess
import sys

SOURCE, TOOLS, PTXAS, *OPTIONS = sys.argv[1:]
ACTIVATIONS = {
    "silu": "fad.silu %x",
    "gelu": "fad.gelu %x",
    "gelu_tanh": "fad.gelu %x approximate <tanh>",
    "mish": "fad.mish %x",
}
# By type: elements of a tile, and the most instructions and special functions for an
# element.
LIMITS = {"f32": (2048, 45, 5), "bf16": (4096, 22, 3), "f16": (4096, 22, 3)}
REGISTERS = 32
# Chips before sm_90 take more to round to bf16.
MORE = {("sm_80", "bf16"): 1}


def run(command, text):
    return subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout


def describe(activation, kind, chip):
    """The lines of utils/kernel-registers.py for the kernel's variants."""
    source = f"""func.func @f(%x: tensor<?x{kind}>) -> tensor<?x{kind}> {{
  %y = {ACTIVATIONS[activation]} : tensor<?x{kind}>
  return %y : tensor<?x{kind}>
}}"""
    tool = lambda name: os.path.join(TOOLS, name)
    passes = ["--fad-nest=policy=fad", f"--fad-to-nvvm=chip={chip}"]
    binary = run([tool("fad-opt"), "-", *passes], source)
    ptx = run([tool("fad-translate"), "--gpu-binary-to-ptx"], binary)
    assert ".extern" not in ptx, (activation, kind, chip)
    script = os.path.join(SOURCE, "utils", "kernel-registers.py")
    options = [f"--ptxas={PTXAS}", f"--tile={LIMITS[kind][0]}"]
    lines = run([sys.executable, script, *options], ptx).splitlines()[1:]
    return [line.split() for line in lines if line.startswith("f_forward_")]


def main():
    fine = True
    for kind, (_, instructions, special) in LIMITS.items():
        for number, activation in enumerate(ACTIVATIONS):
            chips = "sm_80", "sm_90"
            if not OPTIONS:
                chips = (chips[number % 2 if kind == "bf16" else 1],)
            for chip in chips:
                variants = describe(activation, kind, chip)
                assert len(variants) == 3, variants
                for name, registers, stack, spills, _, _, _, each, functions, wide in variants:
                    good = int(registers) <= REGISTERS and stack == spills == "0"
                    if name.endswith("_unaligned"):
                        good &= wide == "-"
                    else:
                        limit = instructions + MORE.get((chip, kind), 0)
                        good &= wide == "yes" and float(each) <= limit
                        good &= float(functions) <= special
                        print(
                            f"{activation:<10}{kind:<5}{chip} {registers:>3}{each:>6}{functions:>6}"
                        )
                    if not good:
                        print(f"beyond the limits: {activation} {kind} {chip}: {name}")
                        fine = False
    sys.exit(not fine)


main()
