// RUN: fad-opt %s --fad-raise=within-operations | FileCheck %s

// A chain of operations on tensors stays a chain of operations; one inside an
// operation gets its name.

// CHECK-LABEL: func @chain(
// CHECK-NOT:     fad.silu
// CHECK:         linalg.generic
// CHECK:           fad.sigmoid
// CHECK:         linalg.generic
// CHECK:           arith.mulf
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = fad.sigmoid %x : tensor<4xf32>
  %y = arith.mulf %x, %s : tensor<4xf32>
  return %y : tensor<4xf32>
}

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @body(
// CHECK:         linalg.generic
// CHECK:           fad.silu
func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = fad.sigmoid %a : f32
    %m = arith.mulf %a, %s : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
