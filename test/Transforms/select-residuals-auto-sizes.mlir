// RUN: fad-opt %s --fad-select-residuals=policy=auto | FileCheck %s --check-prefixes=CHECK,MANY
// RUN: fad-opt %s --fad-select-residuals="policy=auto assumed-size=4" | FileCheck %s --check-prefixes=CHECK,FEW

// Which of two tensors is smaller depends on a size that is known at run time:
// 64 numbers are fewer than 128, and more than 4.

// CHECK-LABEL: func.func @border(
// CHECK:         %[[H:.*]] = linalg.matvec
// CHECK:         %[[Y:.*]] = tensor.pad %[[H]]
// MANY-NOT:      fad.residual %[[H]]
// MANY:          fad.residual %[[Y]] {{.*}} : tensor<64xf32>
// MANY-NOT:      fad.residual %[[H]]
// FEW-NOT:       fad.residual %[[Y]]
// FEW:           fad.residual %[[H]] {{.*}} : tensor<?xf32>
// FEW-NOT:       fad.residual %[[Y]]
// CHECK:         return
func.func @border(%w: tensor<?x8xf32>, %x: tensor<8xf32>, %init: tensor<?xf32>, %k: index,
                  %g: tensor<f32> {fad.cotangent = 0 : i64})
    -> (tensor<f32>, tensor<64xf32> {fad.gradient = 2 : i64}) {
  %z = arith.constant 0.0 : f32
  %h = linalg.matvec ins(%w, %x : tensor<?x8xf32>, tensor<8xf32>) outs(%init : tensor<?xf32>) -> tensor<?xf32>
  %y = tensor.pad %h low[0] high[%k] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<?xf32> to tensor<64xf32>
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.dot ins(%y, %y : tensor<64xf32>, tensor<64xf32>) outs(%f : tensor<f32>) -> tensor<f32>
  %s = tensor.extract %g[] : tensor<f32>
  %t = tensor.splat %s : tensor<64xf32>
  %d = arith.mulf %y, %t : tensor<64xf32>
  return %r, %d : tensor<f32>, tensor<64xf32>
}
