// RUN: fad-opt %s --fad-nest="entry=f" | FileCheck %s
// RUN: not fad-opt %s --fad-nest="entry=f wrt=0" 2>&1 | FileCheck %s --check-prefix=WRT
// RUN: not fad-opt %s --fad-nest="entry=f results=0" 2>&1 | FileCheck %s --check-prefix=RESULTS
// RUN: not fad-opt %s --fad-nest="entry=f cotangents=1" 2>&1 | FileCheck %s --check-prefix=MARKED
// RUN: not fad-opt %s --fad-differentiate="entry=f" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: fad-opt %s --fad-differentiate="entry=g derivatives-from=operands" --fad-nest="entry=g_joint policy=fad" \
// RUN: | FileCheck %s --check-prefix=OWN

// A function with cotangents is a joint function: it is split as it is.

// CHECK-LABEL: func.func @f_forward(
// CHECK-LABEL: func.func @f_backward(

// WRT: nest-joint.mlir:[[#@LINE+4]]:1: error: @f is differentiated already: its marks say with respect to what; leave out 'wrt'
// RESULTS: nest-joint.mlir:[[#@LINE+3]]:1: error: @f is differentiated already: its marks say with respect to what; leave out 'results'
// MARKED: nest-joint.mlir:[[#@LINE+2]]:35: error: argument 1 is marked with fad.cotangent already; leave out 'cotangents' and 'gradients'
// AGAIN: nest-joint.mlir:[[#@LINE+1]]:35: error: argument 1 is a cotangent already
func.func @f(%x: tensor<4xf32>,   %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %y = math.sin %x : tensor<4xf32>
  %c = math.cos %x : tensor<4xf32>
  %1 = arith.mulf %g, %c : tensor<4xf32>
  return %y, %1 : tensor<4xf32>, tensor<4xf32>
}

// What fad has differentiated itself passes, too.

// OWN-LABEL: func.func @g_joint_forward(
// OWN:         fad.elementwise {{.*}} -> tensor<4xf32>, tensor<4xf32>
// OWN-LABEL: func.func @g_joint_backward(
// OWN:         arith.mulf
// OWN:         return
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %t = math.tanh %a : f32
    %s = math.sin %t : f32
    fad.yield %s : f32
  }
  return %y : tensor<4xf32>
}
