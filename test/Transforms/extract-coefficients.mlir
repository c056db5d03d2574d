// RUN: fad-opt %s --fad-extract-coefficients --split-input-file | FileCheck %s

// A chain of the backward part is one coefficient, of what it reads of forward.
// What is no joint function stays.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xf32>, %[[Z:[^:]*]]: tensor<?xf32>, %[[G:[^:]*]]: tensor<?xf32>
// CHECK:         %[[C:.*]] = fad.elementwise ins(%[[X]], %[[Z]] : tensor<?xf32>, tensor<?xf32>) attributes {fad.adjoint_of = "fad.elementwise"} -> tensor<?xf32> {
// CHECK-NEXT:    ^bb0(%[[V:.*]]: f32, %[[W:.*]]: f32):
// CHECK:           %[[P:.*]] = arith.mulf %[[W]], %[[V]] : f32
// CHECK:           %[[D:.*]] = arith.subf %{{.*}}, %[[P]] : f32
// CHECK-NEXT:      fad.yield %[[D]] : f32
// CHECK:         %[[R:.*]] = fad.elementwise ins(%[[G]], %[[C]] : tensor<?xf32>, tensor<?xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT:      %[[M:.*]] = arith.mulf %[[A]], %[[B]] : f32
// CHECK-NEXT:      fad.yield %[[M]] : f32
// CHECK:         return %[[X]], %[[R]]
func.func @chain(%x: tensor<?xf32>, %z: tensor<?xf32>, %g: tensor<?xf32> {fad.cotangent = 0 : i64})
    -> (tensor<?xf32>, tensor<?xf32> {fad.gradient = 0 : i64}) {
  %1 = arith.mulf %g, %x : tensor<?xf32>
  %2 = arith.mulf %1, %z : tensor<?xf32>
  %3 = arith.subf %g, %2 : tensor<?xf32>
  return %x, %3 : tensor<?xf32>, tensor<?xf32>
}
// CHECK-LABEL: func.func @other(
// CHECK-NEXT:    arith.mulf
// CHECK-NEXT:    return
func.func @other(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = arith.mulf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// What is read as it is, and what is little arithmetic on one tensor, is no
// coefficient worth a tensor.

// CHECK-LABEL: func.func @plain(
// CHECK-NOT:     fad.elementwise
// CHECK:         return
func.func @plain(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %y = arith.mulf %x, %x : tensor<4xf32>
  %1 = arith.mulf %g, %x : tensor<4xf32>
  %2 = arith.mulf %1, %two : tensor<4xf32>
  return %y, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// One coefficient for each of two cotangents; one that is read as it is stays.

// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32>, %[[W:[^:]*]]: tensor<4xf32>, %[[G:[^:]*]]: tensor<4xf32>{{.*}}, %[[H:[^:]*]]: tensor<4xf32>
// CHECK:         %[[C:.*]] = fad.elementwise ins(%[[X]] : tensor<4xf32>) attributes {fad.adjoint_of
// CHECK:           math.cos
// CHECK:         fad.elementwise ins(%[[G]], %[[H]], %[[W]], %[[C]] : {{.*}})
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[V:.*]]: f32, %[[D:.*]]: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[A]], %[[D]] : f32
// CHECK-NEXT:      %[[Q:.*]] = arith.mulf %[[B]], %[[V]] : f32
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[P]], %[[Q]] : f32
// CHECK-NEXT:      fad.yield %[[S]] : f32
func.func @sum(%x: tensor<4xf32>, %w: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64}, %h: tensor<4xf32> {fad.cotangent = 1 : i64})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %s = math.sin %x : tensor<4xf32>
  %m = arith.mulf %x, %w : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %gx = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g, %h, %x, %w : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %o: f32):
    %1 = math.cos %c : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.mulf %b, %d : f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  return %s, %m, %gx : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A coefficient of f16 is computed in f32 and rounded once. A zero that is chosen
// stays zero whatever the cotangent is.

