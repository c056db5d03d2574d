// RUN: %check-rule %s

// VALUE: mulf(x, y) = x * y
// RANGE: x in [-1e3, 1e3], y in [-10, 10]
// AT: inf, 0 -> 0, inf
// AT: nan, -inf -> -inf, nan
// AT: 0, -0.0 -> 0, 0
func.func @mulf(%x: f32, %y: f32) -> f32 {
  %z = arith.mulf %x, %y : f32
  return %z : f32
}
