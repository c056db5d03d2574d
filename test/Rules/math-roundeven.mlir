// RUN: %check-rule %s

// VALUE: roundeven(x) = nint(x)
// RANGE: x in [-9.7, 9.8]
// AT: 1 -> 0
// AT: 0.5 -> 0
// AT: inf -> 0
// AT: nan -> 0
func.func @roundeven(%x: f32) -> f32 {
  %y = math.roundeven %x : f32
  return %y : f32
}
