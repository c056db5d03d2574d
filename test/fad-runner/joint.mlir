// RUN: fad-runner %s --arg=2 --arg=0 | FileCheck %s --check-prefix=WHOLE
// RUN: fad-runner %s --policy=fad --arg=7 --arg=0 --cotangent=2 | FileCheck %s --check-prefix=SPLIT
// RUN: not fad-runner %s --check-gradients 2>&1 | FileCheck %s --check-prefix=CHECKED

// A joint function runs as a whole, or split: forward then takes no cotangents,
// wherever they stand, and --cotangent gives them.

// WHOLE:      out0: tensor<4xf32> = [0, 0, 0, 0]
// WHOLE-NEXT: out1: tensor<4xf32> = [2, 2, 2, 2]
// SPLIT:      out0: tensor<4xf32> = [0, 0, 0, 0]
// SPLIT-NEXT: grad0: tensor<4xf32> = [2, 2, 2, 2]
// CHECKED: joint.mlir:[[#@LINE+1]]:1: error: @f is differentiated already; --check-gradients is for functions that fad differentiates
func.func @f(%g: tensor<4xf32> {fad.cotangent = 0 : i64}, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %y = math.sin %x : tensor<4xf32>
  %c = math.cos %x : tensor<4xf32>
  %1 = arith.mulf %g, %c : tensor<4xf32>
  return %y, %1 : tensor<4xf32>, tensor<4xf32>
}
