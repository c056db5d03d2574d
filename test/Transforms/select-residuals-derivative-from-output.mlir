// RUN: fad-opt %s --split-input-file --fad-differentiate --fad-select-residuals="policy=auto recompute=nothing derivative-from-output" | FileCheck %s
// RUN: %python %S/Inputs/derivative_from_output.py fad-opt fad-runner %t.dir

// GELU's result is kept for the gradient of the weight; its derivative follows
// from that and a bit, which says whether the source is beyond the minimum.

// CHECK-LABEL: func.func @gelu_joint(
// CHECK:         %[[H:.*]] = linalg.matmul
// CHECK:         %[[Y:.*]] = fad.elementwise ins(%[[H]] : tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK:         %[[SIDE:.*]] = fad.elementwise ins(%[[H]] : tensor<3x5xf32>) attributes {fad.adjoint_of = "fad.gelu"} -> tensor<3x5xi1> {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32):
// CHECK:           %[[MINIMUM:.*]] = arith.constant -0.751791{{.*}} : f32
// CHECK:           arith.cmpf ogt, %[[X]], %[[MINIMUM]] : f32
// CHECK:         fad.pack %{{.*}} bits 1 : tensor<3x5xi8> -> tensor<2xi8>
// CHECK-DAG:     %[[BYTES:.*]] = fad.residual %{{.*}} needed_by ["fad.gelu"] reason "for a derivative from a result, off by at most {{[0-9.e-]+}}, mean square {{[0-9.e-]+}}, 1 bit an element" {largest_error = {{9.0[0-9]+E-4}} : f64, mean_square_error = {{8.0[0-9]+E-8}} : f64} : tensor<2xi8>
// CHECK-DAG:     %[[KEPT:.*]] = fad.residual %[[Y]]
// CHECK:         %[[CODES:.*]] = fad.unpack %[[BYTES]] bits 1
// CHECK:         %[[BIT:.*]] = fad.elementwise ins(%[[CODES]] : tensor<3x5xi8>) -> tensor<3x5xi1>
// CHECK:         fad.elementwise ins(%[[KEPT]], %[[BIT]] : tensor<3x5xf32>, tensor<3x5xi1>) -> tensor<3x5xf32> {
// CHECK:           math.sqrt
// CHECK:           math.fma
func.func @gelu(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>, %v: tensor<5x2xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %y = fad.elementwise ins(%h : tensor<3x5xf32>) -> tensor<3x5xf32> {
  ^bb0(%a: f32):
    %g = fad.gelu %a : f32
    fad.yield %g : f32
  }
  %f = tensor.empty() : tensor<3x2xf32>
  %z = linalg.matmul ins(%y, %v : tensor<3x5xf32>, tensor<5x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %z : tensor<3x2xf32>
}

// -----

// An activation with two minima, and one without any, have no such form.

// CHECK-LABEL: func.func @others_joint(
// CHECK-NOT:     xi1>
// CHECK:         return
func.func @others(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>, %v: tensor<5x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %e = tensor.empty() : tensor<3x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %y:2 = fad.elementwise ins(%h : tensor<3x5xf32>) -> tensor<3x5xf32>, tensor<3x5xf32> {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %square = arith.mulf %a, %a : f32
    %low = arith.subf %square, %one : f32
    %two_minima = arith.mulf %low, %low : f32
    %none = fad.softplus %a : f32
    fad.yield %two_minima, %none : f32, f32
  }
  %f = tensor.empty() : tensor<3x2xf32>
  %z = linalg.matmul ins(%y#0, %v : tensor<3x5xf32>, tensor<5x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  %u = linalg.matmul ins(%y#1, %v : tensor<3x5xf32>, tensor<5x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %z, %u : tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

// The side is that of the activation's own source, where this is computed from
// another tensor.

// CHECK-LABEL: func.func @chain_joint(
// CHECK:         %[[H:.*]] = linalg.matmul
// CHECK:         %[[T:.*]] = fad.elementwise ins(%[[H]] : tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK:         fad.elementwise ins(%[[T]] : tensor<3x5xf32>) {{.*}} -> tensor<3x5xi1> {
// CHECK:           arith.constant -0.751791{{.*}} : f32
func.func @chain(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>, %v: tensor<5x2xf32>) -> tensor<3x2xf32> {
  %z = arith.constant dense<0.0> : tensor<3x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x5xf32>) outs(%z : tensor<3x5xf32>) -> tensor<3x5xf32>
  %t = fad.elementwise ins(%h : tensor<3x5xf32>) -> tensor<3x5xf32> {
  ^bb0(%a: f32):
    %two = arith.constant 2.0 : f32
    %c = arith.constant 1.0 : f32
    %m = arith.mulf %a, %two : f32
    %s = arith.addf %m, %c : f32
    %s2 = arith.addf %s, %c : f32
    fad.yield %s2 : f32
  }
  %y = fad.elementwise ins(%t : tensor<3x5xf32>) -> tensor<3x5xf32> {
  ^bb0(%a: f32):
    %g = fad.gelu %a : f32
    fad.yield %g : f32
  }
  %f = arith.constant dense<0.0> : tensor<3x2xf32>
  %r = linalg.matmul ins(%y, %v : tensor<3x5xf32>, tensor<5x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// What the derivative is computed from is there, or computed again at no byte: then
// the derivative is exact.

// CHECK-LABEL: func.func @available_joint(
// CHECK-NOT:     fad.pack
// CHECK-NOT:     math.sqrt
// CHECK:         fad.residual %{{.*}} reason "argument"
// CHECK-NOT:     largest_error
// CHECK-NOT:     math.sqrt
// CHECK:         return
func.func @available(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %x = arith.mulf %a, %b : tensor<64xf32>
  %y = fad.elementwise ins(%x : tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%s: f32):
    %g = fad.gelu %s : f32
    fad.yield %g : f32
  }
  return %y : tensor<64xf32>
}
