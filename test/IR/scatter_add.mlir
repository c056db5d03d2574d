// RUN: fad-opt %s | fad-opt | FileCheck %s
// RUN: fad-opt %s -mlir-print-op-generic | fad-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[U:[^:]*]]: tensor<4x6x16xf32>, %[[I:[^:]*]]: tensor<4x6xi64>, %[[INIT:[^:]*]]: tensor<50x16xf32>)
func.func @rows(%u: tensor<4x6x16xf32>, %i: tensor<4x6xi64>, %init: tensor<50x16xf32>) -> tensor<50x16xf32> {
  // CHECK: fad.scatter_add %[[U]] at(%[[I]] : tensor<4x6xi64>) dims [0] into %[[INIT]] : tensor<4x6x16xf32> -> tensor<50x16xf32>
  %r = fad.scatter_add %u at (%i : tensor<4x6xi64>) dims [0] into %init : tensor<4x6x16xf32> -> tensor<50x16xf32>
  return %r : tensor<50x16xf32>
}

// Two coordinates, of different types, around a dimension of the slice.
// CHECK-LABEL: func.func @coordinates(
func.func @coordinates(%u: tensor<?x8xf64>, %i: tensor<?xi32>, %j: tensor<?xindex>, %init: tensor<3x8x?xf64>) -> tensor<3x8x?xf64> {
  // CHECK: fad.scatter_add %{{.*}} at(%{{.*}}, %{{.*}} : tensor<?xi32>, tensor<?xindex>) dims [0, 2] into %{{.*}} {note = "x"} : tensor<?x8xf64> -> tensor<3x8x?xf64>
  %r = fad.scatter_add %u at (%i, %j : tensor<?xi32>, tensor<?xindex>) dims [0, 2] into %init {note = "x"} : tensor<?x8xf64> -> tensor<3x8x?xf64>
  return %r : tensor<3x8x?xf64>
}

// One update, of one element.
// CHECK-LABEL: func.func @one(
func.func @one(%u: tensor<bf16>, %i: tensor<i8>, %init: tensor<?xbf16>) -> tensor<?xbf16> {
  // CHECK: fad.scatter_add %{{.*}} at(%{{.*}} : tensor<i8>) dims [0] into %{{.*}} : tensor<bf16> -> tensor<?xbf16>
  %r = fad.scatter_add %u at (%i : tensor<i8>) dims [0] into %init : tensor<bf16> -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}
