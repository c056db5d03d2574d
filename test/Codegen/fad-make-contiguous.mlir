// RUN: fad-opt %s -fad-make-contiguous -split-input-file | FileCheck %s
// RUN: fad-opt %s -fad-make-contiguous=alignment=0 -split-input-file | FileCheck %s --check-prefix=NATURAL
// Executed in test/Pipelines/to-cpu-run.mlir and test/fad-runner/slices.mlir.

// Some columns of each row.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x?xf32>, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index)
// CHECK:         %[[S:.*]] = memref.subview %[[X]][0, 0] [%[[M]], %[[N]]] [1, 1]
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[D0:.*]] = memref.dim %[[S]], %[[C0]]
// CHECK-NEXT:    %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[D1:.*]] = memref.dim %[[S]], %[[C1]]
// CHECK-NEXT:    %[[C:.*]] = memref.alloc(%[[D0]], %[[D1]]) {alignment = 64 : i64} : memref<?x?xf32>
// CHECK-NEXT:    memref.copy %[[S]], %[[C]]
// CHECK-NEXT:    return %[[C]]
// NATURAL-LABEL: func.func @columns(
// NATURAL:         memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?xf32>
func.func @columns(%x: memref<?x?xf32>, %m: index, %n: index) -> memref<?x?xf32> {
  %0 = memref.subview %x[0, 0] [%m, %n] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
  %1 = memref.cast %0 : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32>
  return %1 : memref<?x?xf32>
}

// -----

// Where the rows come from is not known.
// CHECK-LABEL: func.func @unknown(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x?xf32, strided<[?, 1]>>)
// CHECK:         %[[D:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK-NEXT:    %[[C:.*]] = memref.alloc(%[[D]]) {alignment = 64 : i64} : memref<2x?xf32>
// CHECK-NEXT:    memref.copy %[[X]], %[[C]]
// CHECK-NEXT:    return %[[C]]
func.func @unknown(%x: memref<2x?xf32, strided<[?, 1]>>) -> memref<2x?xf32> {
  %0 = memref.cast %x : memref<2x?xf32, strided<[?, 1]>> to memref<2x?xf32>
  return %0 : memref<2x?xf32>
}

// -----

// Every other row, as a cast of a cast.
// CHECK-LABEL: func.func @steps(
// CHECK:         memref.alloc
// CHECK-NEXT:    memref.copy
func.func @steps(%x: memref<?x?xf32>, %m: index, %n: index, %s: index) -> memref<?x?xf32> {
  %0 = memref.subview %x[0, 0] [%m, %n] [%s, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
  %1 = memref.cast %0 : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %2 = memref.cast %1 : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<?x?xf32>
  return %2 : memref<?x?xf32>
}

// -----

// The columns are all of one dimension and some of the next.
// CHECK-LABEL: func.func @inner(
// CHECK:         memref.alloc
// CHECK-NEXT:    memref.copy
func.func @inner(%x: memref<?x?x?xf32>, %m: index, %n: index) -> memref<?x?xf32> {
  %c2 = arith.constant 2 : index
  %k = memref.dim %x, %c2 : memref<?x?x?xf32>
  %0 = memref.subview %x[0, 0, 0] [%m, %n, %k] [1, 1, 1] : memref<?x?x?xf32> to memref<?x?x?xf32, strided<[?, ?, 1]>>
  %1 = memref.subview %0[0, 0, 0] [%m, 1, %k] [1, 1, 1] : memref<?x?x?xf32, strided<[?, ?, 1]>> to memref<?x?xf32, strided<[?, 1]>>
  %2 = memref.cast %1 : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32>
  return %2 : memref<?x?xf32>
}

// -----

// Whole rows, of a number that is known here alone.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @rows(%x: memref<?x?xf32>, %m: index) -> memref<?x?xf32> {
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %0 = memref.subview %x[0, 0] [%m, %n] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
  %1 = memref.cast %0 : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32>
  return %1 : memref<?x?xf32>
}

// -----

// Whole rows by the size that the buffer was made with, and a part of one row.
// CHECK-LABEL: func.func @made(
// CHECK:         memref.alloc(
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @made(%k: index, %m: index, %n: index) -> (memref<?x?xf32>, memref<1x?xf32>) {
  %x = memref.alloc(%k, %n) : memref<?x?xf32>
  %0 = memref.subview %x[0, 0] [%m, %n] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
  %1 = memref.cast %0 : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32>
  %2 = memref.subview %x[0, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1]>>
  %3 = memref.cast %2 : memref<1x?xf32, strided<[?, 1]>> to memref<1x?xf32>
  return %1, %3 : memref<?x?xf32>, memref<1x?xf32>
}

// -----

// The type tells, and a layout that has room for gaps needs nothing.
// CHECK-LABEL: func.func @types(
// CHECK-NOT:     memref.copy
func.func @types(%x: memref<?x4xf32>, %m: index, %n: index)
    -> (memref<?x4xf32>, memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?x?xf32>) {
  %0 = memref.subview %x[0, 0] [%m, 4] [1, 1] : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1]>>
  %1 = memref.cast %0 : memref<?x4xf32, strided<[4, 1]>> to memref<?x4xf32>
  %2 = memref.subview %x[0, 0] [%m, %n] [1, 1] : memref<?x4xf32> to memref<?x?xf32, strided<[4, 1]>>
  %3 = memref.cast %2 : memref<?x?xf32, strided<[4, 1]>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  %4 = memref.cast %x : memref<?x4xf32> to memref<?x?xf32>
  return %1, %3, %4 : memref<?x4xf32>, memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?x?xf32>
}
