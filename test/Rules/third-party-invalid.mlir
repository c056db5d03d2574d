// RUN: fad-opt %s --test-fad-derivative --split-input-file --verify-diagnostics

func.func @no_rule(%x: f32) -> f32 {
  // expected-error @below {{'test_rules.no_rule' op has no derivative rule; rewrite it in terms of operations that have one, or implement fad::DerivativeOpInterface for it}}
  %y = test_rules.no_rule %x : f32
  return %y : f32
}

// -----

func.func @constant_operand(%x: f32) -> f32 {
  // No tangent reaches it, so no rule is asked for.
  %c = arith.constant 2.0 : f32
  %k = test_rules.no_rule %c : f32
  %y = arith.mulf %x, %k : f32
  return %y : f32
}
