// RUN: %check-rule %s

// VALUE: sqrt(x) = sqrt(x)
// RANGE: x in [1e-3, 10]
// RANGE: x in [1e-4, 1e4]
// RANGE f64 f32 bf16: x in [1e-30, 1e30]
// AT: 0 -> inf
// AT: -1 -> nan
// AT: inf -> 0
// AT: nan -> nan
// FROM-RESULT f64 f32: 4
// FROM-RESULT f16 bf16: 2
func.func @sqrt(%x: f32) -> f32 {
  %y = math.sqrt %x : f32
  return %y : f32
}
