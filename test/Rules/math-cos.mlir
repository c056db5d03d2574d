// RUN: %check-rule %s

// VALUE: cos(x) = cos(x)
// RANGE: x in [-10, 10]
// RANGE: x in [-1e4, 1e4]
// AT: 0 -> 0
// AT: inf -> nan
// AT: -inf -> nan
// AT: nan -> nan
func.func @cos(%x: f32) -> f32 {
  %y = math.cos %x : f32
  return %y : f32
}
