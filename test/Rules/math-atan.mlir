// RUN: %check-rule %s

// VALUE: atan(x) = atan(x)
// RANGE: x in [-10, 10]
// RANGE: x in [-1e19, 1e19]
// RANGE f64: x in [-1e150, 1e150]
// AT f32 f16 bf16: 1e30 -> 0
// AT: 0 -> 1
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
func.func @atan(%x: f32) -> f32 {
  %y = math.atan %x : f32
  return %y : f32
}
