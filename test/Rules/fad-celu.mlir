// RUN: %check-rule %s

// VALUE: celu(x) = x if x > 0 else 2 * expm1(x / 2)
// RANGE: x in [-10, 10]
// RANGE: x in [-110, 110]
// AT: 0 -> 1
// AT: inf -> 1
// AT: -inf -> 0
// AT: nan -> 1
// FROM-RESULT: 2 absolute
func.func @celu(%x: f32) -> f32 {
  %y = fad.celu %x alpha 2.0 : f32
  return %y : f32
}
