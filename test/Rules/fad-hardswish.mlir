// RUN: %check-rule %s

// As in PyTorch, the derivative is 1 at 3 and at NaN and 0 at -3.

// VALUE: hardswish(x) = x * min(max(x + 3, 0), 6) / 6
// RANGE: x in [-10, 10]
// BOUND f64 f32: 16
// AT: 0 -> 1/2
// AT: 3 -> 1
// AT: -3 -> 0
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: nan -> 1
func.func @hardswish(%x: f32) -> f32 {
  %y = fad.hardswish %x : f32
  return %y : f32
}
