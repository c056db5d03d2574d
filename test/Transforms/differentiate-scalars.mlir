// Scalars at function level have cotangents.

// RUN: fad-opt %s --fad-differentiate="entry=chain wrt=0,1" | FileCheck %s
// RUN: fad-opt %s --fad-differentiate="entry=captured wrt=0,1" | FileCheck %s --check-prefix=CAPTURED
// RUN: fad-opt %s --fad-nest="entry=chain wrt=0,1" | FileCheck %s --check-prefix=NEST
// RUN: not fad-opt %s --fad-nest="entry=chain" 2>&1 | FileCheck %s --check-prefix=ASK
// ASK: error: @chain has no argument that is a ranked tensor of f16, bf16, f32 or f64, so there is nothing to differentiate with respect to; list scalars in 'wrt'

// DEFINE: %{policy} =
// DEFINE: %{run} = fad-runner %s --policy=%{policy} --check-gradients
// DEFINE: %{all} = \
// DEFINE:   %{run} --entry=chain --wrt=0,1 --arg=0.5 --arg=-1.5 && \
// DEFINE:   %{run} --entry=captured --wrt=0,1 --arg=0.5 && \
// DEFINE:   %{run} --entry=named --wrt=0,1,2 --size=3 && %{run} --entry=named --wrt=0,1,2 --size=0 && \
// DEFINE:   %{run} --entry=region --wrt=0,1 && %{run} --entry=half --wrt=0,1 --arg=0.75 && \
// DEFINE:   %{run} --entry=brain --wrt=0 --arg=0.75 && \
// DEFINE:   %{run} --entry=loss && %{run} --entry=unused --wrt=0,1 && %{run} --entry=twice --wrt=0

// REDEFINE: %{policy} = bp
// RUN: %{all}
// REDEFINE: %{policy} = recompute
// RUN: %{all}
// REDEFINE: %{policy} = fad
// RUN: %{all}

// CHECK-LABEL: func.func @chain_joint(
// CHECK-SAME:    %[[X:[^:]*]]: f64, %[[Y:[^:]*]]: f64, %[[G:[^:]*]]: f64 {fad.cotangent = 0 : i64})
// CHECK-SAME:    -> (f64, f64 {fad.gradient = 0 : i64}, f64 {fad.gradient = 1 : i64})
// CHECK:         %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : f64
// CHECK-NEXT:    %[[S:.*]] = math.sin %[[P]] : f64
// CHECK-NEXT:    %[[D:.*]] = math.cos %[[P]]
// CHECK-NEXT:    %[[GP:.*]] = arith.mulf %[[G]], %[[D]] {fad.adjoint_of = "math.sin"}
// CHECK-NEXT:    %[[GX:.*]] = arith.mulf %[[GP]], %[[Y]] {fad.adjoint_of = "arith.mulf"}
// CHECK-NEXT:    %[[GY:.*]] = arith.mulf %[[GP]], %[[X]] {fad.adjoint_of = "arith.mulf"}
// CHECK-NEXT:    return %[[S]], %[[GX]], %[[GY]]

// NEST-LABEL: func.func @chain_backward(
// NEST-SAME:    f64 {fad.residual}
// NEST-SAME:    -> (f64 {fad.gradient = 0 : i64}, f64 {fad.gradient = 1 : i64})
func.func @chain(%x: f64, %y: f64) -> f64 {
  %p = arith.mulf %x, %y : f64
  %s = math.sin %p : f64
  return %s : f64
}

// A scalar that a body captures becomes an operand; its cotangent is the sum
// over all iterations.

// CAPTURED-LABEL: func.func @captured_joint(
// CAPTURED-SAME:    %[[S:[^:]*]]: f32, %[[X:[^:]*]]: tensor<3xf32>
// CAPTURED:         %[[T:.*]] = tensor.from_elements %[[S]] : tensor<f32>
// CAPTURED:         linalg.generic {{.*}} ins(%[[X]], %[[T]] : tensor<3xf32>, tensor<f32>)
// CAPTURED:         %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]
// CAPTURED:         tensor.extract %[[SUM]][]
func.func @captured(%s: f32, %x: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %s : f32
    %t = math.exp %m : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// Scalar operands of structured operations, and captures of named ones.
func.func @named(%s: f64, %t: f64, %x: tensor<?x2xf64>) -> (tensor<?x2xf64>, tensor<?x2xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %size = tensor.dim %x, %c0 : tensor<?x2xf64>
  %e = tensor.empty(%size) : tensor<?x2xf64>
  %v = tensor.empty(%size) : tensor<?xf64>
  %f = linalg.fill ins(%s : f64) outs(%e : tensor<?x2xf64>) -> tensor<?x2xf64>
  %p = arith.mulf %f, %x : tensor<?x2xf64>
  %m = linalg.map ins(%x : tensor<?x2xf64>) outs(%e : tensor<?x2xf64>) (%a: f64, %out: f64) {
    %b = arith.mulf %a, %t : f64
    linalg.yield %b : f64
  }
  %start = linalg.fill ins(%zero : f64) outs(%v : tensor<?xf64>) -> tensor<?xf64>
  %sum = linalg.reduce ins(%x : tensor<?x2xf64>) outs(%start : tensor<?xf64>) dimensions = [1] (%a: f64, %acc: f64) {
    %b = arith.divf %a, %t : f64
    %c = arith.addf %b, %acc : f64
    linalg.yield %c : f64
  }
  return %p, %m, %sum : tensor<?x2xf64>, tensor<?x2xf64>, tensor<?xf64>
}

// A scalar operand of a region.
func.func @region(%s: f32, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = fad.elementwise ins(%x, %s : tensor<2x3xf32>, f32) -> tensor<2x3xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    %t = math.tanh %m : f32
    fad.yield %t : f32
  }
  return %r : tensor<2x3xf32>
}

func.func @half(%s: f16, %x: tensor<4xf16>) -> (tensor<4xf16>, f16) {
  %splat = tensor.splat %s : tensor<4xf16>
  %y = arith.mulf %splat, %x : tensor<4xf16>
  %wide = arith.extf %s : f16 to f32
  %e = math.exp %wide : f32
  %narrow = arith.truncf %e : f32 to f16
  return %y, %narrow : tensor<4xf16>, f16
}

func.func @brain(%s: bf16) -> bf16 {
  %e = math.exp %s : bf16
  %p = arith.mulf %e, %s : bf16
  return %p : bf16
}

// A loss is a scalar as well as a tensor of rank 0.
func.func @loss(%x: tensor<3xf32>) -> (f32, tensor<f32>) {
  %c1 = arith.constant 1 : index
  %e = tensor.extract %x[%c1] : tensor<3xf32>
  %l = math.log1p %e : f32
  %t = tensor.from_elements %l : tensor<f32>
  return %l, %t : f32, tensor<f32>
}

// A gradient that is zero.
func.func @unused(%s: f32, %x: tensor<2xf32>) -> tensor<2xf32> {
  %y = math.exp %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// One value as both operands, and as the operand of a selection.
func.func @twice(%s: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %p = arith.mulf %s, %s : f64
  %c = arith.cmpf olt, %s, %zero : f64
  %r = arith.select %c, %p, %s : f64
  %q = arith.divf %r, %p : f64
  %sum = arith.addf %q, %r : f64
  return %sum : f64
}
