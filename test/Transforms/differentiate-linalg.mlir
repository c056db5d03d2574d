// RUN: fad-opt %s --fad-differentiate --split-input-file | FileCheck %s

// The gradient of a matmul is two matmuls, with transposed operands.

// CHECK-DAG:   #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG:   #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG:   #[[KM:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG:   #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: func @matmul_joint(
// CHECK-SAME:    %[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<8x4xf32>, %[[C:.*]]: tensor<?x4xf32>, %[[G:.*]]: tensor<?x4xf32> {
// CHECK:         %[[Y:.*]] = linalg.matmul ins(%[[A]], %[[B]]
// CHECK:         %[[GA:.*]] = linalg.matmul indexing_maps = [#[[MK]], #[[NK]], #[[MN]]] {fad.adjoint_of = "linalg.matmul"} ins(%[[G]], %[[B]] :
// CHECK:         %[[GB:.*]] = linalg.matmul indexing_maps = [#[[KM]], #[[KN]], #[[MN]]] {fad.adjoint_of = "linalg.matmul"} ins(%[[A]], %[[G]] :
// CHECK:         return %[[Y]], %[[GA]], %[[GB]], %[[G]]
func.func @matmul(%a: tensor<?x8xf32>, %b: tensor<8x4xf32>, %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>) outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// Of a batch of bf16 matmuls: summed in f32, rounded once.

// CHECK-LABEL: func @batch_joint(
// CHECK-SAME:    %[[A:.*]]: tensor<2x?x8xbf16>, %[[B:.*]]: tensor<2x8x4xbf16>, %{{.*}}: tensor<2x?x4xbf16>, %[[G:.*]]: tensor<2x?x4xbf16> {
// CHECK:         %[[SUM:.*]] = linalg.batch_matmul indexing_maps = [{{.*}}] {{.*}} ins(%[[G]], %[[B]] : tensor<2x?x4xbf16>, tensor<2x8x4xbf16>) outs(%{{.*}} : tensor<2x?x8xf32>)
// CHECK:         fad.elementwise ins(%[[SUM]] : tensor<2x?x8xf32>) {{.*}} -> tensor<2x?x8xbf16>
// CHECK:           arith.truncf
// CHECK:         linalg.batch_matmul indexing_maps = [{{.*}}] {{.*}} ins(%[[A]], %[[G]] : tensor<2x?x8xbf16>, tensor<2x?x4xbf16>)
func.func @batch(%a: tensor<2x?x8xbf16>, %b: tensor<2x8x4xbf16>, %c: tensor<2x?x4xbf16>) -> tensor<2x?x4xbf16> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x?x8xbf16>, tensor<2x8x4xbf16>) outs(%c : tensor<2x?x4xbf16>) -> tensor<2x?x4xbf16>
  return %r : tensor<2x?x4xbf16>
}

// -----

