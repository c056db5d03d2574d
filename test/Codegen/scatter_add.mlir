// RUN: fad-opt %s --fad-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
// RUN: fad-opt %s --fad-to-linalg=scatter-as-reductions --canonicalize --cse --split-input-file \
// RUN:   | FileCheck %s --check-prefix=REDUCE
// RUN: fad-opt %s --fad-to-linalg --split-input-file | mlir-opt --split-input-file -o /dev/null
// RUN: fad-opt %s --fad-to-linalg=scatter-as-reductions --split-input-file \
// RUN:   | mlir-opt --split-input-file -o /dev/null

// Few places: each update is compared with each place.
// REDUCE-DAG:  #[[UPDATE:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// REDUCE-DAG:  #[[KEY:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// REDUCE-DAG:  #[[PLACE:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[U:[^:]*]]: tensor<4x6x16xf32>, %[[I:[^:]*]]: tensor<4x6xi64>, %[[INIT:[^:]*]]: tensor<8x16xf32>)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 8 : index
// CHECK:         scf.for %[[A:.*]] = %[[C0]] to %[[C4]] {{.*}} iter_args(%[[S0:.*]] = %[[INIT]])
// CHECK:           scf.for %[[B:.*]] = %[[C0]] to %[[C6]] {{.*}} iter_args(%[[S:.*]] = %[[S0]])
// CHECK:             %[[ID:.*]] = tensor.extract %[[I]][%[[A]], %[[B]]]
// CHECK:             %[[ROW:.*]] = arith.index_cast %[[ID]] : i64 to index
// CHECK:             %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]], %[[ROWS]]
// CHECK:             scf.if %[[INSIDE]]
// CHECK:               %[[UPDATE:.*]] = tensor.extract_slice %[[U]][%[[A]], %[[B]], 0] [1, 1, 16] [1, 1, 1]
// CHECK:               %[[OLD:.*]] = tensor.extract_slice %[[S]][%[[ROW]], 0] [1, 16] [1, 1]
// CHECK:               %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[UPDATE]] : {{.*}}) outs(%[[OLD]] :
// CHECK:                 arith.addf
// CHECK:               %[[R:.*]] = tensor.insert_slice %[[NEW]] into %[[S]][%[[ROW]], 0] [1, 16] [1, 1]
// CHECK:               scf.yield %[[R]]
// CHECK:             } else {
// CHECK:               scf.yield %[[S]]

