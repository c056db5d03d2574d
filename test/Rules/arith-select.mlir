// RUN: %check-rule %s

// A select chooses between tangents, so that what the branch not taken computes
// (an infinite exponential in @softplus) does not matter. Integers and
// comparisons have no tangent and take part all the same.

// VALUE: choose(c, x, y) = x if c else y
// AT: 1, 2, 3 -> 1, 0
// AT: 0, 2, 3 -> 0, 1
// AT: 1, 2, inf -> 1, 0
// AT: 0, nan, 3 -> 0, 1
func.func @choose(%c: i1, %x: f32, %y: f32) -> f32 {
  %z = arith.select %c, %x, %y : f32
  return %z : f32
}

// VALUE: softplus(x) = log1p(exp(x)) if x <= 20 else x
// RANGE: x in [-15, 10]
// RANGE f64 f32 bf16: x in [-80, 19]
// RANGE: x in [21, 1e30]
// BOUND f32: 8
// BOUND f64: 8
// BOUND f16 bf16: 2
// AT: 1000 -> 1
// AT: inf -> 1
// AT: -inf -> 0
// AT: nan -> nan
func.func @softplus(%x: f32) -> f32 {
  %threshold = arith.constant 20.0 : f32
  %linear = arith.cmpf ogt, %x, %threshold : f32
  %e = math.exp %x : f32
  %l = math.log1p %e : f32
  %y = arith.select %linear, %x, %l : f32
  return %y : f32
}

// VALUE: parity(x, n) = x * x if n % 2 else n * x
// AT: 3, 1 -> 6
// AT: 3, 4 -> 4
// AT: inf, 2 -> 2
// AT: inf, 3 -> inf
func.func @parity(%x: f32, %n: i32) -> f32 {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %bit = arith.andi %n, %one : i32
  %odd = arith.cmpi ne, %bit, %zero : i32
  %s = arith.mulf %x, %x : f32
  %f = arith.sitofp %n : i32 to f32
  %p = arith.mulf %f, %x : f32
  %z = arith.select %odd, %s, %p : f32
  return %z : f32
}
