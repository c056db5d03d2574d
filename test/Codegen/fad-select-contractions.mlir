// RUN: fad-opt %s -fad-select-contractions --remarks-filter-missed=fad-select-contractions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:
// RUN: fad-opt %s -fad-select-contractions="types=f64" --remarks-filter=fad-select-contractions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK-F64
// RUN: fad-opt %s -fad-select-contractions | FileCheck %s
// RUN: fad-opt %s -fad-select-contractions=contractions=loops | FileCheck %s --check-prefix=LOOPS
// RUN: fad-opt %s -fad-select-contractions="contractions=library types=f64" | FileCheck %s --check-prefix=TYPES
// RUN: not fad-opt %s -fad-select-contractions=contractions=blas 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: not fad-runner %s --contractions=blas 2>&1 | FileCheck %s --check-prefix=RUNNER

// INVALID: <unknown>:0: error: contractions: 'blas' is none of its values: auto, library, loops
// RUNNER: 'blas' is none of its values: auto, library, loops
// LOOPS-NOT: fad.library

// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[BMK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>

// CHECK-LABEL: func @product(
// CHECK: linalg.generic {indexing_maps = [#[[MK]], #[[KN]], #[[MN]]]
// CHECK-SAME: attrs = {fad.library}
// TYPES-LABEL: func @product(
// TYPES: linalg.matmul
func.func @product(%a: tensor<?x32xf32>, %b: tensor<32x64xf32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // REMARK-F64: contractions.mlir:[[#@LINE+1]]:8: remark: [Missed] NotInLibrary | Category:fad-select-contractions | Function=product | Because="the library has no function for its elements"
  %0 = linalg.matmul ins(%a, %b : tensor<?x32xf32>, tensor<32x64xf32>) outs(%c : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// Too small to call a function for.
// CHECK-LABEL: func @small(
// CHECK: linalg.matmul
// TYPES-LABEL: func @small(
// TYPES: attrs = {fad.library}
func.func @small(%a: tensor<4x4xf64>, %b: tensor<4x4xf64>, %c: tensor<4x4xf64>) -> tensor<4x4xf64> {
  // REMARK: contractions.mlir:[[#@LINE+1]]:8: remark: [Missed] NotInLibrary | Category:fad-select-contractions | Function=small | Because="it has fewer than 16384 products"
  %0 = linalg.matmul ins(%a, %b : tensor<4x4xf64>, tensor<4x4xf64>) outs(%c : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

// A transpose is another map.
// CHECK-LABEL: func @transposed(
// CHECK-SAME: %{{.*}}: tensor<?x32xf32>, %[[W:.*]]: tensor<64x32xf32>
// CHECK: linalg.generic {indexing_maps = [#[[MK]], #[[NK]], #[[MN]]]
// CHECK-SAME: ins(%{{.*}}, %[[W]] :
func.func @transposed(%a: tensor<?x32xf32>, %w: tensor<64x32xf32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %t = linalg.transpose ins(%w : tensor<64x32xf32>) outs(%e : tensor<32x64xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%a, %t : tensor<?x32xf32>, tensor<32x64xf32>) outs(%c : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// A broadcast filter has no batch.
// CHECK-LABEL: func @broadcast(
// CHECK-SAME: %{{.*}}: tensor<?x?x32xf32>, %[[W:.*]]: tensor<32x64xf32>
// CHECK: linalg.generic {indexing_maps = [#[[BMK]],
// CHECK-SAME: ins(%{{.*}}, %[[W]] :
func.func @broadcast(%a: tensor<?x?x32xf32>, %w: tensor<32x64xf32>, %e: tensor<?x32x64xf32>, %c: tensor<?x?x64xf32>) -> tensor<?x?x64xf32> {
  %t = linalg.broadcast ins(%w : tensor<32x64xf32>) outs(%e : tensor<?x32x64xf32>) dimensions = [0]
  %0 = linalg.batch_matmul ins(%a, %t : tensor<?x?x32xf32>, tensor<?x32x64xf32>) outs(%c : tensor<?x?x64xf32>) -> tensor<?x?x64xf32>
  return %0 : tensor<?x?x64xf32>
}

// Narrow factors are no library's.
// CHECK-LABEL: func @wide(
// CHECK: linalg.matmul
func.func @wide(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // REMARK: contractions.mlir:[[#@LINE+1]]:8: remark: [Missed] NotInLibrary | {{.*}}Because="the library has no function for its elements"
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// What is no product of matrices: integers, another body, one operand alone.
// CHECK-LABEL: func @others(
// CHECK-NOT: fad.library
func.func @others(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %i: tensor<?x?xi32>, %v: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xi32>, tensor<?xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %x : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %1 = linalg.matmul ins(%i, %i : tensor<?x?xi32>, tensor<?x?xi32>) outs(%i : tensor<?x?xi32>) -> tensor<?x?xi32>
  %2 = linalg.matvec ins(%a, %v : tensor<?x?xf32>, tensor<?xf32>) outs(%v : tensor<?xf32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<?x?xf32>, tensor<?x?xi32>, tensor<?xf32>
}

// What is as fast in a loop, or faster: a vector times a matrix, many products of
// small matrices, and matrices between whose elements lie those of a batch.
// CHECK-LABEL: func @slower(
// CHECK-NOT: fad.library
func.func @slower(%v: tensor<1x4096xf32>, %m: tensor<4096x4096xf32>, %r: tensor<1x4096xf32>, %s: tensor<65536x2x2xf32>, %b: tensor<64x64x64xf32>)
    -> (tensor<1x4096xf32>, tensor<65536x2x2xf32>, tensor<64x64x64xf32>) {
  // REMARK: contractions.mlir:[[#@LINE+1]]:8: remark: [Missed] NotInLibrary | {{.*}}Because="an operand is a vector, or empty"
  %0 = linalg.matmul ins(%v, %m : tensor<1x4096xf32>, tensor<4096x4096xf32>) outs(%r : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  // REMARK: contractions.mlir:[[#@LINE+1]]:8: remark: [Missed] NotInLibrary | {{.*}}Because="it has fewer than 16384 products"
  %1 = linalg.batch_matmul ins(%s, %s : tensor<65536x2x2xf32>, tensor<65536x2x2xf32>) outs(%s : tensor<65536x2x2xf32>) -> tensor<65536x2x2xf32>
  // REMARK: contractions.mlir:[[#@LINE+1]]:8: remark: [Missed] NotInLibrary | {{.*}}Because="elements of a batch lie between those of a matrix"
  %2 = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (m, k, b)>, affine_map<(b, m, n, k) -> (k, n, b)>, affine_map<(b, m, n, k) -> (m, n, b)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%b, %b : tensor<64x64x64xf32>, tensor<64x64x64xf32>) outs(%b : tensor<64x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %sum, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64x64xf32>
  return %0, %1, %2 : tensor<1x4096xf32>, tensor<65536x2x2xf32>, tensor<64x64x64xf32>
}

// Heads that a transpose has moved, and a reshape joined with the batch: no copy.
// CHECK-LABEL: func @heads(
// CHECK-SAME: %[[Q:.*]]: tensor<2x128x4x64xf32>, %[[K:.*]]: tensor<8x64x128xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[Q]], %{{.*}} : tensor<2x128x4x64xf32>, tensor<2x4x64x128xf32>)
// CHECK-SAME: attrs = {fad.library}
// CHECK: return
func.func @heads(%q: tensor<2x128x4x64xf32>, %k: tensor<8x64x128xf32>, %c: tensor<8x128x128xf32>) -> tensor<8x128x128xf32> {
  %e = tensor.empty() : tensor<2x4x128x64xf32>
  %t = linalg.transpose ins(%q : tensor<2x128x4x64xf32>) outs(%e : tensor<2x4x128x64xf32>) permutation = [0, 2, 1, 3]
  %j = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x4x128x64xf32> into tensor<8x128x64xf32>
  %0 = linalg.batch_matmul ins(%j, %k : tensor<8x128x64xf32>, tensor<8x64x128xf32>) outs(%c : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
  return %0 : tensor<8x128x128xf32>
}

// Patches that are joined to rows and sums are copied: the library takes longer for
// many short rows than the copy takes.
// CHECK-LABEL: func @patches(
// CHECK-SAME: %{{.*}}: tensor<8x3x14x16x14x16xf32>, %[[W:.*]]: tensor<768x768xf32>
// CHECK: %[[J:.*]] = tensor.collapse_shape
// CHECK: linalg.generic {indexing_maps = [#[[MK]], #[[KN]], #[[MN]]]
// CHECK-SAME: ins(%[[J]], %[[W]] :
// CHECK-SAME: attrs = {fad.library}
func.func @patches(%x: tensor<8x3x14x16x14x16xf32>, %w: tensor<768x768xf32>, %c: tensor<1568x768xf32>) -> tensor<1568x768xf32> {
  %e = tensor.empty() : tensor<8x14x14x3x16x16xf32>
  %t = linalg.transpose ins(%x : tensor<8x3x14x16x14x16xf32>) outs(%e : tensor<8x14x14x3x16x16xf32>) permutation = [0, 2, 4, 1, 3, 5]
  %j = tensor.collapse_shape %t [[0, 1, 2], [3, 4, 5]] : tensor<8x14x14x3x16x16xf32> into tensor<1568x768xf32>
  %0 = linalg.matmul ins(%j, %w : tensor<1568x768xf32>, tensor<768x768xf32>) outs(%c : tensor<1568x768xf32>) -> tensor<1568x768xf32>
  return %0 : tensor<1568x768xf32>
}
