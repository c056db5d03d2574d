"""Prints a module in which each of 24 functions calls the one before it twice."""

TENSOR = "tensor<4xf32>"
print(f"func.func private @f0(%x: {TENSOR}) -> {TENSOR} {{")
print(f"  %y = math.sin %x : {TENSOR}\n  return %y : {TENSOR}\n}}")
for i in range(1, 25):
    visibility = "private " if i < 24 else ""
    print(f"func.func {visibility}@f{i}(%x: {TENSOR}) -> {TENSOR} {{")
    print(f"  %y = call @f{i - 1}(%x) : ({TENSOR}) -> {TENSOR}")
    print(f"  %z = call @f{i - 1}(%y) : ({TENSOR}) -> {TENSOR}")
    print(f"  return %z : {TENSOR}\n}}")
