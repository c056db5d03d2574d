// RUN: %check-rule %s

// VALUE: sin(x) = sin(x)
// RANGE: x in [-10, 10]
// RANGE: x in [-1e4, 1e4]
// AT: 0 -> 1
// AT: inf -> nan
// AT: -inf -> nan
// AT: nan -> nan
func.func @sin(%x: f32) -> f32 {
  %y = math.sin %x : f32
  return %y : f32
}
