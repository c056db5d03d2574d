// RUN: %check-rule %s

// VALUE: tan(x) = tan(x)
// RANGE: x in [-1.5, 1.5]
// RANGE: x in [-100, 100]
// BOUND f64 f32: 5
// AT: 0 -> 1
// AT: inf -> nan
// AT: nan -> nan
// FROM-RESULT f64 f32: 5
// FROM-RESULT f16 bf16: 2
func.func @tan(%x: f32) -> f32 {
  %y = math.tan %x : f32
  return %y : f32
}