// CHECK-LABEL: func.func @chosen(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf16>, %[[G:[^:]*]]: tensor<4xf16>
// CHECK:         %[[C:.*]] = fad.elementwise ins(%[[X]] : tensor<4xf16>) attributes {fad.adjoint_of
// CHECK-NEXT:    ^bb0(%[[V:.*]]: f16):
// CHECK:           %[[W:.*]] = arith.extf %[[E:.*]] : f16 to f32
// CHECK:           %[[D:.*]] = arith.select %{{.*}}, %[[W]], %[[Z:.*]] : f32
// CHECK-NEXT:      %[[T:.*]] = arith.truncf %[[D]] : f32 to f16
// CHECK-NEXT:      fad.yield %[[T]] : f16
// CHECK:         fad.elementwise ins(%[[G]], %[[C]] : {{.*}})
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16):
// CHECK:           %[[AW:.*]] = arith.extf %[[A]]
// CHECK-NEXT:      %[[BW:.*]] = arith.extf %[[B]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[AW]], %[[BW]] : f32
// CHECK:           %[[IS:.*]] = arith.cmpf oeq, %[[BW]], %[[ZERO:.*]] : f32
// CHECK-NEXT:      %[[S:.*]] = arith.select %[[IS]], %[[ZERO]], %[[P]] : f32
// CHECK-NEXT:      %[[R:.*]] = arith.truncf %[[S]] : f32 to f16
// CHECK-NEXT:      fad.yield %[[R]] : f16
func.func @chosen(%x: tensor<4xf16>, %g: tensor<4xf16> {fad.cotangent = 0 : i64})
    -> (tensor<4xf16>, tensor<4xf16> {fad.gradient = 0 : i64}) {
  %y = math.exp %x : tensor<4xf16>
  %e = tensor.empty() : tensor<4xf16>
  %z = arith.constant 0.0 : f16
  %gx = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g, %x : tensor<4xf16>, tensor<4xf16>) outs(%e : tensor<4xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %1 = math.exp %b : f16
    %2 = arith.mulf %a, %1 : f16
    %3 = arith.cmpf ogt, %b, %z : f16
    %4 = arith.select %3, %2, %z : f16
    linalg.yield %4 : f16
  } -> tensor<4xf16>
  return %y, %gx : tensor<4xf16>, tensor<4xf16>
}

// -----

// What one tensor is read for by two operations ends a slice; a mask of 1 bit
// takes fewer bytes than the coefficient that is made of it.

// CHECK-LABEL: func.func @mask(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32>, %[[G:[^:]*]]: tensor<4xf32>
// CHECK:         %[[M:.*]] = fad.elementwise ins(%[[X]]{{.*}}) attributes {fad.adjoint_of = "arith.cmpf"} -> tensor<4xi1>
// CHECK:         linalg.generic {{.*}} ins(%[[M]], %[[G]]
// CHECK-NOT:     fad.elementwise
// CHECK:         return
func.func @mask(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = fad.relu %x : tensor<4xf32>
  %m = arith.cmpf ogt, %x, %zero : tensor<4xf32>
  %1 = arith.select %m, %g, %zero : tensor<4xi1>, tensor<4xf32>
  return %y, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A region that computes a value of the forward part and one that only backward
// reads is two; the derivative is computed from its source.

// CHECK-LABEL: func.func @shared(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32>, %[[G:[^:]*]]: tensor<4xf32>
// CHECK:         %[[Y:.*]] = fad.elementwise ins(%[[X]] : tensor<4xf32>) -> tensor<4xf32> {
// CHECK:           math.sin
// CHECK-NOT:       math.cos
// CHECK:           fad.yield
// CHECK:         %[[C:.*]] = fad.elementwise ins(%[[X]] : tensor<4xf32>) attributes {fad.adjoint_of = "math.cos"} -> tensor<4xf32> {
// CHECK-NOT:       math.sin
// CHECK:           math.cos
// CHECK:           fad.yield
// CHECK:         linalg.generic {{.*}} ins(%[[G]], %[[C]]
// CHECK:         return %[[Y]],
func.func @shared(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %y:2 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32> {
  ^bb0(%a: f32):
    %s = math.sin %a : f32
    %c = math.cos %a : f32
    fad.yield %s, %c : f32, f32
  }
  %1 = arith.mulf %g, %y#1 : tensor<4xf32>
  return %y#0, %1 : tensor<4xf32>, tensor<4xf32>
}