// REDUCE-LABEL: func.func @rows(
// REDUCE-SAME:    %[[U:[^:]*]]: tensor<4x6x16xf32>, %[[I:[^:]*]]: tensor<4x6xi64>, %[[INIT:[^:]*]]: tensor<8x16xf32>)
// REDUCE-DAG:     %[[NEUTRAL:.*]] = arith.constant -0.000000e+00 : f32
// REDUCE-DAG:     %[[UPDATES:.*]] = tensor.collapse_shape %[[U]] {{\[\[}}0, 1], [2]] : tensor<4x6x16xf32> into tensor<24x16xf32>
// REDUCE-DAG:     %[[INDICES:.*]] = tensor.collapse_shape %[[I]] {{\[\[}}0, 1]] : tensor<4x6xi64> into tensor<24xi64>
// REDUCE:         %[[KEYS:.*]] = linalg.generic {{.*}} ins(%[[INDICES]] :
// REDUCE:         %[[R:.*]] = linalg.generic
// REDUCE-SAME:      indexing_maps = [#[[UPDATE]], #[[KEY]], #[[PLACE]]]
// REDUCE-SAME:      iterator_types = ["parallel", "parallel", "reduction"]
// REDUCE-SAME:      ins(%[[UPDATES]], %[[KEYS]] : tensor<24x16xf32>, tensor<24xi64>) outs(%[[INIT]] : tensor<8x16xf32>)
// REDUCE-NEXT:    ^bb0(%[[IN:.*]]: f32, %[[K:.*]]: i64, %[[OUT:.*]]: f32):
// REDUCE-NEXT:      %[[INDEX:.*]] = linalg.index 0
// REDUCE-NEXT:      %[[ROW:.*]] = arith.index_cast %[[INDEX]]
// REDUCE-NEXT:      %[[MATCH:.*]] = arith.cmpi eq, %[[K]], %[[ROW]]
// REDUCE-NEXT:      %[[TERM:.*]] = arith.select %[[MATCH]], %[[IN]], %[[NEUTRAL]]
// REDUCE-NEXT:      arith.addf %[[OUT]], %[[TERM]]
// REDUCE:         return %[[R]]
func.func @rows(%u: tensor<4x6x16xf32>, %i: tensor<4x6xi64>, %init: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %r = fad.scatter_add %u at (%i : tensor<4x6xi64>) dims [0] into %init : tensor<4x6x16xf32> -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// Many places: updates for one place are summed first, then it reads the sum
// of the first of them.

// CHECK-LABEL: func.func @table(
// CHECK:         scf.for

// REDUCE-LABEL: func.func @table(
// REDUCE-SAME:    %[[U:[^:]*]]: tensor<8x16xf32>, %[[I:[^:]*]]: tensor<8xi64>, %[[INIT:[^:]*]]: tensor<3000x16xf32>)
// REDUCE-NOT:     tensor.pad
// REDUCE:         %[[KEYS:.*]] = linalg.generic {{.*}} ins(%[[I]] :
// REDUCE:         %[[SUMS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[U]], %[[KEYS]], %[[KEYS]] : {{.*}}) outs(%{{.*}} : tensor<8x16xf32>)
// REDUCE:         %[[FIRST:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[KEYS]] : tensor<8xi64>) outs(%{{.*}} : tensor<3000xi64>)
// REDUCE:           arith.minsi
// REDUCE:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[FIRST]] : tensor<3000xi64>) outs(%[[INIT]] : tensor<3000x16xf32>)
// REDUCE:           tensor.extract %[[SUMS]]
func.func @table(%u: tensor<8x16xf32>, %i: tensor<8xi64>, %init: tensor<3000x16xf32>) -> tensor<3000x16xf32> {
  %r = fad.scatter_add %u at (%i : tensor<8xi64>) dims [0] into %init : tensor<8x16xf32> -> tensor<3000x16xf32>
  return %r : tensor<3000x16xf32>
}

// -----

// An unknown number of updates may be none: places then read a row of zeros.

// CHECK-LABEL: func.func @unknown(
// CHECK:         scf.for

// REDUCE-LABEL: func.func @unknown(
// REDUCE-SAME:    %[[U:[^:]*]]: tensor<?x16xf32>, %[[I:[^:]*]]: tensor<?xi32>,
// REDUCE:         %[[KEYS:.*]] = linalg.generic {{.*}} ins(%[[I]] :
// REDUCE:           arith.extsi
// REDUCE:         %[[ROWS:.*]] = tensor.pad %[[KEYS]] low[0] high[1]
// REDUCE:         linalg.generic {{.*}} ins(%[[U]], %[[ROWS]], %[[KEYS]] :
func.func @unknown(%u: tensor<?x16xf32>, %i: tensor<?xi32>, %init: tensor<3000x16xf32>) -> tensor<3000x16xf32> {
  %r = fad.scatter_add %u at (%i : tensor<?xi32>) dims [0] into %init : tensor<?x16xf32> -> tensor<3000x16xf32>
  return %r : tensor<3000x16xf32>
}

// -----

// One update of one element.

// CHECK-LABEL: func.func @one(
// CHECK-SAME:    %[[U:[^:]*]]: tensor<f64>, %[[I:[^:]*]]: tensor<index>, %[[J:[^:]*]]: tensor<i8>, %[[INIT:[^:]*]]: tensor<?x?xf64>)
// CHECK-NOT:     scf.for
// CHECK-DAG:     %[[ROW:.*]] = tensor.extract %[[I]][]
// CHECK-DAG:     %[[C:.*]] = tensor.extract %[[J]][]
// CHECK-DAG:     %[[COLUMN:.*]] = arith.index_cast %[[C]] : i8 to index
// CHECK:         scf.if
// CHECK:           %[[OLD:.*]] = tensor.extract_slice %[[INIT]][%[[ROW]], %[[COLUMN]]] [1, 1] [1, 1] : tensor<?x?xf64> to tensor<f64>
// CHECK:           linalg.generic {{.*}} ins(%[[U]] : tensor<f64>) outs(%[[OLD]] :

// REDUCE-LABEL: func.func @one(
// REDUCE:         tensor.expand_shape %{{.*}} [] output_shape [1] : tensor<f64> into tensor<1xf64>
func.func @one(%u: tensor<f64>, %i: tensor<index>, %j: tensor<i8>, %init: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = fad.scatter_add %u at (%i, %j : tensor<index>, tensor<i8>) dims [0, 1] into %init : tensor<f64> -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
