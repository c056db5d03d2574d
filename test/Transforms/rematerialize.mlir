// What is alive at the peak of backward only to be read later is computed again
// before that.

// RUN: fad-opt %s --fad-rematerialize --split-input-file | FileCheck %s

// The attribute, not the names, makes two functions a pair. At the peak, the broadcast,
// %a and %b wait for their last readers. %b is computed again from %a, and %a from the
// residual, which is alive anyway.

// CHECK-LABEL: func.func @pullback(
// CHECK-SAME:  %[[R:[^:]*]]: tensor<1024xf32> {fad.residual}, %[[G:[^:]*]]: tensor<1024xf32>
// CHECK:       %[[A:.*]] = math.exp %[[R]]
// CHECK-NEXT:  %[[B:.*]] = math.sin %[[A]]
// CHECK-NEXT:  %[[U:.*]] = arith.mulf %[[G]], %[[B]]
// CHECK:       %[[WIDE:.*]] = linalg.broadcast ins(%[[U]]
// CHECK:       %[[SUM:.*]] = linalg.reduce {{.*}}ins(%[[WIDE]]
// CHECK:       %[[A2:.*]] = math.exp %[[R]]
// CHECK-NEXT:  %[[B2:.*]] = math.sin %[[A2]]
// CHECK-NEXT:  %[[V:.*]] = arith.mulf %[[SUM]], %[[B2]]
// CHECK-NEXT:  %[[W:.*]] = arith.mulf %[[V]], %[[A2]]
// CHECK-NEXT:  %[[X:.*]] = arith.addf %[[W]], %[[R]]
// CHECK-NEXT:  return %[[X]]
func.func @primal(%x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32> {fad.residual})
    attributes {fad.pullback = @pullback} {
  %r = math.cos %x : tensor<1024xf32>
  %y = math.exp %r : tensor<1024xf32>
  return %y, %r : tensor<1024xf32>, tensor<1024xf32>
}
func.func @pullback(%r: tensor<1024xf32> {fad.residual}, %g: tensor<1024xf32> {fad.cotangent = 0 : i64})
    -> (tensor<1024xf32> {fad.gradient = 0 : i64}) {
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %a = math.exp %r : tensor<1024xf32>
  %b = math.sin %a : tensor<1024xf32>
  %u = arith.mulf %g, %b : tensor<1024xf32>
  %e = tensor.empty() : tensor<1024x8xf32>
  %wide = linalg.broadcast ins(%u : tensor<1024xf32>) outs(%e : tensor<1024x8xf32>) dimensions = [1]
  %sum = linalg.reduce { arith.addf } ins(%wide : tensor<1024x8xf32>)
      outs(%zero : tensor<1024xf32>) dimensions = [1]
  %v = arith.mulf %sum, %b : tensor<1024xf32>
  %w = arith.mulf %v, %a : tensor<1024xf32>
  %x = arith.addf %w, %r : tensor<1024xf32>
  return %x : tensor<1024xf32>
}

// -----

// The source of %a dies before %a is read again: it would have to wait instead.
// So does what takes a reduction.

// CHECK-LABEL: @g_backward
// CHECK-COUNT-1: math.exp
// CHECK-NOT:     math.exp
// CHECK-COUNT-2: linalg.reduce
// CHECK-NOT:     linalg.reduce
// CHECK:         return
func.func @g_forward(%x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32> {fad.residual})
    attributes {fad.pullback = @g_backward} {
  %r = math.cos %x : tensor<1024xf32>
  return %r, %r : tensor<1024xf32>, tensor<1024xf32>
}
func.func @g_backward(%r: tensor<1024xf32> {fad.residual}, %g: tensor<1024xf32> {fad.cotangent = 0 : i64})
    -> (tensor<1024xf32> {fad.gradient = 0 : i64}) {
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %s = arith.mulf %r, %g : tensor<1024xf32>
  %a = math.exp %s : tensor<1024xf32>
  %e = tensor.empty() : tensor<1024x8xf32>
  %wide = linalg.broadcast ins(%a : tensor<1024xf32>) outs(%e : tensor<1024x8xf32>) dimensions = [1]
  %t = linalg.reduce { arith.addf } ins(%wide : tensor<1024x8xf32>)
      outs(%zero : tensor<1024xf32>) dimensions = [1]
  %wider = linalg.broadcast ins(%t : tensor<1024xf32>) outs(%e : tensor<1024x8xf32>) dimensions = [1]
  %sum = linalg.reduce { arith.addf } ins(%wider : tensor<1024x8xf32>)
      outs(%zero : tensor<1024xf32>) dimensions = [1]
  %v = arith.mulf %sum, %t : tensor<1024xf32>
  %w = arith.mulf %v, %a : tensor<1024xf32>
  return %w : tensor<1024xf32>
}

// -----

// A function without a partner is left alone, as is one that does not fit its
// partner, and one with a value whose bytes cannot be told.

// CHECK-LABEL: @alone_backward
// CHECK-COUNT-1: math.exp
// CHECK-NOT:     math.exp
// CHECK-LABEL: @other_backward
// CHECK-COUNT-1: math.exp
// CHECK-NOT:     math.exp
// CHECK-LABEL: @unranked_backward
// CHECK-COUNT-1: math.exp
// CHECK-NOT:     math.exp
func.func @alone_backward(%r: tensor<1024xf32> {fad.residual}, %g: tensor<1024xf32> {fad.cotangent = 0 : i64})
    -> (tensor<1024xf32> {fad.gradient = 0 : i64}) {
  %a = math.exp %r : tensor<1024xf32>
  %b = arith.mulf %g, %a : tensor<1024xf32>
  %c = arith.mulf %b, %r : tensor<1024xf32>
  return %c : tensor<1024xf32>
}
func.func @other_forward(%x: tensor<1024xf32>) -> (tensor<1024xf32> {fad.residual})
    attributes {fad.pullback = @other_backward} {
  return %x : tensor<1024xf32>
}
func.func @other_backward(%r: tensor<1024xf32> {fad.residual}, %g: tensor<1024xf32> {fad.cotangent = 7 : i64})
    -> (tensor<1024xf32> {fad.gradient = 0 : i64}) {
  %a = math.exp %r : tensor<1024xf32>
  %b = arith.mulf %g, %a : tensor<1024xf32>
  %c = arith.mulf %b, %r : tensor<1024xf32>
  return %c : tensor<1024xf32>
}
func.func @unranked_forward(%x: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32> {fad.residual})
    attributes {fad.pullback = @unranked_backward} {
  return %x, %x : tensor<*xf32>, tensor<*xf32>
}
func.func @unranked_backward(%r: tensor<*xf32> {fad.residual}, %g: tensor<*xf32> {fad.cotangent = 0 : i64})
    -> (tensor<*xf32> {fad.gradient = 0 : i64}) {
  %a = math.exp %r : tensor<*xf32>
  %b = arith.mulf %g, %a : tensor<*xf32>
  %c = arith.mulf %b, %r : tensor<*xf32>
  return %c : tensor<*xf32>
}
