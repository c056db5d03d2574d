// RUN: %check-rule %s

// As in PyTorch, the derivative of what is NaN, at negative x, is what its
// formula gives.

// VALUE: log2(x) = log(x, 2)
// RANGE: x in [1e-3, 10]
// RANGE: x in [1e-4, 1e4]
// RANGE f64 f32 bf16: x in [1e-30, 1e30]
// AT: 1 -> 1/log(2)
// AT: -1 -> -1/log(2)
// AT: 0 -> inf
// AT: -0.0 -> -inf
// AT: inf -> 0
// AT: nan -> nan
func.func @log2(%x: f32) -> f32 {
  %y = math.log2 %x : f32
  return %y : f32
}
