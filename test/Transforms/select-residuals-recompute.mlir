// RUN: fad-opt %s --fad-nest=policy=bp --split-input-file | FileCheck %s
// RUN: fad-opt %s --fad-nest=policy=recompute --split-input-file | FileCheck %s
// RUN: fad-opt %s --fad-nest=policy=fad --split-input-file | FileCheck %s

// A mask that is drawn from a seed: the seed crosses, and the state advances in
// the forward function alone.

// CHECK:       ml_program.global private mutable @seed
// CHECK-LABEL: func.func @mask_forward(
// CHECK-SAME:    %{{.*}}: tensor<?x32xf32>) -> (tensor<?x32xf32>, i64 {fad.residual})
// CHECK:         ml_program.global_load @seed
// CHECK:         %[[SEED:.*]] = arith.addi
// CHECK:         ml_program.global_store @seed
// CHECK:         return %{{.*}}, %[[SEED]] :
// CHECK-LABEL: func.func @mask_backward(
// CHECK-SAME:    %[[SEED:.*]]: i64 {fad.residual}, %[[G:.*]]: tensor<?x32xf32>
// CHECK-NOT:     ml_program
// CHECK:         %[[DRAWN:.*]] = linalg.generic
// CHECK:           arith.addi %{{.*}}, %[[SEED]] : i64
// CHECK:         ins(%[[DRAWN]]
// CHECK:         arith.mulf
// CHECK-NOT:     ml_program
// CHECK:         return
ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
func.func @mask(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %scale = arith.constant 0.1 : f64
  %half = arith.constant dense<5.0> : tensor<f64>
  %state = ml_program.global_load @seed : tensor<i64>
  %old = tensor.extract %state[] : tensor<i64>
  %new = arith.addi %old, %one : i64
  %next = tensor.insert %new into %state[] : tensor<i64>
  ml_program.global_store @seed = %next : tensor<i64>
  %n = tensor.dim %x, %c0 : tensor<?x32xf32>
  %e = tensor.empty(%n) : tensor<?x32xf64>
  %drawn = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x32xf64>) {
  ^bb0(%out: f64):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i64
    %s = arith.addi %k, %new : i64
    %f = arith.sitofp %s : i64 to f64
    %u = arith.mulf %f, %scale : f64
    linalg.yield %u : f64
  } -> tensor<?x32xf64>
  %m = tensor.empty(%n) : tensor<?x32xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%drawn, %half : tensor<?x32xf64>, tensor<f64>) outs(%m : tensor<?x32xi1>) {
  ^bb0(%in: f64, %p: f64, %out: i1):
    %keep = arith.cmpf olt, %in, %p : f64
    linalg.yield %keep : i1
  } -> tensor<?x32xi1>
  %o = tensor.empty(%n) : tensor<?x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mask : tensor<?x32xf32>, tensor<?x32xi1>) outs(%o : tensor<?x32xf32>) {
  ^bb0(%in: f32, %keep: i1, %out: f32):
    %z = arith.uitofp %keep : i1 to f32
    %r = arith.mulf %in, %z : f32
    linalg.yield %r : f32
  } -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

// A broadcast that is written as a linalg.generic is a view: what it reads
// crosses, not what it makes.

// CHECK-LABEL: func.func @broadcast_forward(
// CHECK-SAME:    -> (tensor<8x4xf32>, tensor<4xf32> {fad.residual}, {{.*}})
// CHECK-LABEL: func.func @broadcast_backward(
// CHECK-SAME:    %[[S:[^ ]*]]: tensor<4xf32> {fad.residual}
// CHECK:         linalg.generic {{.*}} ins(%[[S]] : tensor<4xf32>)
func.func @broadcast(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.matvec ins(%w, %v : tensor<4x4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %e2 = tensor.empty() : tensor<8x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<4xf32>) outs(%e2 : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x4xf32>
  %r = arith.mulf %x, %b : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// A slice of an argument, a padded argument and a constant cost nothing; a
// constant is computed again as it is, not copied.

// CHECK-LABEL: func.func @alive_forward(
// CHECK-SAME:    %[[X:.*]]: tensor<6xf32>, %[[Y:.*]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {fad.residual}, tensor<6xf32> {fad.residual})
// CHECK:         return %{{.*}}, %[[Y]], %[[X]]
// CHECK-LABEL: func.func @alive_backward(
// CHECK-DAG:     tensor.extract_slice
// CHECK-DAG:     tensor.pad
// CHECK-DAG:     arith.constant dense_resource<weights> : tensor<4xf32>
// CHECK:         return
// CHECK:         weights: "0x04000000
// CHECK-NOT:     weights_
func.func @alive(%x: tensor<6xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %w = arith.constant dense_resource<weights> : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %0 = tensor.extract_slice %x[1] [4] [1] : tensor<6xf32> to tensor<4xf32>
  %1 = tensor.extract_slice %y[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %2 = tensor.pad %1 low[2] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<2xf32> to tensor<4xf32>
  %3 = arith.mulf %0, %2 : tensor<4xf32>
  %4 = arith.mulf %3, %w : tensor<4xf32>
  return %4 : tensor<4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F000000400000404000008040"
    }
  }
#-}

// -----

// Elements of a tensor that is computed are data.

// CHECK-LABEL: func.func @data_forward(
// CHECK-SAME:    -> (tensor<2xf32>, {{.*}}tensor<2xf32> {fad.residual}
func.func @data(%x: tensor<6x6xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x6xf32>) -> tensor<6x6xf32>
  %0 = linalg.matmul ins(%x, %x : tensor<6x6xf32>, tensor<6x6xf32>) outs(%f : tensor<6x6xf32>) -> tensor<6x6xf32>
  %1 = tensor.extract_slice %0[0, 0] [1, 2] [1, 1] : tensor<6x6xf32> to tensor<2xf32>
  %2 = tensor.extract_slice %0[1, 0] [1, 2] [1, 1] : tensor<6x6xf32> to tensor<2xf32>
  %3 = arith.mulf %1, %2 : tensor<2xf32>
  return %3 : tensor<2xf32>
}
