// RUN: fad-opt %s --split-input-file --fad-differentiate="wrt=0" --fad-select-residuals="policy=auto recompute=nothing derivative-bits=2" | FileCheck %s
// RUN: fad-opt %s --split-input-file --fad-differentiate="wrt=0" --fad-select-residuals="policy=auto recompute=nothing" \
// RUN:   | FileCheck %s --check-prefix=EXACT
// Of the numbers of bits and types that are compared with numpy, this has three;
// check-fad-nightly has all.
// RUN: %python %S/Inputs/few_bits.py fad-opt fad-runner %t.dir %if nightly %{ --every %}

// Without the option, derivatives are exact.
// EXACT-NOT: off by

// The derivative of GELU in two bits: the number of boundaries that it is above,
// found by bisection, and a table of levels, 0 and 1 among them.

// CHECK-LABEL: func.func @gelu_joint(
// CHECK:         %[[H:.*]] = linalg.matmul
// CHECK:         %[[D:.*]] = fad.elementwise ins(%[[H]] : tensor<3x5xf32>) attributes {fad.adjoint_of = "fad.gelu"}
// CHECK:         %[[CODES:.*]] = fad.elementwise ins(%[[D]] : tensor<3x5xf32>) -> tensor<3x5xi8> {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32):
// CHECK:           %[[MIDDLE:.*]] = arith.constant 5.000000e-01 : f32
// CHECK:           %[[HIGH:.*]] = arith.cmpf ogt, %[[X]], %[[MIDDLE]] : f32
// CHECK:           %[[BOUNDARY:.*]] = arith.select %[[HIGH]], %{{.*}}, %{{.*}} : f32
// CHECK:           %[[LOW:.*]] = arith.cmpf ogt, %[[X]], %[[BOUNDARY]] : f32
// CHECK:         %[[BYTES:.*]] = fad.pack %[[CODES]] bits 2 : tensor<3x5xi8> -> tensor<4xi8>
// CHECK:         %[[R:.*]] = fad.residual %[[BYTES]] needed_by ["fad.gelu"] reason "derivative of a region, 2 bits an element, off by at most 0.17{{[0-9]*}}, mean square 0.0078{{[0-9]*}}" {largest_error = 0.17{{[0-9]*}} : f64, mean_square_error = 0.0078{{[0-9]*}} : f64} : tensor<4xi8>
// CHECK:         %[[NUMBERS:.*]] = fad.unpack %[[R]] bits 2 : tensor<4xi8> -> tensor<3x5xi8>
// CHECK:         fad.elementwise ins(%[[NUMBERS]] : tensor<3x5xi8>) -> tensor<3x5xf32> {
// CHECK-NEXT:    ^bb0(%[[CODE:.*]]: i8):
// CHECK-DAG:       arith.constant 0.000000e+00 : f32
// CHECK-DAG:       arith.constant 0.32{{.*}} : f32
// CHECK-DAG:       arith.constant 0.67{{.*}} : f32
// CHECK-DAG:       arith.constant 1.000000e+00 : f32
func.func @gelu(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %y = fad.elementwise ins(%h : tensor<3x5xf32>) -> tensor<3x5xf32> {
  ^bb0(%a: f32):
    %g = fad.gelu %a : f32
    fad.yield %g : f32
  }
  return %y : tensor<3x5xf32>
}

// -----

// A derivative with two values stays exact, at one bit.

// CHECK-LABEL: func.func @relu_joint(
// CHECK:         fad.pack %{{.*}} bits 1 :
// CHECK:         fad.residual %{{.*}} reason "derivative of a region, 1 bit an element" : tensor<2xi8>
func.func @relu(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %y = fad.elementwise ins(%h : tensor<3x5xf32>) -> tensor<3x5xf32> {
  ^bb0(%a: f32):
    %g = fad.relu %a : f32
    %s = arith.addf %g, %g : f32
    fad.yield %s : f32
  }
  return %y : tensor<3x5xf32>
}

// -----

// Derivatives that grow, that have no limits, that have a pole, and that are not
// numbers somewhere, stay as they are.

// CHECK-LABEL: func.func @unbounded_joint(
// CHECK-NOT:     fad.pack
// CHECK:         return
func.func @unbounded(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>)
    -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) {
  %e = tensor.empty() : tensor<3x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %y:4 = fad.elementwise ins(%h : tensor<3x5xf32>)
      -> tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32> {
  ^bb0(%a: f32):
    %third = arith.constant 0.3 : f32
    %grows = arith.mulf %a, %a : f32
    %turns = math.sin %a : f32
    %shifted = arith.subf %a, %third : f32
    %absolute = math.absf %shifted : f32
    %pole = math.log %absolute : f32
    %part = math.log %a : f32
    fad.yield %grows, %turns, %pole, %part : f32, f32, f32, f32
  }
  return %y#0, %y#1, %y#2, %y#3 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

// -----

// A pole at zero is between the samples, which lie about it evenly.

// CHECK-LABEL: func.func @pole_joint(
// CHECK-NOT:     fad.pack
// CHECK:         return
func.func @pole(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %y = fad.elementwise ins(%h : tensor<3x5xf32>) -> tensor<3x5xf32> {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %q = arith.divf %one, %a : f32
    fad.yield %q : f32
  }
  return %y : tensor<3x5xf32>
}

// -----

// Sizes that are known only at run time.

// CHECK-LABEL: func.func @sizes_joint(
// CHECK:         fad.pack %{{.*}} bits 2 : tensor<?x3xi8> -> tensor<?xi8>
// CHECK:         %[[N:.*]] = tensor.dim
// CHECK:         fad.unpack %{{.*}} bits 2 sizes(%[[N]]) : tensor<?xi8> -> tensor<?x3xi8>
func.func @sizes(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %h = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x3xf32>) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = fad.elementwise ins(%h : tensor<?x3xf32>) -> tensor<?x3xf32> {
  ^bb0(%a: f32):
    %g = fad.silu %a : f32
    fad.yield %g : f32
  }
  return %y : tensor<?x3xf32>
}

// -----

// One element.

// CHECK-LABEL: func.func @scalar_joint(
// CHECK:         fad.pack %{{.*}} bits 2 : tensor<i8> -> tensor<1xi8>
func.func @scalar(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %h = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<f32>) -> tensor<f32>
  %y = fad.elementwise ins(%h : tensor<f32>) -> tensor<f32> {
  ^bb0(%a: f32):
    %g = fad.mish %a : f32
    fad.yield %g : f32
  }
  return %y : tensor<f32>
}
