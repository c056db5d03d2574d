// RUN: %check-rule %s

// VALUE: sinh(x) = sinh(x)
// RANGE: x in [-80, 80]
// RANGE f64: x in [-700, 700]
// AT: 0 -> 1
// AT: inf -> inf
// AT: -inf -> inf
// AT: 1e4 -> inf
// AT: nan -> nan
func.func @sinh(%x: f32) -> f32 {
  %y = math.sinh %x : f32
  return %y : f32
}
