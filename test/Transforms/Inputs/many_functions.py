"""Prints functions of two operations that are fused.

Usage: many_functions.py COUNT"""

import sys

FUNCTION = """func.func @f{}(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
  %p = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {{
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    fad.yield %e : f32
  }}
  %q = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {{
  ^bb0(%a: f32):
    %s = math.sin %a : f32
    fad.yield %s : f32
  }}
  return %p, %q : tensor<4xf32>, tensor<4xf32>
}}"""

for number in range(int(sys.argv[1])):
    print(FUNCTION.format(number))
