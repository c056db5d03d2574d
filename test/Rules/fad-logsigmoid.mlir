// RUN: %check-rule %s

// VALUE: logsigmoid(x) = -log1p(exp(-x))
// RANGE: x in [-10, 10]
// RANGE: x in [-110, 110]
// AT: 0 -> 0.5
// AT: inf -> 0
// AT: -inf -> 1
// AT: 1e30 -> 0
// AT: nan -> nan
// FROM-RESULT: 2 absolute
func.func @logsigmoid(%x: f32) -> f32 {
  %y = fad.logsigmoid %x : f32
  return %y : f32
}
