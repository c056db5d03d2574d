// RUN: fad-opt %s --fad-extract-coefficients --split-input-file --verify-diagnostics

// All that is in the way is reported.

func.func @products(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64}, %h: tensor<4xf32> {fad.cotangent = 1 : i64})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  // expected-error @below {{'arith.mulf' op multiplies two values that depend on cotangents; the backward part of a joint function is linear in its cotangents: mark cotangents only, with fad.cotangent}}
  %1 = arith.mulf %g, %h : tensor<4xf32>
  // expected-error @below {{'math.exp' op is no linear function of an operand that depends on a cotangent; the backward part of a joint function is linear in its cotangents: mark cotangents only, with fad.cotangent}}
  %2 = math.exp %g : tensor<4xf32>
  // expected-error @below {{'arith.divf' op divides by a value that depends on a cotangent; the backward part}}
  %3 = arith.divf %x, %h : tensor<4xf32>
  // expected-error @below {{'arith.addf' op combines a value that depends on a cotangent with one that does not and is not zero; the backward part}}
  %4 = arith.addf %x, %h : tensor<4xf32>
  %5 = arith.addf %1, %2 : tensor<4xf32>
  %6 = arith.addf %3, %4 : tensor<4xf32>
  %7 = arith.addf %5, %6 : tensor<4xf32>
  return %x, %x, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @fma(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  // expected-error @below {{'math.fma' op adds a value that does not depend on a cotangent to one that does; the backward part}}
  %1 = math.fma %g, %x, %x : tensor<4xf32>
  return %x, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @choice(%x: tensor<4xf32>, %m: tensor<4xi1>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  // expected-error @below {{'arith.select' op combines a value that depends on a cotangent with one that does not and is not zero; the backward part}}
  %1 = arith.select %m, %g, %x : tensor<4xi1>, tensor<4xf32>
  // expected-error @below {{'arith.cmpf' op is no linear function of an operand that depends on a cotangent; the backward part}}
  %2 = arith.cmpf ogt, %g, %x : tensor<4xf32>
  %3 = arith.select %2, %1, %g : tensor<4xi1>, tensor<4xf32>
  return %x, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A product of sums, and sums that do not begin at zero.

#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
func.func @reductions(%x: tensor<f32>, %y: tensor<f32>, %v: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<f32> {fad.gradient = 0 : i64}, tensor<f32> {fad.gradient = 1 : i64}) {
  %zero = arith.constant dense<1.0> : tensor<f32>
  %1 = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]}
      ins(%g : tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    // expected-error @below {{'arith.mulf' op multiplies two values that depend on cotangents; the backward part}}
    %p = arith.mulf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<f32>
  %2 = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]}
      ins(%g : tensor<4xf32>) outs(%x : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    // expected-error @below {{'arith.addf' op combines a value that depends on a cotangent with one that does not and is not zero; the backward part}}
    %p = arith.addf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<f32>
  return %v, %1, %2 : tensor<4xf32>, tensor<f32>, tensor<f32>
}

// -----

func.func @border(%x: tensor<4xf32>, %y: tensor<5xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<5xf32> {fad.gradient = 1 : i64}) {
  // expected-error @below {{'tensor.pad' op combines a value that depends on a cotangent with one that does not and is not zero; the backward part}}
  %1 = tensor.pad %g low[0] high[1] {
  ^bb0(%i: index):
    %one = arith.constant 1.0 : f32
    tensor.yield %one : f32
  } : tensor<4xf32> to tensor<5xf32>
  return %x, %1 : tensor<4xf32>, tensor<5xf32>
}

// -----

func.func private @other(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  // expected-error @below {{'func.call' op is not known to be linear in an operand that depends on a cotangent; the backward part}}
  %1 = call @other(%g) : (tensor<4xf32>) -> tensor<4xf32>
  return %x, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The carried value is linear, and multiplied by itself.

func.func @loop(%x: tensor<4xf32>, %n: index, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %g) -> tensor<4xf32> {
    // expected-error @below {{'arith.mulf' op multiplies two values that depend on cotangents; the backward part}}
    %2 = arith.mulf %a, %a : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %x, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @no_gradient(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  // expected-error @below {{result 1 of @no_gradient is marked with fad.gradient, but depends on no cotangent; mark the arguments that its backward part starts from with fad.cotangent, or remove the mark}}
  %1 = math.cos %x : tensor<4xf32>
  return %x, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The body of a named operation is in no source: the operation is named.

func.func @named(%x: tensor<4x4xf32>, %g: tensor<4x4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4x4xf32>, tensor<4x4xf32> {fad.gradient = 0 : i64}) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  // expected-error @below {{'math.exp' op is no linear function of an operand that depends on a cotangent; the backward part}}
  %1 = linalg.exp ins(%g : tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error @below {{'linalg.matmul' op multiplies two values that depend on cotangents; the backward part}}
  %2 = linalg.matmul ins(%1, %g : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %x, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
