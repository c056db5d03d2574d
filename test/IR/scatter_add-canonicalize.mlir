// RUN: fad-opt %s -canonicalize -resolve-ranked-shaped-type-result-dims | FileCheck %s

// No updates.
// CHECK-LABEL: func.func @none(
// CHECK-SAME:    %{{.*}}, %[[INIT:[^:]*]]: tensor<?x?xf32>)
// CHECK-NEXT:    return %[[INIT]]
func.func @none(%u: tensor<0x?xf32>, %i: tensor<0xi64>, %init: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = fad.scatter_add %u at (%i : tensor<0xi64>) dims [1] into %init : tensor<0x?xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// No indices; no elements to add to.
// CHECK-LABEL: func.func @noElements(
// CHECK-SAME:    %[[INIT:[^:,]*]]: tensor<?xf32>, %[[EMPTY:[^:,]*]]: tensor<?x0xf32>)
// CHECK-NEXT:    return %[[INIT]], %[[EMPTY]]
func.func @noElements(%u: tensor<?x?xf32>, %i: tensor<?x0xi64>, %v: tensor<?xf32>, %j: tensor<?xi64>,
                      %init: tensor<?xf32>, %empty: tensor<?x0xf32>) -> (tensor<?xf32>, tensor<?x0xf32>) {
  %0 = fad.scatter_add %u at (%i : tensor<?x0xi64>) dims [0] into %init : tensor<?x?xf32> -> tensor<?xf32>
  %1 = fad.scatter_add %v at (%j, %j : tensor<?xi64>, tensor<?xi64>) dims [0, 1] into %empty : tensor<?xf32> -> tensor<?x0xf32>
  return %0, %1 : tensor<?xf32>, tensor<?x0xf32>
}

// Adding -0 changes nothing; adding 0 would make a 0 of a -0.
// CHECK-LABEL: func.func @zeros(
// CHECK-SAME:    %{{.*}}, %[[INIT:[^:]*]]: tensor<8xf32>)
// CHECK:         %[[R:.*]] = fad.scatter_add
// CHECK:         return %[[INIT]], %[[R]]
func.func @zeros(%i: tensor<?xi64>, %init: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %minus = arith.constant dense<-0.0> : tensor<4xf32>
  %m = tensor.cast %minus : tensor<4xf32> to tensor<?xf32>
  %plus = arith.constant dense<0.0> : tensor<4xf32>
  %p = tensor.cast %plus : tensor<4xf32> to tensor<?xf32>
  %0 = fad.scatter_add %m at (%i : tensor<?xi64>) dims [0] into %init : tensor<?xf32> -> tensor<8xf32>
  %1 = fad.scatter_add %p at (%i : tensor<?xi64>) dims [0] into %init : tensor<?xf32> -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// What is known of a shape gets through; the sizes are those of the init.
// CHECK-LABEL: func.func @casts(
// CHECK-SAME:    %[[U:[^:]*]]: tensor<4x16xf32>, %[[I:[^:]*]]: tensor<4xi64>, %[[INIT:[^:]*]]: tensor<50x16xf32>)
// CHECK:         %[[ROWS:.*]] = arith.constant 50 : index
// CHECK:         fad.scatter_add %[[U]] at(%[[I]] : tensor<4xi64>) dims [0] into %[[INIT]] : tensor<4x16xf32> -> tensor<50x16xf32>
// CHECK:         return %{{.*}}, %[[ROWS]]
func.func @casts(%u: tensor<4x16xf32>, %i: tensor<4xi64>, %init: tensor<50x16xf32>) -> (tensor<?x?xf32>, index) {
  %c0 = arith.constant 0 : index
  %0 = tensor.cast %u : tensor<4x16xf32> to tensor<?x?xf32>
  %1 = tensor.cast %i : tensor<4xi64> to tensor<?xi64>
  %2 = tensor.cast %init : tensor<50x16xf32> to tensor<?x?xf32>
  %r = fad.scatter_add %0 at (%1 : tensor<?xi64>) dims [0] into %2 : tensor<?x?xf32> -> tensor<?x?xf32>
  %d = tensor.dim %r, %c0 : tensor<?x?xf32>
  return %r, %d : tensor<?x?xf32>, index
}
