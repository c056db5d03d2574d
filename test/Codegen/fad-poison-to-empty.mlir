// RUN: fad-opt %s -fad-poison-to-empty | FileCheck %s
// RUN: fad-runner %s --entry=no_iterations --policy=fad --check-gradients --size=3 --arg=1 \
// RUN:   | FileCheck %s --check-prefix=VALUES

// CHECK-LABEL: func.func @sizes(
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[E:.*]] = tensor.empty(%[[ZERO]]) : tensor<2x?xf32>
// CHECK:         %[[N:.*]] = ub.poison : f32
// CHECK-NEXT:    return %[[E]], %[[N]]
func.func @sizes() -> (tensor<2x?xf32>, f32) {
  %0 = ub.poison : tensor<2x?xf32>
  %1 = ub.poison : f32
  return %0, %1 : tensor<2x?xf32>, f32
}

// Canonicalization knows that the loop ends before its first iteration.
// VALUES:     out0: tensor<3xf64> = [0.841471, 0.841471, 0.841471]
// VALUES-NOT: FAIL
func.func @no_iterations(%x: tensor<?xf64>) -> tensor<?xf64> {
  %false = arith.constant false
  %r = scf.while (%a = %x) : (tensor<?xf64>) -> tensor<?xf64> {
    %s = math.sin %a : tensor<?xf64>
    scf.condition(%false) %s : tensor<?xf64>
  } do {
  ^bb0(%a: tensor<?xf64>):
    %s = math.exp %a : tensor<?xf64>
    scf.yield %s : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}
