// RUN: %check-rule %s

// The derivative is finite for every x, infinities included. Its error is relative
// but for its zero near -0.75; exp magnifies the error of the cubic polynomial.

// VALUE: gelu(x) = x * erfc(-x / sqrt(2)) / 2
// RANGE: x in [-5, 5]
// RANGE: x in [-16, 16]
// RANGE f64: x in [-40, 40]
// RANGE: x in [-1e30, 1e30]
// BOUND f64 f32: 12
// AT: 0 -> 1/2
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
func.func @gelu(%x: f32) -> f32 {
  %z = fad.gelu %x : f32
  return %z : f32
}

// VALUE: approximate(x) = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2
// RANGE: x in [-5, 5]
// RANGE: x in [-16, 16]
// RANGE f64: x in [-23, 23]
// RANGE: x in [-1e30, 1e30]
// BOUND f64: 256
// BOUND f32: 64
// AT: 0 -> 1/2
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
func.func @approximate(%x: f32) -> f32 {
  %z = fad.gelu %x approximate <tanh> : f32
  return %z : f32
}
