// RUN: fad-opt %s --fad-extract-coefficients=reassociate=never | FileCheck %s
// RUN: fad-opt %s --fad-extract-coefficients=reassociate=in-range | FileCheck %s --check-prefix=RANGE
// RUN: not fad-opt %s --fad-extract-coefficients=reassociate=false 2>&1 | FileCheck %s --check-prefix=INVALID

// INVALID: error: reassociate: 'false' is none of its values: never, in-range, always

// Without another order of factors, no product of forward values is made: each
// operation has coefficients of its own. One that selects by a forward value still has
// its mask.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xf32>, %[[Z:[^:]*]]: tensor<?xf32>, %[[G:[^:]*]]: tensor<?xf32>
// CHECK-NOT:     fad.adjoint_of = "fad.elementwise"
// CHECK:         ins(%[[G]], %[[X]] :
// CHECK:         arith.mulf
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[Z]] :
// CHECK:         arith.mulf
// CHECK:         return %[[X]], %[[R]]
func.func @chain(%x: tensor<?xf32>, %z: tensor<?xf32>, %g: tensor<?xf32> {fad.cotangent = 0 : i64})
    -> (tensor<?xf32>, tensor<?xf32> {fad.gradient = 0 : i64}) {
  %1 = arith.mulf %g, %x : tensor<?xf32>
  %2 = arith.mulf %1, %z : tensor<?xf32>
  return %x, %2 : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @relu(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8xf32>, %[[G:[^:]*]]: tensor<8xf32>
// CHECK:         %[[M:.*]] = fad.elementwise ins(%{{.*}} : tensor<8xf32>)
// CHECK:           arith.select
// CHECK:         fad.elementwise ins(%[[G]], %[[M]] :
func.func @relu(%x: tensor<8xf32>, %g: tensor<8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<8xf32>, tensor<8xf32> {fad.gradient = 0 : i64}) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %y = arith.maximumf %x, %zero : tensor<8xf32>
  %1 = fad.elementwise ins(%g, %y : tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %o = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %b, %o : f32
    %s = arith.select %c, %a, %o : f32
    fad.yield %s : f32
  }
  return %y, %1 : tensor<8xf32>, tensor<8xf32>
}

// In range: a cotangent of f32 has a coefficient, and one of f16 has none.

// RANGE-LABEL: func.func @chain(
// RANGE:         fad.elementwise {{.*}} attributes {fad.adjoint_of
// RANGE-LABEL: func.func @half(
// RANGE-SAME:    %[[X:[^:]*]]: tensor<?xf16>, %[[Z:[^:]*]]: tensor<?xf16>, %[[G:[^:]*]]: tensor<?xf16>
// RANGE-NOT:     fad.elementwise
// RANGE:         ins(%[[G]], %[[X]] :
// RANGE:         ins(%{{.*}}, %[[Z]] :
// RANGE:         return
func.func @half(%x: tensor<?xf16>, %z: tensor<?xf16>, %g: tensor<?xf16> {fad.cotangent = 0 : i64})
    -> (tensor<?xf16>, tensor<?xf16> {fad.gradient = 0 : i64}) {
  %1 = arith.mulf %g, %x : tensor<?xf16>
  %2 = arith.mulf %1, %z : tensor<?xf16>
  return %x, %2 : tensor<?xf16>, tensor<?xf16>
}
