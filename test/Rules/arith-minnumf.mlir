// RUN: %check-rule %s

// Equal operands share the derivative; NaN has none of it.

// VALUE: minnumf(x, y) = min(x, y)
// RANGE: x in [-1e3, 1e3], y in [-10, 10]
// AT: 1, 2 -> 1, 0
// AT: inf, 1 -> 0, 1
// AT: 1, 1 -> 0.5, 0.5
// AT: 0, -0.0 -> 0.5, 0.5
// AT: inf, inf -> 0.5, 0.5
// AT: nan, 1 -> 0, 1
// AT: 1, nan -> 1, 0
// AT: nan, nan -> 0, 0
func.func @minnumf(%x: f32, %y: f32) -> f32 {
  %z = arith.minnumf %x, %y : f32
  return %z : f32
}
