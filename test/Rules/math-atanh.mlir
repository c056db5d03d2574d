// RUN: %check-rule %s

// As in PyTorch, the derivative outside (-1, 1) is what its formula gives.

// VALUE: atanh(x) = atanh(x)
// RANGE: x in [-0.99, 0.99]
// AT: 0 -> 1
// AT: 1 -> inf
// AT: -1 -> inf
// AT: 2 -> -1/3
// AT: inf -> 0
// AT: nan -> nan
func.func @atanh(%x: f32) -> f32 {
  %y = math.atanh %x : f32
  return %y : f32
}
