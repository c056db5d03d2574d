// RUN: %check-rule %s

// Above the threshold, the derivative is exactly 1, which the result does not say
// exactly.

// VALUE: softplus(x) = log1p(exp(x))
// RANGE: x in [-5, 5]
// RANGE: x in [-110, 110]
// RANGE f64: x in [-760, 760]
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> 1/2
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
// FROM-RESULT f64 f32: 4
// FROM-RESULT f16 bf16: 2
func.func @softplus(%x: f32) -> f32 {
  %z = fad.softplus %x : f32
  return %z : f32
}

// VALUE: threshold(x) = log1p(exp(x)) if x <= 20 else x
// RANGE: x in [-5, 5]
// RANGE: x in [-110, 110]
// RANGE f64: x in [-760, 760]
// RANGE: x in [-1e30, 1e30]
// AT: 20 -> 1/(1+exp(-20))
// AT: 20.125 -> 1
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
// FROM-RESULT: 4
func.func @threshold(%x: f32) -> f32 {
  %z = fad.softplus %x threshold 20.0 : f32
  return %z : f32
}
