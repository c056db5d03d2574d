// RUN: fad-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// What is in the way of differentiation is a note of the failure.
module attributes {transform.with_named_sequence} {
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @below {{'test_rules.no_rule' op has no derivative rule; rewrite it in terms of operations that have one}}
  %y = test_rules.no_rule %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{cannot nest @f}}
  transform.fad.nest %f policy("fad") : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// A schedule may go on after it: the function is as it was.
module attributes {transform.with_named_sequence} {
// expected-remark @below {{still here}}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = test_rules.no_rule %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  transform.sequence %root : !transform.any_op failures(suppress) {
  ^bb0(%module: !transform.any_op):
    %f = transform.structured.match attributes {sym_name = "f"} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.fad.differentiate %f : (!transform.any_op) -> !transform.any_op
  }
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  transform.debug.emit_remark_at %f, "still here" : !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
// expected-note @below {{cannot differentiate with respect to argument 7: @f has 1 arguments}}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{cannot differentiate @f}}
  transform.fad.differentiate %f wrt [7] : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{wrt is empty, so there is nothing to differentiate}}
  transform.fad.nest %f wrt [] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{there is no option 'budget'; the options are assumed-size, }}
  transform.fad.nest %f options("budget=3") : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{the options have entry, which the operation itself says; leave it out}}
  transform.fad.nest %f options("entry=h") : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{the options have wrt, which the operation itself says; leave it out}}
  transform.fad.differentiate %f policy("fad") wrt [0] options("wrt=0") : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{@f is no joint function; transform.fad.differentiate makes one}}
  transform.fad.split %f : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// A name that is taken.
module attributes {transform.with_named_sequence} {
func.func @f_backward() {
  return
}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{cannot add @f_backward: there is a symbol of that name; rename it, or @f}}
  transform.fad.nest %f : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// A function without a body cannot be prepared.
module attributes {transform.with_named_sequence} {
// expected-note @below {{there is no function @f with a body}}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32>
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{cannot partition @f}}
  transform.fad.partition %f : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}

// -----

// What is no function.
module attributes {transform.with_named_sequence} {
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @below {{when applied to this op}}
  %y = math.exp %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %exp = transform.structured.match ops{["math.exp"]} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{transform applied to the wrong op kind}}
  transform.fad.nest %exp : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// The value of an option that is wrong.
module attributes {transform.with_named_sequence} {
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{policy: 'foo' is none of its values: bp, recompute, fad, auto}}
  transform.fad.nest %f policy("foo") : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// The value of an option that is wrong.
module attributes {transform.with_named_sequence} {
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{assumed-size: 'x' is no integer}}
  transform.fad.differentiate %f options("assumed-size=x") : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}

// -----

// The value of an option that is wrong.
module attributes {transform.with_named_sequence} {
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match attributes {sym_name = "f"} in %root
      : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{reuse-residuals: 'maybe' is neither true nor false}}
  transform.fad.nest %f options("reuse-residuals=maybe") : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}
