// RUN: fad-opt %s -fad-interchange-contractions -cse | FileCheck %s
// Executed in test/Pipelines/to-cpu-run.mlir.

// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1) -> (d1)>

// The reduction goes outside of the rows of a tile, and columns innermost.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x4xf32>, %[[Y:[^:]*]]: tensor<4x8xf32>, %[[Z:[^:]*]]: tensor<?x8xf32>)
// CHECK-NEXT:  %[[R:.*]] = linalg.generic
// CHECK-SAME:    indexing_maps = [#[[A]], #[[B]], #[[C]]]
// CHECK-SAME:    iterator_types = ["reduction", "parallel", "parallel"]
// CHECK-SAME:    ins(%[[X]], %[[Y]] :
// CHECK-SAME:    outs(%[[Z]] :
// CHECK:       return %[[R]]
func.func @matmul(%x: tensor<?x4xf32>, %y: tensor<4x8xf32>, %z: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<?x4xf32>, tensor<4x8xf32>) outs(%z : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// The second operand lies along the reduction; each of its elements is read for
// every row.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x4xf32>, %[[Y:[^:]*]]: tensor<8x4xf32>, %[[Z:[^:]*]]: tensor<?x8xf32>)
// CHECK-NEXT:  %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT:  %[[T:.*]] = linalg.transpose ins(%[[Y]] : tensor<8x4xf32>) outs(%[[E]] : tensor<4x8xf32>) permutation = [1, 0]
// CHECK-NEXT:  linalg.generic
// CHECK-SAME:    indexing_maps = [#[[A]], #[[B]], #[[C]]]
// CHECK-SAME:    ins(%[[X]], %[[T]] :
func.func @transposed(%x: tensor<?x4xf32>, %y: tensor<8x4xf32>, %z: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x4xf32>, tensor<8x4xf32>) outs(%z : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Each element of the matrix is read once: it stays where it is.
// CHECK-LABEL: func.func @matvec(
// CHECK-NOT:   linalg.transpose
// CHECK:       linalg.generic
// CHECK-SAME:    indexing_maps = [#[[ID]], #[[LAST]], #[[FIRST]]]
// CHECK-SAME:    iterator_types = ["parallel", "reduction"]
func.func @matvec(%a: tensor<?x4xf32>, %x: tensor<4xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.matvec ins(%a, %x : tensor<?x4xf32>, tensor<4xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @sum_of_rows(
// CHECK:       linalg.generic
// CHECK-SAME:    indexing_maps = [#[[ID]], #[[LAST]]]
// CHECK-SAME:    iterator_types = ["reduction", "parallel"]
func.func @sum_of_rows(%x: tensor<?x8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<?x8xf32>) outs(%z : tensor<8xf32>) dimensions = [0]
  return %0 : tensor<8xf32>
}

// Nothing to orient: no reduction, no dimension, a loop that is two dimensions.
// CHECK-LABEL: func.func @left_alone(
// CHECK:       linalg.add
// CHECK:       linalg.dot
// CHECK:       linalg.conv_1d
func.func @left_alone(%x: tensor<8xf32>, %k: tensor<3xf32>, %s: tensor<f32>, %z: tensor<6xf32>)
    -> (tensor<8xf32>, tensor<f32>, tensor<6xf32>) {
  %0 = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.dot ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  %2 = linalg.conv_1d ins(%x, %k : tensor<8xf32>, tensor<3xf32>) outs(%z : tensor<6xf32>) -> tensor<6xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<f32>, tensor<6xf32>
}

// What there is one of for each row does not turn the loops.
// CHECK-LABEL: func.func @row_and_scalar(
// CHECK:       linalg.generic
// CHECK-SAME:    indexing_maps = [#[[ID]], #[[FIRST]], #[[FIRST]]]
// CHECK-SAME:    iterator_types = ["parallel", "reduction"]
func.func @row_and_scalar(%x: tensor<?x?xf32>, %m: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : tensor<?x?xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.subf %a, %b : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
