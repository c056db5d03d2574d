// RUN: %check-rule %s

// As in PyTorch, the exponent 0 gives the constant 1 and the base 0, with an
// exponent that is not negative, the constant 0.

// VALUE: powf(x, y) = x**y
// RANGE: x in [0.1, 10], y in [-5, 5]
// RANGE: x in [1e-3, 1e3], y in [-3, 3]
// BOUND f64 f32: 12
// AT: 0, 2 -> 0, 0
// AT: 0, 1 -> 1, 0
// AT: 0, 0.5 -> inf, 0
// AT: 0, 0 -> 0, 0
// AT: 0, -1 -> -inf, -inf
// AT: -2, 3 -> 12, nan
// AT: -2, 0 -> 0, nan
// AT: inf, 2 -> inf, inf
// AT: inf, 0 -> 0, inf
// AT: 2, inf -> inf, inf
// AT: 2, -inf -> nan, 0
// AT: nan, 0 -> 0, nan
// AT: 1, nan -> nan, 0
// AT: 2, nan -> nan, nan
// FROM-RESULT f64 f32: 12
// FROM-RESULT f16 bf16: 2
func.func @powf(%x: f32, %y: f32) -> f32 {
  %z = math.powf %x, %y : f32
  return %z : f32
}

// VALUE: square(x) = x**2
// RANGE: x in [-1e4, 1e4]
// AT: 0 -> 0
// AT: inf -> inf
// FROM-RESULT: 4
func.func @square(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %z = math.powf %x, %two : f32
  return %z : f32
}

// VALUE: cube(x) = x**3
// RANGE: x in [-100, 100]
// AT: 0 -> 0
// AT: inf -> inf
// FROM-RESULT: 4
func.func @cube(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %z = math.powf %x, %three : f32
  return %z : f32
}

// VALUE: root(x) = x**0.5
// RANGE: x in [0.1, 1e4]
// AT: 0 -> inf
// AT: inf -> 0
// FROM-RESULT: 4
func.func @root(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %z = math.powf %x, %half : f32
  return %z : f32
}

// VALUE: one(x) = x**0
// RANGE: x in [0.1, 10]
// AT: 0 -> 0
// AT: nan -> 0
// FROM-RESULT: 4
func.func @one(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %z = math.powf %x, %zero : f32
  return %z : f32
}
