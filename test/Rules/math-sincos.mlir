// RUN: %check-rule %s

// VALUE: sincos(x) = sin(x), cos(x)
// PASSES: --convert-math-to-llvm
// RANGE: x in [-10, 10]
// RANGE: x in [-1e4, 1e4]
// AT: 0 -> 1, 0
// AT: inf -> nan, nan
// AT: nan -> nan, nan
// FROM-RESULT f64 f32: 4
// FROM-RESULT f16 bf16: 0.51
func.func @sincos(%x: f32) -> (f32, f32) {
  %s, %c = math.sincos %x : f32
  return %s, %c : f32, f32
}
