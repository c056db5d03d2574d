// RUN: %check-rule %s

// VALUE: rsqrt(x) = 1 / sqrt(x)
// RANGE: x in [1e-3, 10]
// RANGE: x in [1e-4, 1e4]
// RANGE f64 f32 bf16: x in [1e-20, 1e30]
// BOUND f64 f32: 5
// AT: 0 -> -inf
// AT: -1 -> nan
// AT: inf -> 0
// AT: nan -> nan
// FROM-RESULT f64 f32: 5
// FROM-RESULT f16 bf16: 4
func.func @rsqrt(%x: f32) -> f32 {
  %y = math.rsqrt %x : f32
  return %y : f32
}
