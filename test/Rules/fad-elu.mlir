// RUN: %check-rule %s

// The exponential of a large x overflows where it is not selected. As in PyTorch,
// the derivative is 1 at NaN.

// VALUE: elu(x) = x if x > 0 else expm1(x)
// RANGE: x in [-10, 10]
// RANGE: x in [-110, 110]
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> 1
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: nan -> 1
// FROM-RESULT: 2 absolute
func.func @elu(%x: f32) -> f32 {
  %z = fad.elu %x : f32
  return %z : f32
}

// VALUE: scaled(x) = x if x > 0 else expm1(x) / 2
// RANGE: x in [-10, 10]
// AT: 0 -> 0.5
// AT: inf -> 1
// AT: -inf -> 0
// AT: nan -> 1
// FROM-RESULT: 2 absolute
func.func @scaled(%x: f32) -> f32 {
  %z = fad.elu %x alpha 0.5 : f32
  return %z : f32
}
