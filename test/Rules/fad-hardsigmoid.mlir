// RUN: %check-rule %s

// VALUE: hardsigmoid(x) = min(max(x + 3, 0), 6) / 6
// RANGE: x in [-10, 10]
// AT: 0 -> 1/6
// AT: 3 -> 0
// AT: -3 -> 0
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> 0
func.func @hardsigmoid(%x: f32) -> f32 {
  %y = fad.hardsigmoid %x : f32
  return %y : f32
}
