// RUN: fad-opt %s -fad-legalize-for-iree | FileCheck %s
// Executed in fad-legalize-for-iree-run.mlir and test/python/iree-memory.test.

// CHECK-NOT: {{fad\.|erfc}}

// What says what arguments and results are goes; what others wrote stays.
// CHECK: func.func @attributes(%{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: f32 {other.name = 1 : i64}) -> (tensor<4xf32>, f32 {other.name = 2 : i64})
// CHECK-SAME: attributes {other.name}
func.func @attributes(%x: tensor<4xf32> {fad.cotangent = 0}, %s: f32 {other.name = 1})
    -> (tensor<4xf32> {fad.gradient = 0}, f32 {fad.residual, other.name = 2})
    attributes {fad.request = #fad.request<>, other.name} {
  return %x, %s : tensor<4xf32>, f32
}

// CHECK: func.func private @external(tensor<4xf32>) -> tensor<4xf32>
func.func private @external(tensor<4xf32> {fad.residual}) -> (tensor<4xf32> {fad.residual})

// Narrow types are computed in f32.
// CHECK-LABEL: func.func @half(
// CHECK-SAME: %[[X:[^:]*]]: f16
// CHECK: arith.extf %[[X]] : f16 to f32
// CHECK: %[[Y:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK: return %[[Y]]
func.func @half(%x: f16) -> f16 {
  %0 = math.erfc %x : f16
  return %0 : f16
}

