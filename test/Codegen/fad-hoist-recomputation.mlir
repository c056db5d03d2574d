// RUN: fad-opt %s --fad-hoist-recomputation | FileCheck %s
// RUN: fad-opt %s --fad-to-iree | FileCheck %s --check-prefix=IREE

// What backward computes again comes first; adjoints keep their order. IREE's
// pipeline begins with that.

// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<4xf32> {fad.residual}, %[[CT:[^:]+]]: tensor<4xf32> {fad.cotangent = 0
// CHECK-NEXT:    %[[E:.+]] = math.exp %[[X]]
// CHECK-NEXT:    %[[S:.+]] = math.sin %[[E]]
// CHECK-NEXT:    %[[A:.+]] = arith.mulf %[[CT]], %[[CT]]
// CHECK-NEXT:    %[[B:.+]] = arith.mulf %[[A]], %[[E]]
// CHECK-NEXT:    %[[C:.+]] = arith.mulf %[[B]], %[[S]]
// CHECK-NEXT:    return %[[C]]

// IREE-LABEL: func.func @f_backward(
// IREE:         math.sin
// IREE:         arith.mulf
func.func @f_backward(%x: tensor<4xf32> {fad.residual}, %ct: tensor<4xf32> {fad.cotangent = 0}) -> (tensor<4xf32> {fad.gradient = 0}) {
  %a = arith.mulf %ct, %ct : tensor<4xf32>
  %e = math.exp %x : tensor<4xf32>
  %b = arith.mulf %a, %e : tensor<4xf32>
  %s = math.sin %e : tensor<4xf32>
  %c = arith.mulf %b, %s : tensor<4xf32>
  return %c : tensor<4xf32>
}

// Other functions stay as they are.

// CHECK-LABEL: func.func @f_forward(
// CHECK:         arith.mulf
// CHECK:         math.exp
// CHECK:         arith.addf
func.func @f_forward(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {fad.residual}) {
  %a = arith.mulf %x, %x : tensor<4xf32>
  %e = math.exp %x : tensor<4xf32>
  %b = arith.addf %a, %e : tensor<4xf32>
  return %b, %e : tensor<4xf32>, tensor<4xf32>
}
