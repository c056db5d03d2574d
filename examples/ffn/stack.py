#!/usr/bin/env python3
"""Prints a network of several feed-forward blocks, each of which has weights of its own and
takes the result of the one before it.

Usage: stack.py BLOCK.mlir NUMBER"""

import re
import sys


def stack(block, count):
    """Returns the module with `count` calls of the function @ffn of `block`, a file of this
    folder."""
    arguments, result = re.search(r"func\.func @ffn\((.*)\) -> (\S+) \{", block).groups()
    types = re.findall(r"%\w+: ([^,]+)", arguments)
    signature = f"({', '.join(types)}) -> {result}"
    parameters, calls = [f"%x0: {types[0]}"], []
    for number in range(count):
        names = [f"%w{number}_{index}" for index in range(1, len(types))]
        parameters += map("{}: {}".format, names, types[1:])
        operands = ", ".join([f"%x{number}", *names])
        calls.append(f"    %x{number + 1} = func.call @ffn({operands}) : {signature}")
    network = [
        f"  func.func @network({', '.join(parameters)}) -> {result} {{",
        *calls,
        f"    return %x{count} : {result}",
        "  }",
        "}",
    ]
    private = block.replace("func.func @ffn", "func.func private @ffn")
    return "\n".join([private.rstrip().removesuffix("}").rstrip(), *network])


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdecimal():
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        print(stack(file.read(), int(sys.argv[2])))


if __name__ == "__main__":
    main()
