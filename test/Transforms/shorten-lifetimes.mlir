// Operations that only residuals need go up, recomputed ones go down.

// RUN: fad-opt %s --fad-shorten-lifetimes | FileCheck %s

// The derivative is computed where its source is read last, and packed at once.
// CHECK-LABEL: @f_forward
// CHECK-SAME:  %[[X:[^:]*]]: tensor<8xf32>
// CHECK:       %[[A:.*]] = math.exp %[[X]]
// CHECK-NEXT:  %[[Y:.*]] = math.tanh %[[A]]
// CHECK-NEXT:  %[[D:.*]] = math.sqrt %[[A]]
// CHECK-NEXT:  %[[H:.*]] = arith.truncf %[[D]]
// CHECK-NEXT:  %[[Z:.*]] = math.log %[[Y]]
// CHECK-NEXT:  %[[W:.*]] = math.sin %[[Z]]
// An argument does not die: this one stays.
// CHECK-NEXT:  %[[E:.*]] = math.cos %[[X]]
// CHECK-NEXT:  return %[[W]], %[[H]], %[[E]]
func.func @f_forward(%x: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf16> {fad.residual}, tensor<8xf32> {fad.residual}) {
  %a = math.exp %x : tensor<8xf32>
  %y = math.tanh %a : tensor<8xf32>
  %z = math.log %y : tensor<8xf32>
  %w = math.sin %z : tensor<8xf32>
  %e = math.cos %x : tensor<8xf32>
  %d = math.sqrt %a : tensor<8xf32>
  %h = arith.truncf %d : tensor<8xf32> to tensor<8xf16>
  return %w, %h, %e : tensor<8xf32>, tensor<8xf16>, tensor<8xf32>
}

// What is recomputed is recomputed where it is read first, in order.
// CHECK-LABEL: @f_backward
// CHECK-SAME:  %[[R:[^:]*]]: tensor<8xf32> {fad.residual}, %[[C:[^:]*]]: tensor<8xf32>
// CHECK:       %[[A:.*]] = math.exp %[[R]]
// CHECK-NEXT:  %[[G:.*]] = arith.mulf %[[C]], %[[A]]
// CHECK-NEXT:  %[[B:.*]] = math.log %[[A]]
// CHECK-NEXT:  %[[D:.*]] = math.sin %[[B]]
// CHECK-NEXT:  %[[H:.*]] = arith.mulf %[[G]], %[[D]]
// CHECK-NEXT:  return %[[H]], %[[A]]
func.func @f_backward(%r: tensor<8xf32> {fad.residual}, %c: tensor<8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<8xf32> {fad.gradient = 0 : i64}, tensor<8xf32> {fad.gradient = 1 : i64}) {
  %a = math.exp %r : tensor<8xf32>
  %b = math.log %a : tensor<8xf32>
  %d = math.sin %b : tensor<8xf32>
  %g = arith.mulf %c, %a : tensor<8xf32>
  %h = arith.mulf %g, %d : tensor<8xf32>
  return %h, %a : tensor<8xf32>, tensor<8xf32>
}

// What reads no more of a cotangent than its size goes down, too.
// CHECK-LABEL: @sizes_backward
// CHECK-SAME:  %[[R:[^:]*]]: tensor<?xf32> {fad.residual}, %[[C:[^:]*]]: tensor<?xf32>
// CHECK:       %[[N:.*]] = tensor.dim %[[C]]
// CHECK-NEXT:  %[[G:.*]] = math.absf %[[C]]
// CHECK-NEXT:  %[[E:.*]] = tensor.empty(%[[N]])
// CHECK-NEXT:  %[[A:.*]] = linalg.exp ins(%[[R]] : tensor<?xf32>) outs(%[[E]] : tensor<?xf32>)
// CHECK-NEXT:  arith.mulf %[[G]], %[[A]]
func.func @sizes_backward(%r: tensor<?xf32> {fad.residual}, %c: tensor<?xf32> {fad.cotangent = 0 : i64})
    -> (tensor<?xf32> {fad.gradient = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %c, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.exp ins(%r : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %g = math.absf %c : tensor<?xf32>
  %h = arith.mulf %g, %a : tensor<?xf32>
  return %h : tensor<?xf32>
}

// A source of random numbers stays where it is, as does what nothing reads.
// CHECK-LABEL: @g_backward
// CHECK:       ml_program.global_load
// CHECK-NEXT:  math.absf
// CHECK-NEXT:  arith.negf
// CHECK-NEXT:  arith.addf
// CHECK-NEXT:  arith.mulf
ml_program.global private mutable @state(dense<0.0> : tensor<8xf32>) : tensor<8xf32>
func.func @g_backward(%c: tensor<8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<8xf32> {fad.gradient = 0 : i64}) {
  %s = ml_program.global_load @state : tensor<8xf32>
  %b = arith.addf %s, %s : tensor<8xf32>
  %u = math.absf %s : tensor<8xf32>
  %n = arith.negf %c : tensor<8xf32>
  %g = arith.mulf %n, %b : tensor<8xf32>
  return %g : tensor<8xf32>
}

// Other functions keep their order.
// CHECK-LABEL: @plain
// CHECK:       math.exp
// CHECK-NEXT:  math.log
// CHECK-NEXT:  math.sin
func.func @plain(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = math.exp %x : tensor<8xf32>
  %b = math.log %x : tensor<8xf32>
  %c = math.sin %a : tensor<8xf32>
  return %c, %b : tensor<8xf32>, tensor<8xf32>
}
