// RUN: fad-opt %s --fad-expand-buffers --canonicalize | FileCheck %s
// RUN: fad-opt %s --fad-expand-buffers --expand-strided-metadata | FileCheck %s --check-prefix=LOWERED
// Executed in test/Rules/tensor-reshape.mlir.

// LOWERED-NOT: memref.expand_shape
// LOWERED:     func @one(
// LOWERED-NOT: memref.expand_shape

// Strides that the type does not tell are products of the sizes further in.

// CHECK-LABEL: func @identity(
// CHECK-SAME:    %[[X:.*]]: memref<?x6xf32>, %[[A:.*]]: index, %[[B:.*]]: index
// CHECK:         %[[S:.*]] = arith.muli %[[B]], %c6
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[A]], %[[B]], 6], strides: [%[[S]], 6, 1]
func.func @identity(%x: memref<?x6xf32>, %a: index, %b: index) -> memref<?x?x6xf32> {
  %0 = memref.expand_shape %x [[0, 1], [2]] output_shape [%a, %b, 6] : memref<?x6xf32> into memref<?x?x6xf32>
  return %0 : memref<?x?x6xf32>
}

// The source has gaps, and begins somewhere.

// CHECK-LABEL: func @strided(
// CHECK-SAME:    %[[X:.*]]: memref<4x?xf32, strided<[?, ?], offset: ?>>, %[[A:.*]]: index, %[[B:.*]]: index
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[S:.*]] = arith.muli %[[STRIDES]]#1, %[[B]]
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [%[[OFFSET]]], sizes: [2, 2, %[[A]], %[[B]]], strides: [%{{.*}}, %[[STRIDES]]#0, %[[S]], %[[STRIDES]]#1]
func.func @strided(%x: memref<4x?xf32, strided<[?, ?], offset: ?>>, %a: index, %b: index) -> memref<2x2x?x?xf32, strided<[?, ?, ?, ?], offset: ?>> {
  %0 = memref.expand_shape %x [[0, 1], [2, 3]] output_shape [2, 2, %a, %b]
      : memref<4x?xf32, strided<[?, ?], offset: ?>> into memref<2x2x?x?xf32, strided<[?, ?, ?, ?], offset: ?>>
  return %0 : memref<2x2x?x?xf32, strided<[?, ?, ?, ?], offset: ?>>
}

// One dynamic size in each group is left to others.

// CHECK-LABEL: func @one(
// CHECK:         memref.expand_shape
func.func @one(%x: memref<?x6xf32>, %a: index) -> memref<?x2x6xf32> {
  %0 = memref.expand_shape %x [[0, 1], [2]] output_shape [%a, 2, 6] : memref<?x6xf32> into memref<?x2x6xf32>
  return %0 : memref<?x2x6xf32>
}
