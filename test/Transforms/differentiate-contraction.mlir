// RUN: fad-opt %s --fad-differentiate --split-input-file | FileCheck %s

// The gradients of contractions are named operations.

// CHECK-LABEL: func @matvec_joint(
// CHECK-SAME:    %[[A:.*]]: tensor<3x?xf32>, %[[X:.*]]: tensor<?xf32>, %{{.*}}: tensor<3xf32>, %[[G:.*]]: tensor<3xf32> {
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?xf32>, tensor<3xf32>) outs(%{{.*}} : tensor<3x?xf32>)
// CHECK:         linalg.vecmat {{.*}}ins(%[[G]], %[[A]] :
func.func @matvec(%a: tensor<3x?xf32>, %x: tensor<?xf32>, %i: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.matvec ins(%a, %x : tensor<3x?xf32>, tensor<?xf32>) outs(%i : tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// CHECK-LABEL: func @vecmat_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[A:.*]]: tensor<?x4xf32>, %{{.*}}: tensor<4xf32>, %[[G:.*]]: tensor<4xf32> {
// CHECK:         linalg.matvec {{.*}}ins(%[[A]], %[[G]] :
func.func @vecmat(%x: tensor<?xf32>, %a: tensor<?x4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.vecmat ins(%x, %a : tensor<?xf32>, tensor<?x4xf32>) outs(%i : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @batch_matvec_joint(
// CHECK-SAME:    %[[A:.*]]: tensor<2x3x4xf32>, %[[X:.*]]: tensor<2x4xf32>, %{{.*}}: tensor<2x3xf32>, %[[G:.*]]: tensor<2x3xf32> {
// CHECK:         linalg.batch_vecmat {{.*}}ins(%[[G]], %[[A]] :
func.func @batch_matvec(%a: tensor<2x3x4xf32>, %x: tensor<2x4xf32>, %i: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = linalg.batch_matvec ins(%a, %x : tensor<2x3x4xf32>, tensor<2x4xf32>) outs(%i : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func @batch_vecmat_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>, %[[A:.*]]: tensor<2x3x4xf32>, %{{.*}}: tensor<2x4xf32>, %[[G:.*]]: tensor<2x4xf32> {
// CHECK:         linalg.batch_matvec {{.*}}ins(%[[A]], %[[G]] :
func.func @batch_vecmat(%x: tensor<2x3xf32>, %a: tensor<2x3x4xf32>, %i: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %r = linalg.batch_vecmat ins(%x, %a : tensor<2x3xf32>, tensor<2x3x4xf32>) outs(%i : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

// With respect to a factor of all elements: a dot product.

// CHECK-LABEL: func @scale_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<5xf32>, %[[S:.*]]: tensor<f32>, %{{.*}}: tensor<5xf32>, %[[G:.*]]: tensor<5xf32> {
// CHECK:         linalg.dot {{.*}}ins(%{{.*}}, %{{.*}} : tensor<5xf32>, tensor<5xf32>) outs(%{{.*}} : tensor<f32>)
func.func @scale(%x: tensor<5xf32>, %s: tensor<f32>, %i: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %s : tensor<5xf32>, tensor<f32>) outs(%i : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// Several loops that are summed up, or a batch of which one operand knows nothing:
// linalg.contract.

// CHECK-DAG:   #[[G:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d2, d5)>
// CHECK-DAG:   #[[B:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d1, d5, d3)>
// CHECK-DAG:   #[[A:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func @mmt4d_joint(
// CHECK:         linalg.contract indexing_maps = [#[[B]], #[[G]], #[[A]]] {{.*}}outs(%{{.*}} : tensor<2x3x4x5xf32>)
// CHECK:         linalg.contract {{.*}}outs(%{{.*}} : tensor<6x3x7x5xf32>)
func.func @mmt4d(%a: tensor<2x3x4x5xf32>, %b: tensor<6x3x7x5xf32>, %i: tensor<2x6x4x7xf32>) -> tensor<2x6x4x7xf32> {
  %r = linalg.mmt4d ins(%a, %b : tensor<2x3x4x5xf32>, tensor<6x3x7x5xf32>) outs(%i : tensor<2x6x4x7xf32>) -> tensor<2x6x4x7xf32>
  return %r : tensor<2x6x4x7xf32>
}

// -----

// CHECK-LABEL: func @batch_reduce_joint(
// CHECK:         linalg.contract {{.*}}outs(%{{.*}} : tensor<2x3x4xf32>)
// CHECK:         linalg.contract {{.*}}outs(%{{.*}} : tensor<2x4x5xf32>)
func.func @batch_reduce(%a: tensor<2x3x4xf16>, %b: tensor<2x4x5xf16>, %i: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r = linalg.batch_reduce_matmul ins(%a, %b : tensor<2x3x4xf16>, tensor<2x4x5xf16>) outs(%i : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