// CHECK-LABEL: func.func @tensor(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>)
// CHECK: math.exp %{{.*}} : f32
func.func @tensor(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = math.erfc %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @vector(
// CHECK: math.exp %{{.*}} : vector<8xf32>
func.func @vector(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.erfc %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// What IREE's version of MLIR has no name for.
// CHECK-LABEL: func.func @named(
// CHECK: linalg.generic
// CHECK: math.exp %{{.*}} : f32
// CHECK: linalg.generic
// CHECK: arith.addi %{{.*}} : i32
// CHECK: linalg.transpose
func.func @named(%x: tensor<2x3xf32>, %i: tensor<4xi32>) -> (tensor<3x2xf32>, tensor<4xi32>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.exp ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %k = tensor.empty() : tensor<4xi32>
  %1 = linalg.add ins(%i, %i : tensor<4xi32>, tensor<4xi32>) outs(%k : tensor<4xi32>) -> tensor<4xi32>
  %t = tensor.empty() : tensor<3x2xf32>
  %2 = linalg.transpose ins(%0 : tensor<2x3xf32>) outs(%t : tensor<3x2xf32>) permutation = [1, 0]
  return %2, %1 : tensor<3x2xf32>, tensor<4xi32>
}

// An argument that would be written to is copied, by what folds to no copy.
// CHECK-LABEL: func.func @written(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4x?xf32>, %[[S:[^:]*]]: tensor<?xf32>)
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[S]]
// CHECK:         %[[E:.*]] = tensor.empty(%[[SIZE]])
// CHECK:         %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<?xf32>) outs(%[[E]] : tensor<?xf32>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK:           %[[TWO:.*]] = arith.constant 2.0
// CHECK:           %[[LEAST:.*]] = arith.minimumf %[[IN]], %[[TWO]]
// CHECK:           %[[SAME:.*]] = arith.maximumf %[[IN]], %[[LEAST]]
// CHECK:           linalg.yield %[[SAME]]
// CHECK:         %[[R:.*]] = linalg.reduce {{.*}} outs(%[[COPY]] : tensor<?xf32>)
// CHECK:         return %[[R]], %[[S]]
func.func @written(%x: tensor<4x?xf32>, %s: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<4x?xf32>) outs(%s : tensor<?xf32>) dimensions = [0]
  return %0, %s : tensor<?xf32>, tensor<?xf32>
}

// Integers, the smallest in i8; scalars and slices that are inserted; through
// views and branches.
// CHECK-LABEL: func.func @through(
// CHECK-SAME:    %[[B:[^:]*]]: tensor<4xi1>, %[[I:[^:]*]]: tensor<2x2xi64>, %[[P:[^:]*]]: i1
// CHECK:         linalg.generic {{.*}} ins(%[[B]] :
// CHECK:           arith.extui %{{.*}} : i1 to i8
// CHECK:           arith.minsi
// CHECK:           arith.maxsi
// CHECK:           arith.trunci %{{.*}} : i8 to i1
// CHECK:         tensor.insert %[[P]]
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %[[I]]
// CHECK:         %[[IF:.*]] = scf.if
// CHECK:         linalg.generic {{.*}} ins(%[[IF]] :
// CHECK:         tensor.insert_slice
func.func @through(%b: tensor<4xi1>, %i: tensor<2x2xi64>, %p: i1, %j: tensor<4xi64>) -> (tensor<4xi1>, tensor<4xi64>) {
  %c0 = arith.constant 0 : index
  %0 = tensor.insert %p into %b[%c0] : tensor<4xi1>
  %1 = tensor.collapse_shape %i [[0, 1]] : tensor<2x2xi64> into tensor<4xi64>
  %2 = scf.if %p -> tensor<4xi64> {
    %sum = arith.addi %1, %j : tensor<4xi64>
    scf.yield %sum : tensor<4xi64>
  } else {
    scf.yield %1 : tensor<4xi64>
  }
  %two = arith.constant dense<7> : tensor<2xi64>
  %3 = tensor.insert_slice %two into %2[1] [2] [1] : tensor<2xi64> into tensor<4xi64>
  return %0, %3 : tensor<4xi1>, tensor<4xi64>
}

// What the function made is its own; initial values that are not read, or read
// by parallel loops only, are not written to.
// CHECK-LABEL: func.func @own(
// CHECK-NOT:     arith.maximumf
// CHECK:         return
func.func @own(%x: tensor<4x4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.reduce {arith.addf} ins(%x : tensor<4x4xf32>) outs(%0 : tensor<4xf32>) dimensions = [0]
  %2 = linalg.broadcast ins(%1 : tensor<4xf32>) outs(%x : tensor<4x4xf32>) dimensions = [0]
  return %1, %2 : tensor<4xf32>, tensor<4x4xf32>
}

// The memory of a global, and memory that becomes a global's.
ml_program.global private mutable @state(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
// CHECK-LABEL: func.func @global(
// CHECK-SAME:    %{{[^:]*}}: tensor<4x4xf32>, %[[S:[^:]*]]: tensor<4xf32>)
// CHECK:         %[[OLD:.*]] = ml_program.global_load
// CHECK:         linalg.generic {{.*}} ins(%[[OLD]] :
// CHECK:         linalg.reduce
// CHECK:         %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[S]] :
// CHECK:         ml_program.global_store @state = %[[COPY]]
func.func @global(%x: tensor<4x4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %old = ml_program.global_load @state : tensor<4xf32>
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<4x4xf32>) outs(%old : tensor<4xf32>) dimensions = [0]
  ml_program.global_store @state = %s : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A maximum over windows of more than one number to begin with; sums, and what
// begins with a fill, keep their name.
// CHECK-LABEL: func.func @windows(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<1x6x1xf32>, %[[S:[^:]*]]: tensor<1x4x1xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<1x6x1xf32>, tensor<3xf32>)
// CHECK:           arith.maximumf
// CHECK:         linalg.pooling_nwc_sum
// CHECK:         linalg.pooling_nwc_max
func.func @windows(%x: tensor<1x6x1xf32>, %s: tensor<1x4x1xf32>)
    -> (tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>) {
  %k = tensor.empty() : tensor<3xf32>
  %e = tensor.empty() : tensor<1x4x1xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%lowest : f32) outs(%e : tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %a = arith.addf %s, %s : tensor<1x4x1xf32>
  %0 = linalg.pooling_nwc_max ins(%x, %k : tensor<1x6x1xf32>, tensor<3xf32>) outs(%a : tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %1 = linalg.pooling_nwc_sum ins(%x, %k : tensor<1x6x1xf32>, tensor<3xf32>) outs(%a : tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %2 = linalg.pooling_nwc_max ins(%x, %k : tensor<1x6x1xf32>, tensor<3xf32>) outs(%f : tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  return %0, %1, %2 : tensor<1x4x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>
}
