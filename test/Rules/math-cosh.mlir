// RUN: %check-rule %s

// VALUE: cosh(x) = cosh(x)
// RANGE: x in [-80, 80]
// RANGE f64: x in [-700, 700]
// AT: 0 -> 0
// AT: inf -> inf
// AT: -inf -> -inf
// AT: 1e4 -> inf
// AT: nan -> nan
func.func @cosh(%x: f32) -> f32 {
  %y = math.cosh %x : f32
  return %y : f32
}
