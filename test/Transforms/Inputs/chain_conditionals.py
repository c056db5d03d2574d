"""Prints a loop over conditionals, one after the other: how many is the argument."""

import sys

count = int(sys.argv[1])
TENSOR = "tensor<?xf64>"
print(f"func.func @chain(%x: {TENSOR}, %n: i64) -> {TENSOR} {{")
for name, value in (("c0", 0), ("c1", 1), ("c3", 3)):
    print(f"%{name} = arith.constant {value} : index")
print("%r = scf.for %k = %c0 to %c3 step %c1 iter_args(%v0 = %x)")
print(f"    -> ({TENSOR}) {{")
for i in range(count):
    print(f"%i{i} = arith.constant {i} : i64")
    print(f"%b{i} = arith.cmpi sgt, %n, %i{i} : i64")
    print(f"%v{i + 1} = scf.if %b{i} -> ({TENSOR}) {{")
    print(f"%s{i} = math.sin %v{i} : {TENSOR}")
    print(f"scf.yield %s{i} : {TENSOR}")
    print("} else {")
    print(f"%t{i} = math.cos %v{i} : {TENSOR}")
    print(f"scf.yield %t{i} : {TENSOR}")
    print("}")
print(f"scf.yield %v{count} : {TENSOR}")
print("}")
print(f"return %r : {TENSOR}")
print("}")
