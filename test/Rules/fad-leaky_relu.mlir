// RUN: %check-rule %s

// Only a positive slope lets the derivative be read off the result.

// VALUE: leaky_relu(x) = x if x > 0 else x / 8
// RANGE: x in [-10, 10]
// AT: 0 -> 1/8
// AT: inf -> 1
// AT: -inf -> 1/8
// AT: nan -> 1/8
// FROM-RESULT: 0
func.func @leaky_relu(%x: f32) -> f32 {
  %z = fad.leaky_relu %x slope 0.125 : f32
  return %z : f32
}

// VALUE: negative(x) = x if x > 0 else -x / 2
// RANGE: x in [-10, 10]
// AT: 0 -> -0.5
// AT: -inf -> -0.5
// FROM-RESULT: 0
func.func @negative(%x: f32) -> f32 {
  %z = fad.leaky_relu %x slope -0.5 : f32
  return %z : f32
}
