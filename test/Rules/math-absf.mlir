// RUN: %check-rule %s

// As in PyTorch, the derivative is 0 at 0 and at NaN.

// VALUE: absf(x) = abs(x)
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> 0
// AT: -0.0 -> 0
// AT: inf -> 1
// AT: -inf -> -1
// AT: nan -> 0
func.func @absf(%x: f32) -> f32 {
  %y = math.absf %x : f32
  return %y : f32
}
