// A detached value has no gradient, under every policy, and costs nothing.

// RUN: fad-opt %s --fad-nest="entry=detached policy=bp" | FileCheck %s
// RUN: fad-opt %s --fad-nest="entry=detached policy=fad" | FileCheck %s
// RUN: fad-opt %s --fad-nest="entry=detached policy=auto" | FileCheck %s
// RUN: fad-opt %s --fad-nest="entry=teacher wrt=1,2 policy=auto" | FileCheck %s --check-prefix=TEACHER
// RUN: fad-opt %s --fad-to-linalg | FileCheck %s --check-prefix=LINALG

// What is constant for the differences is constant for the gradients:
// RUN: fad-runner %s --entry=detached --wrt=1 --size=3 --check-gradients
// RUN: fad-runner %s --entry=teacher --wrt=1 --check-gradients
// RUN: fad-runner %s --entry=loop --wrt=1 --arg=4 --check-gradients
// RUN: fad-runner %s --entry=branch --wrt=1 --arg=1 --check-gradients

// The gradient of x is that of the other factor alone: dy * w.
// CHECK-LABEL: func.func @detached_forward(
// CHECK-NOT:   fad.detach
// CHECK-LABEL: func.func @detached_backward(
// CHECK-NOT:   math.cos
// CHECK-NOT:   fad.detach
// CHECK:       return
// LINALG-LABEL: func.func @detached(
// LINALG-NOT:   fad.detach
// LINALG:       return
func.func @detached(%x: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
  %s = math.sin %x : tensor<?xf32>
  %d = fad.detach %s : tensor<?xf32>
  %m = arith.mulf %x, %w : tensor<?xf32>
  %n = arith.mulf %d, %w : tensor<?xf32>
  %r = arith.addf %m, %n : tensor<?xf32>
  return %r : tensor<?xf32>
}

// Backward of a frozen network is not computed: there is one product for each of
// the other operands.
// TEACHER-LABEL: func.func @teacher_backward(
// TEACHER-COUNT-2: = linalg.matmul
// TEACHER-NOT:   = linalg.matmul
// TEACHER:       return
func.func @teacher(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<3x4xf32>
  %t = linalg.matmul ins(%x, %a : tensor<3x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<3x4xf32>) -> tensor<3x4xf32>
  %e = math.tanh %t : tensor<3x4xf32>
  %d = fad.detach %e : tensor<3x4xf32>
  %s = linalg.matmul ins(%x, %b : tensor<3x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = arith.mulf %s, %d : tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

func.func @loop(%n: index, %x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<3xf64> {
    %s = math.sin %y : tensor<3xf64>
    %d = fad.detach %s : tensor<3xf64>
    %m = arith.mulf %a, %a : tensor<3xf64>
    %t = arith.mulf %m, %d : tensor<3xf64>
    scf.yield %t : tensor<3xf64>
  }
  return %r : tensor<3xf64>
}

func.func @branch(%c: i1, %x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %r = scf.if %c -> tensor<3xf64> {
    %e = math.exp %y : tensor<3xf64>
    %d = fad.detach %e : tensor<3xf64>
    %t = math.tanh %x : tensor<3xf64>
    %k = arith.mulf %d, %t : tensor<3xf64>
    scf.yield %k : tensor<3xf64>
  } else {
    scf.yield %x : tensor<3xf64>
  }
  return %r : tensor<3xf64>
}
