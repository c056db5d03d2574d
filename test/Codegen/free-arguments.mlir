// A function frees the arguments that it owns.

// RUN: fad-opt %s --fad-free-arguments | FileCheck %s

// After the last use of the buffer or a view of it.
// CHECK-LABEL: @last
// CHECK-SAME:  %[[X:[^:]*]]: memref<4x4xf32>, %[[Y:[^:]*]]: memref<16xf32>
// CHECK-NOT:   fad.owned
// CHECK:       %[[V:.*]] = memref.collapse_shape %[[X]]
// CHECK-NEXT:  memref.copy %[[V]], %[[Y]]
// CHECK-NEXT:  memref.dealloc %[[X]]
// CHECK-NEXT:  memref.alloc
func.func @last(%x: memref<4x4xf32> {fad.owned}, %y: memref<16xf32>) -> memref<f32> {
  %v = memref.collapse_shape %x [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  memref.copy %v, %y : memref<16xf32> to memref<16xf32>
  %r = memref.alloc() : memref<f32>
  return %r : memref<f32>
}

// At once where nothing reads it.
// CHECK-LABEL: @unused
// CHECK-SAME:  %[[X:[^:]*]]: memref<?xf32>
// CHECK-NEXT:  memref.dealloc %[[X]]
// CHECK-NEXT:  return
func.func @unused(%x: memref<?xf32> {fad.owned}) {
  return
}

// Not where it is returned: then it need not be copied.
// CHECK-LABEL: @returned
// CHECK-SAME:  %[[X:[^:]*]]: memref<?xf32>
// CHECK-NEXT:  return %[[X]]
func.func @returned(%x: memref<?xf32> {fad.owned}) -> memref<?xf32> {
  %c = bufferization.clone %x : memref<?xf32> to memref<?xf32>
  return %c : memref<?xf32>
}

// Where there are several blocks, at each end.
// CHECK-LABEL: @blocks
// CHECK-SAME:  %[[X:[^:]*]]: memref<f32>
// CHECK:       cf.cond_br
// CHECK:       memref.dealloc %[[X]]
// CHECK-NEXT:  return
// CHECK:       memref.dealloc %[[X]]
// CHECK-NEXT:  return
func.func @blocks(%x: memref<f32> {fad.owned}, %c: i1) -> f32 {
  cf.cond_br %c, ^a, ^b
^a:
  %v = memref.load %x[] : memref<f32>
  return %v : f32
^b:
  %zero = arith.constant 0.0 : f32
  return %zero : f32
}

// Scalars have no buffer.
// CHECK-LABEL: @scalar
// CHECK-NOT:   memref.dealloc
// CHECK:       return
func.func @scalar(%x: f32 {fad.owned}) -> f32 {
  return %x : f32
}
