// RUN: %check-rule %s

// VALUE: softsign(x) = x / (1 + abs(x))
// RANGE: x in [-10, 10]
// RANGE: x in [-1e15, 1e15]
// AT: 0 -> 1
// AT: inf -> nan
// AT: -inf -> nan
// AT: nan -> nan
// FROM-RESULT: 2 absolute
func.func @softsign(%x: f32) -> f32 {
  %y = fad.softsign %x : f32
  return %y : f32
}
