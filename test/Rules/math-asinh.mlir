// RUN: %check-rule %s

// x^2 + 1 would overflow for large x.

// VALUE: asinh(x) = asinh(x)
// RANGE: x in [-10, 10]
// RANGE: x in [-1e30, 1e30]
// RANGE f64: x in [-1e300, 1e300]
// AT: 0 -> 1
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
func.func @asinh(%x: f32) -> f32 {
  %y = math.asinh %x : f32
  return %y : f32
}
