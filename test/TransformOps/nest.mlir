// A schedule chooses a policy for each function, and sees what is in between.
// RUN: fad-opt %s --transform-interpreter --verify-diagnostics | FileCheck %s
// RUN: mlir-opt %s --load-dialect-plugin=%fad_plugin --load-pass-plugin=%fad_plugin \
// RUN:   --transform-interpreter --verify-diagnostics | FileCheck %s
// UNSUPPORTED: sanitizers

module attributes {transform.with_named_sequence} {

// Under policy bp the product keeps both operands, and @scale is inlined.
// CHECK-LABEL: func.func private @scale
func.func private @scale(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %z = arith.mulf %x, %w : tensor<8xf32>
  return %z : tensor<8xf32>
}

// CHECK-NOT:   @attention(
// CHECK-LABEL: func.func @attention_forward(
// CHECK-SAME:    -> (tensor<8xf32>, tensor<8xf32> {fad.residual}, tensor<8xf32> {fad.residual})
// CHECK-SAME:    attributes {fad.pullback = @attention_backward}
// CHECK-LABEL: func.func @attention_backward(
// CHECK-SAME:    -> (tensor<8xf32> {fad.gradient = 0 : i64})
func.func @attention(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %y = math.tanh %x : tensor<8xf32>
  %z = call @scale(%y, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// The steps of it, one by one.
// CHECK-LABEL: func.func @ffn_forward(
// CHECK:         %[[Y:.*]]:2 = fad.elementwise ins(%[[X:.*]] : tensor<8xf32>)
// CHECK:         return %[[Y]]#0, %[[Y]]#1 : tensor<8xf32>, tensor<8xf32>
// CHECK-LABEL: func.func @ffn_backward(
// CHECK-SAME:    tensor<8xf32> {fad.owned, fad.residual}
// expected-remark @below {{backward}}
func.func @ffn(%x: tensor<8xf32>) -> tensor<8xf32> {
  // Both operations are one region.
  // expected-remark @below {{region}}
  %y = fad.silu %x : tensor<8xf32>
  %z = math.sin %y : tensor<8xf32>
  return %z : tensor<8xf32>
}

// A function that another one calls stays, and what is not in the schedule, too.
// CHECK-LABEL: func.func @called_backward(
// CHECK-LABEL: func.func @called(
// CHECK-LABEL: func.func @caller(
// CHECK-NEXT:    call @called
func.func @called(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = math.exp %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @caller(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = call @called(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK:      transform.fad.nest %{{.*}} policy("bp") wrt [0] results [0] :
// CHECK:      transform.fad.differentiate %{{.*}} policy("fad") options("assumed-size=64") :
// CHECK:      transform.fad.split %{{.*}} reuse_residuals :
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %attention = transform.structured.match attributes {sym_name = "attention"} in %root
      : (!transform.any_op) -> !transform.any_op
  transform.fad.nest %attention policy("bp") wrt [0] results [0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)

  %ffn = transform.structured.match attributes {sym_name = "ffn"} in %root
      : (!transform.any_op) -> !transform.any_op
  %prepared = transform.fad.partition %ffn : (!transform.any_op) -> !transform.any_op
  %regions = transform.structured.match ops{["fad.elementwise"]} in %prepared
      : (!transform.any_op) -> !transform.any_op
  transform.debug.emit_remark_at %regions, "region" : !transform.any_op
  %joint = transform.fad.differentiate %prepared policy("fad") options("assumed-size=64")
      : (!transform.any_op) -> !transform.any_op
  %forward, %backward = transform.fad.split %joint reuse_residuals
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  // The handles are the functions.
  transform.debug.emit_remark_at %backward, "backward" : !transform.any_op

  %called = transform.structured.match attributes {sym_name = "called"} in %root
      : (!transform.any_op) -> !transform.any_op
  transform.fad.nest %called : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}
