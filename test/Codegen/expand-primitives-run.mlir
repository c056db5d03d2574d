// RUN: %python %S/Inputs/check_values.py fad-opt %llvm_tools_dir %mlir_lib_dir %cxx %s

// Values of the activation primitives against mpmath; what the comments mean is
// said in the script.

// VALUE: sigmoid = 1 / (1 + exp(-x))
// AT: inf -> 1
// AT: -inf -> 0
func.func @sigmoid(%x: f32) -> f32 {
  %y = fad.sigmoid %x : f32
  return %y : f32
}

// VALUE: softplus = log(1 + exp(x))
// AT: inf -> inf
// AT: -inf -> 0
func.func @softplus(%x: f32) -> f32 {
  %y = fad.softplus %x : f32
  return %y : f32
}

// VALUE: softplus_threshold = log(1 + exp(x)) if x <= 2 else x
// AT: inf -> inf
// AT: -inf -> 0
func.func @softplus_threshold(%x: f32) -> f32 {
  %y = fad.softplus %x threshold 2.0 : f32
  return %y : f32
}

// VALUE: relu = max(x, 0)
// BOUND: 0
// AT: inf -> inf
// AT: -inf -> 0
func.func @relu(%x: f32) -> f32 {
  %y = fad.relu %x : f32
  return %y : f32
}

// VALUE: leaky_relu = x if x > 0 else mpf(0.125) * x
// BOUND: 0.51
// AT: inf -> inf
// AT: -inf -> -inf
func.func @leaky_relu(%x: f32) -> f32 {
  %y = fad.leaky_relu %x slope 0.125 : f32
  return %y : f32
}

// VALUE: elu = x if x > 0 else mpf(1.5) * expm1(x)
// AT: inf -> inf
// AT: -inf -> -1.5
func.func @elu(%x: f32) -> f32 {
  %y = fad.elu %x alpha 1.5 : f32
  return %y : f32
}

// VALUE: silu = x / (1 + exp(-x))
// AT: inf -> inf
// AT: -inf -> nan
func.func @silu(%x: f32) -> f32 {
  %y = fad.silu %x : f32
  return %y : f32
}

// The rounding of x / sqrt(2) is magnified in the tail.
// VALUE: gelu = x * erfc(-x / sqrt(2)) / 2
// BOUND: 4 + 2 * x * x
// AT: inf -> inf
// AT: -inf -> nan
func.func @gelu(%x: f32) -> f32 {
  %y = fad.gelu %x : f32
  return %y : f32
}

// VALUE: gelu_tanh = x / (1 + exp(-2 * sqrt(2 / pi) * (x + mpf("0.044715") * x**3)))
// BOUND: 5 + 4 * abs(x + x**3 / 16)
// AT: inf -> inf
// AT: -inf -> nan
func.func @gelu_tanh(%x: f32) -> f32 {
  %y = fad.gelu %x approximate <tanh> : f32
  return %y : f32
}

// VALUE: mish = x * tanh(log1p(exp(x)))
// BOUND: 6
// AT: inf -> inf
// AT: -inf -> nan
func.func @mish(%x: f32) -> f32 {
  %y = fad.mish %x : f32
  return %y : f32
}

// The rounding of x + 3 is one of the result's where x is near -3.
// VALUE: hardsigmoid = min(max(x + 3, 0), 6) / 6
// BOUND: 1.5
// AT: inf -> 1
// AT: -inf -> 0
func.func @hardsigmoid(%x: f32) -> f32 {
  %y = fad.hardsigmoid %x : f32
  return %y : f32
}

// VALUE: hardswish = x * min(max(x + 3, 0), 6) / 6
// BOUND: 2.5
// AT: inf -> inf
// AT: -inf -> nan
func.func @hardswish(%x: f32) -> f32 {
  %y = fad.hardswish %x : f32
  return %y : f32
}

// VALUE: softsign = x / (1 + abs(x))
// BOUND: 1.5
// RANGE: [-1e300, 1e300]
// AT: inf -> nan
// AT: -inf -> nan
func.func @softsign(%x: f32) -> f32 {
  %y = fad.softsign %x : f32
  return %y : f32
}

// VALUE: logsigmoid = -log1p(exp(-x))
// AT: inf -> 0
// AT: -inf -> -inf
func.func @logsigmoid(%x: f32) -> f32 {
  %y = fad.logsigmoid %x : f32
  return %y : f32
}

// VALUE: hardtanh = min(max(x, -1), 1)
// BOUND: 0
// AT: inf -> 1
// AT: -inf -> -1
func.func @hardtanh(%x: f32) -> f32 {
  %y = fad.hardtanh %x : f32
  return %y : f32
}

// VALUE: celu = x if x > 0 else 2 * expm1(x / 2)
// AT: inf -> inf
// AT: -inf -> -2
func.func @celu(%x: f32) -> f32 {
  %y = fad.celu %x alpha 2.0 : f32
  return %y : f32
}
