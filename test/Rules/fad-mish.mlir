// RUN: %check-rule %s

// The derivative is finite for every x, infinities included. Its error is relative
// but for its zero near -1.19.

// VALUE: mish(x) = x * tanh(log1p(exp(x)))
// RANGE: x in [-5, 5]
// RANGE: x in [-110, 110]
// RANGE f64: x in [-760, 760]
// RANGE: x in [-1e30, 1e30]
// BOUND f64 f32: 20
// AT: 0 -> 3/5
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
func.func @mish(%x: f32) -> f32 {
  %y = fad.mish %x : f32
  return %y : f32
}
