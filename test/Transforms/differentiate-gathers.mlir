// RUN: fad-opt %s --fad-differentiate --split-input-file | FileCheck %s

// Rows of a table: terms meet where indices do. The assertion has been made.

// CHECK-LABEL: func @embedding_joint(
// CHECK-SAME:    %[[T:.*]]: tensor<50x16xf32>, %[[IDS:.*]]: tensor<4x6xi64>, %[[G:.*]]: tensor<4x6x16xf32> {
// CHECK:         cf.assert
// CHECK:         %[[ZEROS:.*]] = linalg.fill ins(%{{.*}}) outs(%{{.*}} : tensor<50x16xf32>)
// CHECK-NEXT:    %[[GT:.*]] = fad.scatter_add %[[G]] at(%[[IDS]] : tensor<4x6xi64>) dims [0] into %[[ZEROS]] {fad.adjoint_of = "linalg.generic"}
// CHECK-NOT:     cf.assert
// CHECK:         return %{{.*}}, %[[GT]]
func.func @embedding(%table: tensor<50x16xf32>, %ids: tensor<4x6xi64>) -> tensor<4x6x16xf32> {
  %c50 = arith.constant 50 : index
  %e = tensor.empty() : tensor<4x6x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids : tensor<4x6xi64>) outs(%e : tensor<4x6x16xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 2 : index
    %c = arith.cmpi slt, %i, %c50 : index
    cf.assert %c, "index must be smaller than dim size"
    %x = tensor.extract %table[%i, %j] : tensor<50x16xf32>
    linalg.yield %x : f32
  } -> tensor<4x6x16xf32>
  return %r : tensor<4x6x16xf32>
}

// -----

// One element of each row: it is there or not, and nothing is added up.

#id = affine_map<(d0) -> (d0)>
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @label_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4x10xf32>, %[[L:.*]]: tensor<4xi64>, %[[G:.*]]: tensor<4xf32> {
// CHECK:         %[[GX:.*]] = linalg.generic {indexing_maps = [#[[ROW]], #[[ROW]], #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[L]], %[[G]] : tensor<4xi64>, tensor<4xf32>)
// CHECK-NEXT:    ^bb0(%[[LABEL:.*]]: i64, %[[G0:.*]]: f32, %{{.*}}: f32):
// CHECK:           %[[INDEX:.*]] = arith.index_cast %[[LABEL]]
// CHECK:           %[[COLUMN:.*]] = linalg.index 1
// CHECK:           %[[HERE:.*]] = arith.cmpi eq, %[[INDEX]], %[[COLUMN]]
// CHECK:           %[[TERM:.*]] = arith.select %[[HERE]], %[[G0]], %{{.*}}
// CHECK:           linalg.yield %[[TERM]]
// CHECK:         return %{{.*}}, %[[GX]]
func.func @label(%x: tensor<4x10xf32>, %labels: tensor<4xi64>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%labels : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%label: i64, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %label : i64 to index
    %p = tensor.extract %x[%i, %j] : tensor<4x10xf32>
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// The same as it is exported, with a loop of one iteration.

#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func @exported_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4x10xf32>, %[[L:.*]]: tensor<4x1xi64>, %[[G:.*]]: tensor<4x1xf32> {
// CHECK:         %[[GX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[L]], %[[G]] : tensor<4x1xi64>, tensor<4x1xf32>) outs(%{{.*}} : tensor<4x10xf32>)
// CHECK:           arith.select
// CHECK:         return %{{.*}}, %[[GX]]
func.func @exported(%x: tensor<4x10xf32>, %labels: tensor<4x1xi64>) -> tensor<4x1xf32> {
  %e = tensor.empty() : tensor<4x1xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%labels : tensor<4x1xi64>) outs(%e : tensor<4x1xf32>) {
  ^bb0(%label: i64, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %label : i64 to index
    %p = tensor.extract %x[%i, %j] : tensor<4x10xf32>
    linalg.yield %p : f32
  } -> tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

// -----

// Indices that are functions of the loops alone: a map like that of an operand.

// CHECK-LABEL: func @transposed_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4x10xf32>, %[[G:.*]]: tensor<10x4xf32> {
// CHECK:         %[[GX:.*]] = linalg.transpose ins(%[[G]] :
// CHECK:         return %{{.*}}, %[[GX]]
func.func @transposed(%x: tensor<4x10xf32>) -> tensor<10x4xf32> {
  %e = tensor.empty() : tensor<10x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<10x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = tensor.extract %x[%j, %i] : tensor<4x10xf32>
    linalg.yield %p : f32
  } -> tensor<10x4xf32>
  return %r : tensor<10x4xf32>
}

// -----

// Computed indices, in one operation; what does not decide where terms go is
// summed before. bf16 is added up in f32.

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#first = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: func @computed_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<3x4x5xbf16>, %[[IDS:.*]]: tensor<6xi32>, %[[G:.*]]: tensor<6x2x5xbf16> {
// CHECK:         %[[U:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[G]] : {{.*}}) outs(%{{.*}} : tensor<6x5xf32>)
// CHECK:         %[[I:.*]]:2 = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[IDS]] : tensor<6xi32>) outs(%{{.*}}, %{{.*}} : tensor<6xi64>, tensor<6xi64>)
// CHECK:         %[[SUM:.*]] = fad.scatter_add %[[U]] at(%[[I]]#0, %[[I]]#1 : tensor<6xi64>, tensor<6xi64>) dims [0, 1] into %{{.*}} : tensor<6x5xf32> -> tensor<3x4x5xf32>
// CHECK:         %[[GX:.*]] = fad.elementwise ins(%[[SUM]] : tensor<3x4x5xf32>) {{.*}} -> tensor<3x4x5xbf16>
// CHECK:         return %{{.*}}, %[[GX]]
func.func @computed(%x: tensor<3x4x5xbf16>, %ids: tensor<6xi32>) -> tensor<6x2x5xbf16> {
  %c4 = arith.constant 4 : i32
  %e = tensor.empty() : tensor<6x2x5xbf16>
  %r = linalg.generic {indexing_maps = [#first, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids : tensor<6xi32>) outs(%e : tensor<6x2x5xbf16>) {
  ^bb0(%id: i32, %out: bf16):
    %a = arith.divsi %id, %c4 : i32
    %b = arith.remsi %id, %c4 : i32
    %i = arith.index_cast %a : i32 to index
    %j = arith.index_cast %b : i32 to index
    %k = linalg.index 2 : index
    %p = tensor.extract %x[%i, %j, %k] : tensor<3x4x5xbf16>
    linalg.yield %p : bf16
  } -> tensor<6x2x5xbf16>
  return %r : tensor<6x2x5xbf16>
}

// -----

// Some rows of a tensor with more: the others have no gradient.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @part_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?x10xf32>, %[[L:.*]]: tensor<?xi64>, %[[G:.*]]: tensor<?xf32> {
// CHECK:         %[[PART:.*]] = linalg.generic {{.*}} ins(%[[L]], %[[G]] :
// CHECK:         tensor.insert_slice %[[PART]] into %{{.*}}[0, 0] [%{{.*}}, 10] [1, 1]
func.func @part(%x: tensor<?x10xf32>, %labels: tensor<?xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %labels, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%labels : tensor<?xi64>) outs(%e : tensor<?xf32>) {
  ^bb0(%label: i64, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %label : i64 to index
    %p = tensor.extract %x[%i, %j] : tensor<?x10xf32>
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
