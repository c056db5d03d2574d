// RUN: %check-rule %s

// y + 1 would lose what is left of exp(x) where x is very negative.

// VALUE: expm1(x) = expm1(x)
// RANGE: x in [-10, 10]
// RANGE: x in [-110, 88]
// RANGE f64: x in [-750, 709]
// AT: 0 -> 1
// AT: inf -> inf
// AT: -inf -> 0
// AT: 1e30 -> inf
// AT: -1e30 -> 0
// AT: nan -> nan
func.func @expm1(%x: f32) -> f32 {
  %y = math.expm1 %x : f32
  return %y : f32
}
