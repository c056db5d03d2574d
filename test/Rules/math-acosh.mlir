// RUN: %check-rule %s

// VALUE: acosh(x) = acosh(x)
// RANGE: x in [1.02, 10]
// RANGE: x in [1.02, 1e30]
// RANGE f64: x in [1.5, 1e300]
// AT: 1 -> inf
// AT: 0.5 -> nan
// AT: -2 -> nan
// AT: inf -> 0
// AT: -inf -> nan
// AT: nan -> nan
func.func @acosh(%x: f32) -> f32 {
  %y = math.acosh %x : f32
  return %y : f32
}
