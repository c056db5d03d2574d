// RUN: %check-rule %s

// x^2 + y^2 would overflow for large x or y. As in PyTorch, the derivatives are 0
// at the origin.

// VALUE: atan2(x, y) = atan2(x, y)
// RANGE: x in [-10, 10], y in [-10, 10]
// RANGE: x in [-1e30, 1e30], y in [-1e30, 1e30]
// RANGE f64: x in [-1e300, 1e300], y in [-1e300, 1e300]
// AT: 0, 1 -> 1, 0
// AT: 1, 0 -> 0, -1
// AT: 0, -2 -> -0.5, 0
// AT: inf, 1 -> 0, 0
// AT: 1, -inf -> 0, 0
// AT: 0, 0 -> 0, 0
// AT: -0.0, 0 -> 0, 0
// AT: inf, inf -> nan, nan
// AT: nan, 1 -> nan, nan
func.func @atan2(%x: f32, %y: f32) -> f32 {
  %z = math.atan2 %x, %y : f32
  return %z : f32
}
