// RUN: fad-opt %s -fad-to-iree | FileCheck %s
// RUN: fad-opt %S/../../examples/ffn/gelu.mlir -fad-nest -fad-to-iree \
// RUN:   | FileCheck %s --check-prefix=NESTED
// Executed in test/python/iree.

// Upstream operations only.
// CHECK-NOT: fad.
// NESTED-NOT: {{fad\.|erfc}}

// What a value and its derivative have in common is computed once.
// CHECK-LABEL: func.func @gelu(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>)
// CHECK: math.exp
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
func.func @gelu(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32> {fad.residual}) {
  %0:2 = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32>, tensor<?xf32> {
  ^bb0(%a: f32):
    %half = arith.constant 0.5 : f32
    %scale = arith.constant 0.707106769 : f32
    %edge = arith.constant 15.0 : f32
    %y = fad.gelu %a : f32
    %abs = math.absf %a : f32
    %size = arith.minimumf %abs, %edge : f32
    %scaled = arith.mulf %size, %scale : f32
    %erfc = math.erfc %scaled : f32
    %phi = arith.mulf %half, %erfc : f32
    %square = arith.mulf %a, %a : f32
    %e = math.exp %square : f32
    %d = arith.addf %phi, %e : f32
    fad.yield %y, %d : f32, f32
  }
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}
