"""Prints a program of a given number of transposes and sines, one after another.

usage: check_depth.py OPERATIONS
"""

import sys

KIND = "tensor<8x8xf32>"

print(f"func.func @f(%x: {KIND}) -> {KIND} {{\n  %e = tensor.empty() : {KIND}")
value = "%x"
for i in range(int(sys.argv[1]) // 2):
    print(
        f"  %t{i} = linalg.transpose ins({value} : {KIND}) outs(%e : {KIND}) permutation = [1, 0]\n"
        f"  %s{i} = math.sin %t{i} : {KIND}"
    )
    value = f"%s{i}"
print(f"  return {value} : {KIND}\n}}")
