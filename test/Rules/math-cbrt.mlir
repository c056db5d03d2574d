// RUN: %check-rule %s

// VALUE: cbrt(x) = sign(x) * cbrt(abs(x))
// RANGE: x in [-10, 10]
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> inf
// AT: -0.0 -> inf
// AT: 8 -> 1/12
// BOUND f64 f32: 6
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
// FROM-RESULT f64 f32: 6
// FROM-RESULT f16 bf16: 3
func.func @cbrt(%x: f32) -> f32 {
  %y = math.cbrt %x : f32
  return %y : f32
}
