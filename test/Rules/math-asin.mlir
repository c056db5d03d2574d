// RUN: %check-rule %s

// VALUE: asin(x) = asin(x)
// RANGE: x in [-0.99, 0.99]
// AT: 0 -> 1
// AT: 1 -> inf
// AT: -1 -> inf
// AT: 2 -> nan
// AT: inf -> nan
// AT: -inf -> nan
// AT: nan -> nan
func.func @asin(%x: f32) -> f32 {
  %y = math.asin %x : f32
  return %y : f32
}
