// RUN: %check-rule %s

// As in PyTorch, the derivative is 0 at 0 and 1 at NaN.

// VALUE: relu(x) = max(x, 0)
// RANGE: x in [-10, 10]
// AT: 0 -> 0
// AT: -0.0 -> 0
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: nan -> 1
// FROM-RESULT: 0
func.func @relu(%x: f32) -> f32 {
  %y = fad.relu %x : f32
  return %y : f32
}
