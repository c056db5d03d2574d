// RUN: fad-opt %s --fad-differentiate=entry=logsigmoid | FileCheck %s --check-prefix=LOGSIGMOID
// RUN: fad-opt %s --fad-differentiate=entry=logaddexp | FileCheck %s --check-prefix=LOGADDEXP
// RUN: fad-opt %s --fad-differentiate=entry=kinked | FileCheck %s --check-prefix=KINKED

// Kinks that cancel, where a select takes the lesser or the greater: the
// differences on both sides of 0, where each number is, agree with the gradient.

// DEFINE: %{policy} =
// DEFINE: %{run} = fad-runner %s --arg=0 --policy=%{policy} --check-gradients
// REDEFINE: %{policy} = bp
// RUN: %{run} --entry=logsigmoid | FileCheck %s --check-prefix=GRADIENT
// RUN: %{run} --entry=logaddexp --arg=0 | FileCheck %s --check-prefix=GRADIENT
// REDEFINE: %{policy} = recompute
// RUN: %{run} --entry=logsigmoid | FileCheck %s --check-prefix=GRADIENT
// RUN: %{run} --entry=logaddexp --arg=0 | FileCheck %s --check-prefix=GRADIENT
// REDEFINE: %{policy} = fad
// RUN: %{run} --entry=logsigmoid | FileCheck %s --check-prefix=GRADIENT
// RUN: %{run} --entry=logaddexp --arg=0 | FileCheck %s --check-prefix=GRADIENT
// REDEFINE: %{policy} = auto
// RUN: %{run} --entry=logsigmoid | FileCheck %s --check-prefix=GRADIENT
// RUN: %{run} --entry=logaddexp --arg=0 | FileCheck %s --check-prefix=GRADIENT
// RUN: %{run} --entry=spread | FileCheck %s --check-prefix=GRADIENT
// REDEFINE: %{policy} = bp
// RUN: %{run} --entry=spread | FileCheck %s --check-prefix=GRADIENT
// GRADIENT: {{ok$}}

// LOGSIGMOID-LABEL: func.func @logsigmoid_joint(
// LOGSIGMOID: arith.minimumf
func.func @logsigmoid(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %less = arith.cmpf olt, %zero, %x : tensor<2xf32>
  %min = arith.select %less, %zero, %x : tensor<2xi1>, tensor<2xf32>
  %abs = math.absf %x : tensor<2xf32>
  %neg = arith.negf %abs : tensor<2xf32>
  %exp = math.exp %neg : tensor<2xf32>
  %log = math.log1p %exp : tensor<2xf32>
  %r = arith.subf %min, %log : tensor<2xf32>
  return %r : tensor<2xf32>
}

// LOGADDEXP-LABEL: func.func @logaddexp_joint(
// LOGADDEXP: arith.maximumf
func.func @logaddexp(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %e = tensor.empty() : tensor<2xf64>
  %r = linalg.map ins(%x, %y : tensor<2xf64>, tensor<2xf64>) outs(%e : tensor<2xf64>)
    (%a: f64, %b: f64, %o: f64) {
      %one = arith.constant 1.0 : f64
      %minus_one = arith.constant -1.0 : f64
      %greater = arith.cmpf uge, %b, %a : f64
      %max = arith.select %greater, %b, %a : f64
      %difference = arith.subf %b, %a : f64
      %size = math.absf %difference : f64
      %negative = arith.mulf %size, %minus_one : f64
      %exp = math.exp %negative : f64
      %sum = arith.addf %exp, %one : f64
      %log = math.log %sum : f64
      %result = arith.addf %log, %max : f64
      linalg.yield %result : f64
    }
  return %r : tensor<2xf64>
}

// As torch-mlir writes it.
#id = affine_map<(d0) -> (d0)>
func.func @spread(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %min = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %less = arith.cmpf olt, %a, %zero : f32
    %m = arith.select %less, %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2xf32>
  %abs = linalg.abs ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %neg = linalg.negf ins(%abs : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %exp = linalg.exp ins(%neg : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %log = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%exp : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %l = math.log1p %a : f32
    linalg.yield %l : f32
  } -> tensor<2xf32>
  %r = linalg.sub ins(%min, %log : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// A minimum and a sum, a select of something else, and another distance.
// KINKED-LABEL: func.func @kinked_joint(
// KINKED-NOT: arith.minimumf
// KINKED-NOT: arith.maximumf
func.func @kinked(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %less = arith.cmpf olt, %zero, %x : tensor<2xf32>
  %min = arith.select %less, %zero, %x : tensor<2xi1>, tensor<2xf32>
  %choice = arith.select %less, %y, %x : tensor<2xi1>, tensor<2xf32>
  %abs = math.absf %x : tensor<2xf32>
  %neg = arith.negf %abs : tensor<2xf32>
  %exp = math.exp %neg : tensor<2xf32>
  %log = math.log1p %exp : tensor<2xf32>
  %r = arith.addf %min, %log : tensor<2xf32>
  %s = arith.subf %choice, %log : tensor<2xf32>
  %other = math.absf %y : tensor<2xf32>
  %negative = arith.negf %other : tensor<2xf32>
  %power = math.exp %negative : tensor<2xf32>
  %distance = math.log1p %power : tensor<2xf32>
  %t = arith.subf %min, %distance : tensor<2xf32>
  return %r, %s, %t : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
