// RUN: fad-opt %s -fad-unalias-results | FileCheck %s
// Executed in test/Pipelines/to-cpu-run.mlir.

// CHECK-LABEL: func.func @twice(
// CHECK:         %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[B:.*]] = bufferization.clone %[[A]]
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @twice() -> (memref<4xf32>, memref<4xf32>) {
  %0 = memref.alloc() : memref<4xf32>
  return %0, %0 : memref<4xf32>, memref<4xf32>
}

// CHECK-LABEL: func.func @view(
// CHECK:         %[[V:.*]] = memref.collapse_shape
// CHECK-NEXT:    %[[C:.*]] = bufferization.clone %[[V]]
// CHECK-NEXT:    return %{{.*}}, %[[C]]
func.func @view() -> (memref<2x2xf32>, memref<4xf32>) {
  %0 = memref.alloc() : memref<2x2xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  return %0, %1 : memref<2x2xf32>, memref<4xf32>
}

// Buffers of unknown origin may be the same.
// CHECK-LABEL: func.func @unknown(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xf32>, %[[Y:[^:]*]]: memref<4xf32>)
// CHECK-NEXT:    %[[A:.*]] = bufferization.clone %[[X]]
// CHECK-NEXT:    %[[B:.*]] = bufferization.clone %[[Y]]
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @unknown(%x: memref<4xf32>, %y: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  return %x, %y : memref<4xf32>, memref<4xf32>
}

// CHECK-LABEL: func.func @distinct(
// CHECK-NOT:     bufferization.clone
func.func @distinct() -> (memref<4xf32>, memref<4xf32>, f32) {
  %s = arith.constant 1.0 : f32
  %0 = memref.alloc() : memref<4xf32>
  %1 = memref.alloc() : memref<4xf32>
  return %0, %1, %s : memref<4xf32>, memref<4xf32>, f32
}

// CHECK-LABEL: func.func @single(
// CHECK-NOT:     bufferization.clone
func.func @single(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// Nor is a buffer handed on twice from one iteration to the next.
// CHECK-LABEL: func.func @iterations(
// CHECK:         scf.while
// CHECK:           %[[A:.*]] = bufferization.clone %[[P:.*]] : memref<4xf32>
// CHECK-NEXT:      scf.condition(%{{.*}}) %[[P]], %[[A]]
// CHECK:         ^bb0(%[[Q:.*]]: memref<4xf32>, %[[R:.*]]: memref<4xf32>):
// CHECK-NEXT:      %[[B:.*]] = bufferization.clone %[[Q]] : memref<4xf32>
// CHECK-NEXT:      scf.yield %[[Q]], %[[B]], %[[R]]
func.func @iterations(%c: i1, %x: memref<4xf32>, %y: memref<4xf32>) {
  %r:2 = scf.while (%p = %x, %q = %y, %s = %y) : (memref<4xf32>, memref<4xf32>, memref<4xf32>)
      -> (memref<4xf32>, memref<4xf32>) {
    scf.condition(%c) %p, %p : memref<4xf32>, memref<4xf32>
  } do {
  ^bb0(%p: memref<4xf32>, %q: memref<4xf32>):
    scf.yield %p, %p, %q : memref<4xf32>, memref<4xf32>, memref<4xf32>
  }
  return
}
