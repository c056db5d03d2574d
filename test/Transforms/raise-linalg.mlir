// RUN: fad-opt %s --fad-raise --split-input-file | FileCheck %s

// Raising once is enough.
//
// RUN: fad-opt %s --fad-raise --split-input-file -o %t.once.mlir
// RUN: fad-opt %t.once.mlir --fad-raise --split-input-file -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir

//===----------------------------------------------------------------------===//
// Named forms
//===----------------------------------------------------------------------===//

// The result is not read before it is written, whatever the program passes.

// CHECK-LABEL: func.func @named(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[OUT:.*]]: tensor<4xf32>)
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<4xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel"]
// CHECK-SAME:      ins(%[[X]] : tensor<4xf32>) outs(%[[EMPTY]] : tensor<4xf32>)
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[Y:.*]] = math.exp %[[E]] : f32
// CHECK-NEXT:      linalg.yield %[[Y]] : f32
func.func @named(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @named_all(
// CHECK-COUNT-9: linalg.generic
// CHECK-NOT:     linalg.{{abs|add|elementwise|map|max|select|sub|tanh}}
// CHECK:         return
func.func @named_all(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.sub ins(%0, %y : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.max ins(%1, %y : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %3 = linalg.tanh ins(%2 : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %4 = linalg.abs ins(%3 : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %5 = linalg.select ins(%c, %4, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>)
      outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %6 = linalg.elementwise kind=#linalg.elementwise_kind<mul>
      ins(%5, %y : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %7 = linalg.map { math.sin } ins(%6 : tensor<4xf32>) outs(%x : tensor<4xf32>)
  %8 = linalg.square ins(%7 : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %8 : tensor<4xf32>
}

// -----

// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @broadcast_in_map(
// CHECK:         linalg.generic {indexing_maps = [#[[ROW]], #[[ID]], #[[ID]]]
// CHECK:           arith.addf
func.func @broadcast_in_map(%x: tensor<?xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<add>
      indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>]
      ins(%x, %y : tensor<?xf32>, tensor<?x4xf32>) outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// What moves, fills, contracts or reduces keeps its name.

// CHECK-LABEL: func.func @kept(
// CHECK:         linalg.fill
// CHECK:         linalg.copy
// CHECK:         linalg.broadcast
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
// CHECK:         linalg.reduce
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @kept(%x: tensor<4xf32>, %m: tensor<4x4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%m : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.copy ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.broadcast ins(%1 : tensor<4xf32>) outs(%m : tensor<4x4xf32>) dimensions = [0]
  %3 = linalg.transpose ins(%2 : tensor<4x4xf32>) outs(%m : tensor<4x4xf32>) permutation = [1, 0]
  %4 = linalg.matmul ins(%3, %m : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = linalg.reduce { arith.addf } ins(%4 : tensor<4x4xf32>) outs(%x : tensor<4xf32>) dimensions = [0]
  return %5 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @accumulates(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[OUT:.*]]: tensor<4xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%[[OUT]] : tensor<4xf32>)
func.func @accumulates(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @buffers(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[X]] : memref<4xf32>) outs(%[[OUT]] : memref<4xf32>)
func.func @buffers(%x: memref<4xf32>, %out: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// Operations on whole tensors
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @tensors(
// CHECK-SAME:    %[[C:.*]]: i1, %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK:         %[[SUM:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[X]], %[[Y]] : tensor<?xf32>, tensor<?xf32>)
// CHECK:           arith.addf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[C]], %[[SUM]], %[[X]] : i1, tensor<?xf32>, tensor<?xf32>)
// CHECK:           arith.select
func.func @tensors(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %y fastmath<contract> : tensor<?xf32>
  %1 = arith.select %c, %0, %x : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// A formula on tensors is found before its operations part.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[X]] : tensor<?x8xf32>)
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[Y:.*]] = fad.mish %[[E]] : f32
// CHECK-NEXT:      linalg.yield %[[Y]] : f32
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @chain(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = math.exp %x : tensor<?x8xf32>
  %1 = math.log1p %0 : tensor<?x8xf32>
  %2 = math.tanh %1 : tensor<?x8xf32>
  %3 = arith.mulf %x, %2 : tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @chain_with_constant(
// CHECK:         linalg.generic
// CHECK:           fad.silu
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @chain_with_constant(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %0 = arith.negf %x : tensor<8xf32>
  %1 = math.exp %0 : tensor<8xf32>
  %2 = arith.addf %1, %one : tensor<8xf32>
  %3 = arith.divf %x, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @chain_with_splat(
// CHECK:         linalg.generic
// CHECK:           fad.sigmoid
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @chain_with_splat(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c = arith.constant 1.0 : f32
  %one = tensor.splat %c[%n] : tensor<?xf32>
  %0 = arith.negf %x : tensor<?xf32>
  %1 = math.exp %0 : tensor<?xf32>
  %2 = arith.addf %one, %1 : tensor<?xf32>
  %3 = arith.divf %one, %2 : tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @inline_constants(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>)
// CHECK-DAG:     %[[SPLAT:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-DAG:     %[[RANK0:.*]] = arith.constant 3.000000e+00 : f32
// CHECK-DAG:     %[[FILL:.*]] = arith.constant 4.000000e+00 : f32
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[X]] : tensor<?x4xf32>)
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[A:.*]] = arith.mulf %[[E]], %[[SPLAT]] : f32
// CHECK-NEXT:      %[[B:.*]] = arith.addf %[[A]], %[[RANK0]] : f32
// CHECK-NEXT:      %[[D:.*]] = arith.subf %[[B]], %[[FILL]] : f32
// CHECK-NEXT:      linalg.yield %[[D]] : f32
func.func @inline_constants(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %splat = arith.constant dense<2.0> : tensor<4xf32>
  %rank0 = arith.constant dense<3.0> : tensor<f32>
  %four = arith.constant 4.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %fill = linalg.fill ins(%four : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
                                        affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %splat, %rank0, %fill : tensor<?x4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>)
      outs(%x : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %out: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %c : f32
    %3 = arith.subf %2, %d : f32
    linalg.yield %3 : f32
  } -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @same_operand_twice(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[X]] : tensor<4xf32>)
// CHECK:           fad.silu
func.func @same_operand_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.map ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>)
    (%a: f32, %b: f32, %out: f32) {
      %1 = fad.sigmoid %a : f32
      %2 = arith.mulf %b, %1 : f32
      linalg.yield %2 : f32
    }
  return %0 : tensor<4xf32>
}

// -----

// Rounded as arith.truncf rounds: to nearest, and beyond the largest to
// infinity.

// CHECK-LABEL: func.func @truncated_constants(
// CHECK-DAG:     %[[TENTH:.*]] = arith.constant 1.000000e-01 : f32
// CHECK-DAG:     %[[INF:.*]] = arith.constant 0x7C00 : f16
// CHECK-DAG:     %[[DENSE:.*]] = arith.constant dense<[1.000980e-01, 3.000000e+00]> : vector<2xbf16>
// CHECK-DAG:     %[[SPLAT:.*]] = arith.constant dense<1.000000e-01> : vector<[4]xf32>
// CHECK:         return %[[TENTH]], %[[INF]], %[[DENSE]], %[[SPLAT]]
func.func @truncated_constants() -> (f32, f16, vector<2xbf16>, vector<[4]xf32>) {
  %c = arith.constant 0.1 : f64
  %0 = arith.truncf %c : f64 to f32
  %large = arith.constant 1.0e10 : f32
  %1 = arith.truncf %large to_nearest_even : f32 to f16
  %dense = arith.constant dense<[0.1, 3.0]> : vector<2xf32>
  %2 = arith.truncf %dense : vector<2xf32> to vector<2xbf16>
  %splat = arith.constant dense<0.1> : vector<[4]xf64>
  %3 = arith.truncf %splat : vector<[4]xf64> to vector<[4]xf32>
  return %0, %1, %2, %3 : f32, f16, vector<2xbf16>, vector<[4]xf32>
}

// -----

// CHECK-LABEL: func.func @other_rounding(
// CHECK:         arith.truncf %{{.*}} upward : f64 to f32
func.func @other_rounding() -> f32 {
  %c = arith.constant 0.1 : f64
  %0 = arith.truncf %c upward : f64 to f32
  return %0 : f32
}
