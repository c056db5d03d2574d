// RUN: fad-opt %s --fad-partition --fad-differentiate="entry=scaled derivatives-from=both" --mlir-print-local-scope | FileCheck %s
// RUN: fad-opt %s --fad-partition --fad-differentiate="entry=scaled derivatives-from=operands" --mlir-print-local-scope | FileCheck %s --check-prefix=OPERANDS
// RUN: fad-memory-report %s --entry=scaled --policy=auto --recompute=nothing | FileCheck %s --check-prefix=SCALED
// RUN: fad-memory-report %s --entry=narrow --policy=auto --recompute=elementwise | FileCheck %s --check-prefix=NARROW
// RUN: fad-memory-report %s --entry=quotient --policy=auto --recompute=nothing | FileCheck %s --check-prefix=QUOTIENT
// RUN: fad-memory-report %s --entry=cancels --policy=auto --recompute=nothing | FileCheck %s --check-prefix=CANCELS
// RUN: fad-memory-report %s --entry=twice --policy=auto --recompute=elementwise | FileCheck %s --check-prefix=TWICE
// RUN: fad-runner %s --entry=scaled --policy=auto --recompute=nothing --check-gradients
// RUN: fad-runner %s --entry=quotient --policy=auto --recompute=nothing --check-gradients
// RUN: fad-runner %s --entry=cancels --policy=auto --check-gradients
// RUN: fad-runner %s --entry=twice --policy=auto --check-gradients
// RUN: fad-opt %s --fad-nest="entry=scaled policy=auto recompute=nothing" | FileCheck %s --check-prefix=NEST
// RUN: fad-opt %s --fad-partition --fad-differentiate="entry=loops derivatives-from=both" --mlir-print-local-scope | FileCheck %s --check-prefix=LOOPS
// RUN: fad-runner %s --entry=loops --policy=auto --recompute=nothing --check-gradients

// The value inside of the region takes long to compute, and all else is cheap from
// there: 32 bytes instead of 64 for the result and the derivative.

// CHECK-LABEL: func.func @scaled_joint(
// CHECK:         %[[R:.+]]:2 = fad.elementwise ins(
// CHECK:           %[[T:.+]] = math.tanh
// CHECK:           %[[Y:.+]] = arith.mulf %[[T]]
// CHECK:           fad.yield %[[Y]], %[[T]]
// OPERANDS-LABEL: func.func @scaled_joint(
// OPERANDS:         %{{.+}} = fad.elementwise ins(
// OPERANDS-NOT:     fad.alternatives
// SCALED:        auto {{ *}}32  total

// What is not kept is not computed.

// NEST-LABEL:  func.func @scaled_forward(
// NEST:          math.tanh
// NEST-NOT:      math.
// NEST:        func.func @scaled_backward(
// NEST-NOT:      math.
// NEST:          return
func.func @scaled(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4x2xf32>) -> tensor<2x2xf32> {
  %e = arith.constant dense<0.0> : tensor<2x4xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %two = arith.constant dense<2.0> : tensor<2x4xf32>
  %h = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %t = math.tanh %h : tensor<2x4xf32>
  %y = arith.mulf %t, %two : tensor<2x4xf32>
  %r = linalg.matmul ins(%y, %v : tensor<2x4xf32>, tensor<4x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// The source in half the bits, from which the region goes on, is kept instead of it.

// NARROW: auto {{ *}}16  total
func.func @narrow(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4x2xbf16>) -> tensor<2x2xbf16> {
  %e = arith.constant dense<0.0> : tensor<2x4xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xbf16>
  %h = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %n = arith.truncf %h : tensor<2x4xf32> to tensor<2x4xbf16>
  %y = fad.gelu %n : tensor<2x4xbf16>
  %r = linalg.matmul ins(%y, %v : tensor<2x4xbf16>, tensor<4x2xbf16>) outs(%z : tensor<2x2xbf16>) -> tensor<2x2xbf16>
  return %r : tensor<2x2xbf16>
}

// The derivative of a quotient reads the quotient, which is returned, and not what
// is divided.

// QUOTIENT: auto {{ *}}32  total
func.func @quotient(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %e = arith.constant dense<0.0> : tensor<2x4xf32>
  %four = arith.constant dense<16.0> : tensor<2x4xf32>
  %a = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = linalg.matmul ins(%x, %v : tensor<2x4xf32>, tensor<4x4xf32>) outs(%four : tensor<2x4xf32>) -> tensor<2x4xf32>
  %q = arith.divf %a, %b : tensor<2x4xf32>
  return %q : tensor<2x4xf32>
}

// A difference of a value and itself has the derivative zero.

// CANCELS: auto {{ *}}0  total
func.func @cancels(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %e = arith.constant dense<0.0> : tensor<2x4xf32>
  %h = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %t = math.tanh %h : tensor<2x4xf32>
  %d = arith.subf %t, %t : tensor<2x4xf32>
  return %d : tensor<2x4xf32>
}

// Equal operations are one before regions are made: all that backward reads of them
// is what is returned.

// TWICE: auto {{ *}}0  total
func.func @twice(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %e = arith.constant dense<0.0> : tensor<2x4xf32>
  %h = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %t = math.tanh %h : tensor<2x4xf32>
  %s = math.sin %t : tensor<2x4xf32>
  %g = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %u = math.tanh %g : tensor<2x4xf32>
  return %s, %u : tensor<2x4xf32>, tensor<2x4xf32>
}

// Between regions, loops are replaced by ones that stack what backward reads. The
// regions before and after them have alternatives all the same.

// LOOPS-LABEL: func.func @loops_joint(
// LOOPS:         %[[R:.+]]:2 = fad.elementwise ins(
// LOOPS:           math.tanh
// LOOPS:         fad.alternatives %[[R]]#0, %{{.+}} : tensor<4xf32>
// LOOPS:         scf.for {{.*}} -> (tensor<4xf32>, tensor<3x4xf32>) {
// LOOPS:         scf.for {{.*}} -> (tensor<4xf32>, tensor<3x4xf32>) {
// LOOPS:         %[[S:.+]]:2 = fad.elementwise ins(
// LOOPS:           math.tanh
// LOOPS:         fad.alternatives %[[S]]#0, %{{.+}} : tensor<4xf32>
func.func @loops(%x: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %s = math.tanh %x : tensor<4xf32>
  %y = arith.mulf %s, %two : tensor<4xf32>
  %first = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %y) -> tensor<4xf32> {
    %b = math.sin %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %second = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %first) -> tensor<4xf32> {
    %b = math.cos %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %t = math.tanh %second : tensor<4xf32>
  %z = arith.mulf %t, %two : tensor<4xf32>
  %p = arith.mulf %z, %u : tensor<4xf32>
  return %p : tensor<4xf32>
}