// A broadcast operand is summed over; a constant index keeps its place.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#column = affine_map<(d0, d1) -> (d0, 0)>
#second = affine_map<(d0, d1) -> (1, d1)>
// CHECK-LABEL: func @broadcasts_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<8xf32>, %[[C:.*]]: tensor<?x1xf32>, %[[S:.*]]: tensor<3x8xf32>, %[[G:.*]]: tensor<?x8xf32> {
// CHECK:         %[[Y:.*]] = linalg.generic
// CHECK:         %[[GB:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]{{.*}} ins(%[[G]] : tensor<?x8xf32>)
// CHECK:         %[[GC:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%[[G]] : tensor<?x8xf32>)
// CHECK:         %[[GC2:.*]] = tensor.expand_shape %[[GC]] {{\[}}[0, 1]] {{.*}} : tensor<?xf32> into tensor<?x1xf32>
// CHECK:         %[[GS:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]{{.*}} ins(%[[G]] : tensor<?x8xf32>)
// CHECK:         %[[GS2:.*]] = tensor.insert_slice %[[GS]] into %{{.*}}[1, 0] [1, 8] [1, 1] {{.*}} : tensor<8xf32> into tensor<3x8xf32>
// CHECK:         return %[[Y]], %[[G]], %[[GB]], %[[GC2]], %[[GS2]]
func.func @broadcasts(%x: tensor<?x8xf32>, %b: tensor<8xf32>, %c: tensor<?x1xf32>, %s: tensor<3x8xf32>) -> tensor<?x8xf32> {
  %r = linalg.generic {indexing_maps = [#id, #row, #column, #second, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b, %c, %s : tensor<?x8xf32>, tensor<8xf32>, tensor<?x1xf32>, tensor<3x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32, %3: f32, %o: f32):
    %4 = arith.addf %0, %1 : f32
    %5 = arith.addf %4, %2 : f32
    %6 = arith.addf %5, %3 : f32
    linalg.yield %6 : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Views and reductions.

// CHECK-LABEL: func @views_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4x6xf32>, %[[G:.*]]: tensor<6x4xf32> {fad.cotangent = 0 : i64}, %[[H:.*]]: tensor<4xf32> {fad.cotangent = 1 : i64}, %[[K:.*]]: tensor<2x2x6xf32> {fad.cotangent = 2 : i64})
// CHECK-DAG:     tensor.collapse_shape %[[K]] {{\[}}[0, 1], [2]]
// CHECK-DAG:     linalg.generic {{.*}} ins(%[[H]] : tensor<4xf32>) outs(%{{.*}} : tensor<4x6xf32>)
// CHECK-DAG:     linalg.transpose ins(%[[G]] : tensor<6x4xf32>) outs(%{{.*}} : tensor<4x6xf32>) permutation = [1, 0]
func.func @views(%x: tensor<4x6xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<2x2x6xf32>) {
  %e = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) permutation = [1, 0]
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %r = linalg.reduce ins(%x : tensor<4x6xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    }
  %v = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xf32> into tensor<2x2x6xf32>
  return %t, %r, %v : tensor<6x4xf32>, tensor<4xf32>, tensor<2x2x6xf32>
}

// -----

// A loop that only an operand spans which backward does not read: its extent
// comes from an empty tensor.

#in = affine_map<(d0, d1) -> (d0)>
#wide = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func @extent_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[M:.*]]: tensor<4x?xi1>, %[[G:.*]]: tensor<4xf32> {
// CHECK:         %[[DIM:.*]] = tensor.dim %[[M]]
// CHECK:         %[[EXTENT:.*]] = tensor.empty(%[[DIM]]) : tensor<?xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%[[G]], %[[EXTENT]] :
func.func @extent(%x: tensor<4xf32>, %m: tensor<4x?xi1>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#in, #wide, #in], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : tensor<4xf32>, tensor<4x?xi1>) outs(%zero : tensor<4xf32>) {
  ^bb0(%0: f32, %1: i1, %o: f32):
    %2 = arith.addf %o, %0 : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// The position is known to the adjoint as well: it stays a linalg.generic.

// CHECK-LABEL: func @position_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?xf32> {
// CHECK:         linalg.generic
// CHECK:         %[[GX:.*]] = linalg.generic {{.*}} ins(%[[G]] : tensor<?xf32>)
// CHECK:           linalg.index 0
// CHECK:         return %{{.*}}, %[[GX]]
func.func @position(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %k = arith.sitofp %j : i64 to f32
    %m = arith.mulf %a, %k : f32
    linalg.yield %m : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// An init of which every element is read and written once is an input.

// CHECK-LABEL: func @init_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xf32>, %[[G:.*]]: tensor<4xf32> {
// CHECK:         %[[GX:.*]] = fad.elementwise ins(%[[I]], %[[G]] :
// CHECK:           arith.mulf
// CHECK:         %[[GI:.*]] = fad.elementwise ins(%[[X]], %[[G]] :
// CHECK:           arith.mulf
// CHECK:         return %{{.*}}, %[[GX]], %[[GI]]
func.func @init(%x: tensor<4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
