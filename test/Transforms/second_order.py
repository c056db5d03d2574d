"""Differentiates the gradients of a function and compares with differences.

usage: second_order.py TOOLS FILE ENTRY FOLDER [OPTION...]

The function is nested under each policy. The gradients that forward and backward
compute together, as a function of the arguments and cotangents, are nested again
under another policy, and fad-runner checks the gradients of that. The options go
to fad-runner.
"""

import pathlib
import re
import subprocess
import sys

POLICIES = ["fad", "bp", "recompute"]


def find_types(text, name):
    """The types of arguments and results of a function, with what marks them."""
    signature = re.search(rf"func\.func @{name}\((.*)\) -> (.*) {{\n", text)
    arguments = [part.split(": ", 1)[1] for part in signature[1].split(", ")]
    results = signature[2]
    if results.startswith("("):
        results = results[1:-1]
    return arguments, results.split(", ")


def remove_marks(types):
    return [re.sub(r" \{.*\}", "", kind) for kind in types]


def list_values(name, types):
    return ", ".join(f"{name}{index}" for index in range(len(types)))


def compose(text, entry):
    """Appends to the module of the nested function @`entry` a function @gradients
    that calls its two parts."""
    text = re.sub(r" attributes \{fad\.pullback = @\w+\}", "", text)
    primals, saved = find_types(text, f"{entry}_forward")
    inputs, gradients = find_types(text, f"{entry}_backward")
    first = next(i for i, kind in enumerate(saved) if "fad.residual" in kind)
    primals, saved = remove_marks(primals), remove_marks(saved)
    inputs, gradients = remove_marks(inputs), remove_marks(gradients)
    cotangents = inputs[len(saved) - first :]
    arguments = [f"%x{i}: {kind}" for i, kind in enumerate(primals)]
    arguments += [f"%c{i}: {kind}" for i, kind in enumerate(cotangents)]
    residuals = [f"%saved#{i}" for i in range(first, len(saved))]
    residuals += [f"%c{i}" for i in range(len(cotangents))]
    types = ", ".join(gradients)
    # They are ordinary functions from here on.
    text = re.sub(r" \{fad\.(residual|(cotangent|gradient) = \d+ : i64)\}", "", text)
    return (
        f"{text[: text.rindex('}')]}"
        f"func.func @gradients({', '.join(arguments)}) -> ({types}) {{\n"
        f"  %saved:{len(saved)} = call @{entry}_forward({list_values('%x', primals)})"
        f" : ({', '.join(primals)}) -> ({', '.join(saved)})\n"
        f"  %g:{len(gradients)} = call @{entry}_backward({', '.join(residuals)})"
        f" : ({', '.join(inputs)}) -> ({types})\n"
        f"  return {list_values('%g#', gradients)} : {types}\n}}\n}}\n"
    )


def main():
    tools, source, entry, folder = sys.argv[1:5]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for policy, other in zip(POLICIES, POLICIES[1:] + POLICIES[:1]):
        nest = f"--fad-nest=entry={entry} policy={policy}"
        command = [f"{tools}/fad-opt", source, nest]
        nested = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        program = folder / f"{entry}-{policy}.mlir"
        program.write_text(compose(nested.stdout, entry))
        check = ["--entry=gradients", f"--policy={other}", "--check-gradients"]
        subprocess.run([f"{tools}/fad-runner", program, *check, *sys.argv[5:]], check=True)
        print(f"{entry}, {policy}, then {other}: right")


if __name__ == "__main__":
    main()
