// Elementwise results are written over operands that are not read again.

// RUN: fad-opt %s --split-input-file --fad-reuse-buffers | FileCheck %s
// RUN: fad-opt %s --split-input-file --fad-to-linalg --canonicalize --fad-reuse-buffers --fad-protect-arguments \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN: | FileCheck %s --check-prefix=BUFFERS

// A value over its source; the derivative needs a buffer of its own.
// CHECK-LABEL: @source
// CHECK-SAME:  %[[X:[^:]*]]: tensor<8xf32>
// CHECK:       %[[E:.*]] = tensor.empty
// CHECK:       %[[S:.*]] = linalg.exp ins(%[[X]] {{.*}} outs(%[[E]]
// CHECK:       %[[F:.*]] = tensor.empty
// CHECK-NOT:   tensor.empty
// CHECK:       linalg.generic {{.*}} ins(%[[S]] : {{.*}} outs(%[[S]], %[[F]] :
// BUFFERS-LABEL: @source
// BUFFERS-COUNT-2: memref.alloc
// BUFFERS-NOT:   memref.alloc
// BUFFERS-NOT:   memref.copy
// BUFFERS:       return
#id = affine_map<(i) -> (i)>
func.func @source(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%s : tensor<8xf32>) outs(%e, %e : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%in: f32, %o0: f32, %o1: f32):
    %a = math.tanh %in : f32
    %b = math.sqrt %in : f32
    linalg.yield %a, %b : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %y#0, %y#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// What is read again, has another type, is read in another order, or belongs to
// the caller is not overwritten.
// CHECK-LABEL: @kept
// CHECK-SAME:  %[[X:[^:]*]]: tensor<8x8xf32>
// CHECK:       %[[A:.*]] = linalg.exp ins(%[[X]] {{.*}} outs(%[[E0:[a-z0-9_]+]] :
// CHECK:       %[[B:.*]] = linalg.log ins(%[[A]] {{.*}} outs(%[[E1:[a-z0-9_]+]] :
// CHECK:       %[[E2:.*]] = tensor.empty() : tensor<8x8xf16>
// CHECK:       linalg.generic {{.*}} ins(%[[A]] {{.*}} outs(%[[E2]] :
// CHECK:       %[[E3:.*]] = tensor.empty() : tensor<8x8xf32>
// CHECK:       linalg.generic {{.*}} ins(%[[B]] {{.*}} outs(%[[E3]] :
#map = affine_map<(i, j) -> (i, j)>
#flip = affine_map<(i, j) -> (j, i)>
func.func @kept(%x: tensor<8x8xf32>) -> (tensor<8x8xf16>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %h = tensor.empty() : tensor<8x8xf16>
  %a = linalg.exp ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.log ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x8xf32>) outs(%h : tensor<8x8xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x8xf16>
  %d = linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<8x8xf32>
  return %c, %d : tensor<8x8xf16>, tensor<8x8xf32>
}

// -----

// An argument that the function owns is overwritten, and not copied.
// CHECK-LABEL: @owned
// CHECK-SAME:  %[[D:[^:]*]]: tensor<?xf32> {fad.owned}, %[[C:[^:]*]]: tensor<?xf32>
// CHECK:       linalg.mul ins(%[[D]], %[[C]] : {{.*}} outs(%[[D]] :
// BUFFERS-LABEL: @owned
// BUFFERS-NOT:   memref.alloc
// BUFFERS:       return
func.func @owned(%d: tensor<?xf32> {fad.owned}, %c: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %d, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %g = linalg.mul ins(%d, %c : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %g : tensor<?xf32>
}

// -----

// Two contractions that start from one fill get one each.
// CHECK-LABEL: @fills
// CHECK:       %[[F0:.*]] = linalg.fill
// CHECK-NEXT:  linalg.matmul {{.*}} outs(%[[F0]] :
// CHECK:       %[[F1:.*]] = linalg.fill
// CHECK-NEXT:  linalg.matmul {{.*}} outs(%[[F1]] :
// BUFFERS-LABEL: @fills
// BUFFERS-COUNT-2: memref.alloc
// BUFFERS-NOT:   memref.alloc
// BUFFERS-NOT:   memref.copy
// BUFFERS:       return
func.func @fills(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A long chain goes to another buffer now and then: bufferization compares all
// tensors that are in one.
// CHECK-LABEL: @chain
// CHECK:       tensor.empty
// CHECK-COUNT-8: linalg.exp
// CHECK:       tensor.empty
// CHECK-NEXT:  linalg.exp
// CHECK-NOT:   tensor.empty
// CHECK:       return
func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %y1 = linalg.exp ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y2 = linalg.exp ins(%y1 : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y3 = linalg.exp ins(%y2 : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y4 = linalg.exp ins(%y3 : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y5 = linalg.exp ins(%y4 : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y6 = linalg.exp ins(%y5 : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y7 = linalg.exp ins(%y6 : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y8 = linalg.exp ins(%y7 : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y9 = linalg.exp ins(%y8 : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y9 : tensor<2xf32>
}
