// RUN: %check-rule %s

// VALUE: hardtanh(x) = min(max(x, -1), 1)
// RANGE: x in [-10, 10]
// AT: -1 -> 0
// AT: 1 -> 0
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> 1
// FROM-RESULT: 0
func.func @hardtanh(%x: f32) -> f32 {
  %y = fad.hardtanh %x : f32
  return %y : f32
}
