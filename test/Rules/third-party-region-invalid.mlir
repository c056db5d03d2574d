// RUN: fad-opt %s --fad-differentiate --split-input-file --verify-diagnostics

// What a region has no adjoint of is reported at the operation, and what comes
// before it, too.
func.func @no_rule(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'tosa.reverse' op has no reverse rule; rewrite it in terms of operations that have one, or implement fad::AdjointOpInterface for it}}
  %0 = tosa.reverse %x {axis = 0 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %y = test_rules.checkpoint %0 : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{'tosa.reverse' op has no reverse rule; rewrite it in terms of operations that have one, or implement fad::AdjointOpInterface for it}}
    %b = tosa.reverse %a {axis = 0 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    test_rules.yield %b : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}

// -----

// Backward would draw again.
func.func private @draw() -> f32

func.func @effect(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = test_rules.checkpoint %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{'func.call' op has side effects, but what it computes is needed again in backward; move it out of 'test_rules.checkpoint'}}
    %s = func.call @draw() : () -> f32
    %f = tensor.splat %s : tensor<2xf32>
    %m = arith.mulf %a, %f : tensor<2xf32>
    test_rules.yield %m : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}
