// RUN: fad-opt %s -split-input-file -fad-results-to-arguments | FileCheck %s
// Executed in test/Unit/Runtime/CompiledModuleTest.cpp.

// A result is computed in the caller's buffer.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[R:.*]]: memref<?xf32>) {
// CHECK-NEXT:    linalg.copy ins(%[[X]] : memref<?xf32>) outs(%[[R]] : memref<?xf32>)
// CHECK-NEXT:    return
func.func @dynamic(%x: memref<?xf32>, %n: index) -> memref<?xf32> {
  %0 = memref.alloc(%n) : memref<?xf32>
  linalg.copy ins(%x : memref<?xf32>) outs(%0 : memref<?xf32>)
  return %0 : memref<?xf32>
}

// Scalars are returned, and what the caller has is copied.
// CHECK-LABEL: func.func @several(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xf32>, %[[S:[^:]*]]: f32,
// CHECK-SAME:    %[[A:[^:]*]]: memref<4xf32>, %[[B:[^:]*]]: memref<4xf32>) -> f32
// CHECK-NEXT:    linalg.fill ins(%[[S]] : f32) outs(%[[A]] : memref<4xf32>)
// CHECK-NEXT:    memref.copy %[[X]], %[[B]]
// CHECK-NEXT:    return %[[S]] : f32
func.func @several(%x: memref<4xf32>, %s: f32) -> (memref<4xf32>, f32, memref<4xf32>) {
  %0 = memref.alloc() : memref<4xf32>
  linalg.fill ins(%s : f32) outs(%0 : memref<4xf32>)
  return %0, %s, %x : memref<4xf32>, f32, memref<4xf32>
}

// -----

// CHECK-LABEL: func.func @twice(
// CHECK-SAME:    %[[S:[^:]*]]: f32, %[[A:[^:]*]]: memref<4xf32>, %[[B:[^:]*]]: memref<4xf32>)
// CHECK-NEXT:    %[[M:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.fill ins(%[[S]] : f32) outs(%[[M]] : memref<4xf32>)
// CHECK-NEXT:    memref.copy %[[M]], %[[A]]
// CHECK-NEXT:    memref.copy %[[M]], %[[B]]
func.func @twice(%s: f32) -> (memref<4xf32>, memref<4xf32>) {
  %0 = memref.alloc() : memref<4xf32>
  linalg.fill ins(%s : f32) outs(%0 : memref<4xf32>)
  return %0, %0 : memref<4xf32>, memref<4xf32>
}

// -----

// A clone has elements.
// CHECK-LABEL: func.func @clone(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[R:.*]]: memref<4xf32>) {
// CHECK-NEXT:    %[[C:.*]] = bufferization.clone %[[X]]
// CHECK-NEXT:    memref.copy %[[C]], %[[R]]
func.func @clone(%x: memref<4xf32>) -> memref<4xf32> {
  %0 = bufferization.clone %x : memref<4xf32> to memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

// Both buffers live at the same time.
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:    %[[X:.*]]: memref<2x2xf32>, %[[C:.*]]: i1, %[[R:.*]]: memref<2x2xf32>) {
// CHECK-NEXT:    %[[A:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.copy ins(%[[X]] : {{.*}}) outs(%[[A]] : {{.*}})
// CHECK:         memref.copy %[[A]], %[[R]]
// CHECK:         %[[B:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.transpose ins(%[[A]] : {{.*}}) outs(%[[B]] : {{.*}})
// CHECK-NEXT:    memref.copy %[[B]], %[[R]]
func.func @blocks(%x: memref<2x2xf32>, %c: i1) -> memref<2x2xf32> {
  %0 = memref.alloc() : memref<2x2xf32>
  linalg.copy ins(%x : memref<2x2xf32>) outs(%0 : memref<2x2xf32>)
  cf.cond_br %c, ^first, ^second
^first:
  return %0 : memref<2x2xf32>
^second:
  %1 = memref.alloc() : memref<2x2xf32>
  linalg.transpose ins(%0 : memref<2x2xf32>) outs(%1 : memref<2x2xf32>) permutation = [1, 0]
  return %1 : memref<2x2xf32>
}

// -----

// A caller allocates what is of static size.
// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[R:.*]]: memref<4xf32>) {
// CHECK-NEXT:    %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    call @callee(%[[X]], %[[A]])
// CHECK-NEXT:    memref.copy %[[A]], %[[R]]
func.func private @callee(%x: memref<4xf32>) -> memref<4xf32> {
  %0 = memref.alloc() : memref<4xf32>
  linalg.copy ins(%x : memref<4xf32>) outs(%0 : memref<4xf32>)
  return %0 : memref<4xf32>
}
func.func @caller(%x: memref<4xf32>) -> memref<4xf32> {
  %0 = call @callee(%x) : (memref<4xf32>) -> memref<4xf32>
  return %0 : memref<4xf32>
}
