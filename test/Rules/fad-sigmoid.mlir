// RUN: %check-rule %s

// y * (1 - y) would cancel for large x. Where the derivative rounds to zero, zero
// is a constant.

// VALUE: sigmoid(x) = 1 / (1 + exp(-x))
// RANGE: x in [-5, 5]
// RANGE: x in [-110, 110]
// RANGE f64: x in [-760, 760]
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> 1/4
// AT: 1e30 -> 0
// AT: -1e30 -> 0
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
// FROM-RESULT: 1 absolute
func.func @sigmoid(%x: f32) -> f32 {
  %y = fad.sigmoid %x : f32
  return %y : f32
}
