// RUN: %check-rule %s

// VALUE: exp2(x) = mpf(2)**x
// RANGE: x in [-10, 10]
// RANGE: x in [-150, 127]
// RANGE f64: x in [-1080, 1023]
// AT: 0 -> log(2)
// AT: inf -> inf
// AT: -inf -> 0
// AT: 1e30 -> inf
// AT: -1e30 -> 0
// AT: nan -> nan
// FROM-RESULT f64 f32: 4
// FROM-RESULT f16 bf16: 1
func.func @exp2(%x: f32) -> f32 {
  %y = math.exp2 %x : f32
  return %y : f32
}
