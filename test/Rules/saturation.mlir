// RUN: %check-rule %s

// Where tanh, erf and sigmoid saturate, the derivative of what they are applied to
// may be infinite. Zero as a constant arm of a select survives the product with it.

// VALUE: new_gelu(x) = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2
// RANGE f64 f32: x in [-8, 8]
// RANGE f64 f32 bf16: x in [20, 1e30]
// BOUND f64 f32: 8 absolute
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: nan -> nan
func.func @new_gelu(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %three = arith.constant 3.0 : f32
  %c = arith.constant 0.044715 : f32
  %k = arith.constant 0.79788456080286541 : f32
  %cube = math.powf %x, %three : f32
  %scaled = arith.mulf %cube, %c : f32
  %sum = arith.addf %x, %scaled : f32
  %u = arith.mulf %sum, %k : f32
  %t = math.tanh %u : f32
  %s = arith.addf %t, %one : f32
  %h = arith.mulf %x, %half : f32
  %y = arith.mulf %h, %s : f32
  return %y : f32
}

// VALUE: erf_gelu(x) = x * (1 + erf(x / sqrt(2))) / 2
// RANGE f64 f32: x in [-8, 8]
// RANGE f64 f32 bf16: x in [20, 1e30]
// BOUND f64 f32: 8 absolute
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: nan -> nan
func.func @erf_gelu(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %k = arith.constant 0.70710678118654752 : f32
  %u = arith.mulf %x, %k : f32
  %t = math.erf %u : f32
  %s = arith.addf %t, %one : f32
  %h = arith.mulf %x, %half : f32
  %y = arith.mulf %h, %s : f32
  return %y : f32
}

// VALUE: quick_gelu(x) = x / (1 + exp(-1.702 * x))
// RANGE f64 f32: x in [-8, 8]
// RANGE f64 f32 bf16: x in [100, 1e30]
// BOUND f64 f32: 8 absolute
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: nan -> nan
func.func @quick_gelu(%x: f32) -> f32 {
  %k = arith.constant 1.702 : f32
  %u = arith.mulf %x, %k : f32
  %s = fad.sigmoid %u : f32
  %y = arith.mulf %x, %s : f32
  return %y : f32
}

// VALUE: tanh_of_exp(x) = tanh(exp(x))
// RANGE f64 f32: x in [-8, 3]
// BOUND f64 f32: 100
// AT: 1000 -> 0
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
func.func @tanh_of_exp(%x: f32) -> f32 {
  %e = math.exp %x : f32
  %y = math.tanh %e : f32
  return %y : f32
}
