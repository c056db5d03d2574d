// RUN: %check-rule %s

// VALUE: exp(x) = exp(x)
// RANGE: x in [-10, 10]
// RANGE: x in [-110, 88]
// RANGE f64: x in [-750, 709]
// AT: 0 -> 1
// AT: inf -> inf
// AT: -inf -> 0
// AT: 1e30 -> inf
// AT: -1e30 -> 0
// AT: nan -> nan
// FROM-RESULT: 4
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}
