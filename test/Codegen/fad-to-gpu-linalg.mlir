// Loops over elements have kernels, too.

// RUN: fad-opt %s -fad-to-gpu -split-input-file | FileCheck %s

#all = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (c)>
#column = affine_map<(r, c) -> (r)>
#one = affine_map<(r, c) -> ()>

// A row, a column and one element are repeated; their sizes, as far as they are
// dynamic, follow the number of elements. A scalar from outside is an argument,
// a constant is not. In a full tile a row is loaded in vectors, and a column one
// element at a time: no vector crosses its end.

// CHECK-LABEL: func.func @repeated(
// CHECK:         linalg.generic
// CHECK-SAME:      fad.block_size = 256 : i64, fad.kernel = @kernels::@repeated_0, fad.tile_size = 2048 : i64
// CHECK:       gpu.func @repeated_0(
// CHECK-SAME:    %[[X:[^:]*]]: memref<1073741824xf32>
// CHECK-SAME:    %[[ROW:[^:]*]]: memref<1073741824xf32>
// CHECK-SAME:    %[[COLUMN:[^:]*]]: memref<1073741824xf32>
// CHECK-SAME:    %[[ONE:[^:]*]]: memref<1073741824xf32>
// CHECK-SAME:    %[[S:[^:]*]]: f32,
// CHECK-SAME:    %[[Y:[^:]*]]: memref<1073741824xf32>
// CHECK-SAME:    %[[COUNT:[^:]*]]: i32, %[[LENGTH:[^:]*]]: i32, %[[INNER:[^:]*]]: i32, %[[EXTENT:[^:]*]]: i32)
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:         scf.if
// CHECK:           vector.load %[[X]]
// CHECK:           %[[AT:.*]] = arith.remui %[[OFFSET:.*]], %[[LENGTH]] : i32
// CHECK:           %[[PLACE:.*]] = arith.index_castui %[[AT]] : i32 to index
// CHECK:           vector.load %[[ROW]][%[[PLACE]]] {alignment = 16 : i64}
// CHECK:           %[[ROWS:.*]] = arith.divui %[[OFFSET]], %[[INNER]] : i32
// CHECK:           %[[AT:.*]] = arith.remui %[[ROWS]], %[[EXTENT]] : i32
// CHECK:           %[[PLACE:.*]] = arith.index_castui %[[AT]] : i32 to index
// CHECK:           memref.load %[[COLUMN]][%[[PLACE]]]
// CHECK:           memref.load %[[ONE]][%[[ZERO]]]
// CHECK:           arith.addf
// CHECK:           arith.mulf %{{.*}}, %[[S]] : f32
// CHECK:           arith.mulf %{{.*}}, %[[TWO]] : f32
// CHECK:         } else {
// CHECK:           scf.for %[[I:.*]] =
// CHECK:             arith.remui %[[I]], %[[LENGTH]] : i32
// CHECK:             %[[ROWS:.*]] = arith.divui %[[I]], %[[INNER]] : i32
// CHECK:             arith.remui %[[ROWS]], %[[EXTENT]] : i32
func.func @repeated(%x: tensor<?x?xf32>, %row: tensor<?xf32>, %column: tensor<?xf32>,
                    %one: tensor<f32>, %s: f32, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %two = arith.constant 2.0 : f32
  %0 = linalg.generic {indexing_maps = [#all, #row, #column, #one, #all],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %row, %column, %one : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>)
      outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    %2 = arith.mulf %1, %c : f32
    %3 = arith.mulf %2, %d : f32
    %4 = arith.mulf %3, %s : f32
    %5 = arith.mulf %4, %two : f32
    linalg.yield %5 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Static sizes are constants.

#all = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (c)>
#column = affine_map<(r, c) -> (r)>

// CHECK-LABEL: func.func @static(
// CHECK:       gpu.func @static_0(
// CHECK-SAME:    %{{[^:]*}}: i32) kernel
// CHECK-DAG:     %[[LENGTH:.*]] = arith.constant 48 : i32
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 5 : i32
// CHECK:         arith.remui %[[OFFSET:.*]], %[[LENGTH]] : i32
// CHECK:         %[[ROW:.*]] = arith.divui %[[OFFSET]], %[[LENGTH]] : i32
// CHECK:         arith.remui %[[ROW]], %[[ROWS]] : i32
func.func @static(%row: tensor<48xf32>, %column: tensor<5xf32>, %e: tensor<5x48xf32>)
    -> tensor<5x48xf32> {
  %0 = linalg.generic {indexing_maps = [#row, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%row, %column : tensor<48xf32>, tensor<5xf32>) outs(%e : tensor<5x48xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<5x48xf32>
  return %0 : tensor<5x48xf32>
}

// -----

// What is no loop over elements, or has types that kernels do not have, stays
// for another compiler: a transpose, a product of more than 8 numbers, one that reads what it
// writes, f80, and a broadcast along the middle.

#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
#first = affine_map<(i, j) -> (i)>
#cube = affine_map<(i, j, k) -> (i, j, k)>
#ends = affine_map<(i, j, k) -> (i, k)>

// CHECK-LABEL: func.func @others(
// CHECK-NOT:     fad.kernel
// CHECK-NOT:   gpu.module
func.func @others(%x: tensor<4x4xf32>, %l: tensor<4x9xf32>, %v: tensor<4xf32>, %w: tensor<4x4xf80>, %c: tensor<4x4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf80>, tensor<4x4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]}
      ins(%l : tensor<4x9xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.mulf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<4x4xf80>) outs(%w : tensor<4x4xf80>) {
  ^bb0(%a: f80, %out: f80):
    linalg.yield %a : f80
  } -> tensor<4x4xf80>
  %4 = linalg.generic {indexing_maps = [#ends, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%c : tensor<4x4x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<4x4x4xf32>
  return %0, %1, %2, %3, %4 : tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf80>, tensor<4x4x4xf32>
}

// -----

// Up to 8 neighboring numbers are combined to one: four vectors of each thread, and
// what the output holds.

#id = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @group(
// CHECK:         linalg.generic
// CHECK-SAME:      fad.kernel = @kernels::@group_0
// CHECK:       gpu.func @group_0(
// CHECK-SAME:    %[[X:[^:]*]]: memref<1073741824xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME:    %[[Y:[^:]*]]: memref<1073741824xf32> {llvm.align = 16 : i64, llvm.noalias},
// CHECK:         vector.load %[[X]][%{{.*}}] {alignment = 16 : i64} : memref<1073741824xf32>, vector<16xf32>
// CHECK:         %[[HELD:.*]] = memref.load %[[Y]]
// CHECK:         %[[P0:.*]] = arith.mulf %{{.*}}, %[[HELD]] : f32
// CHECK:         %[[P1:.*]] = arith.mulf %{{.*}}, %[[P0]] : f32
func.func @group(%x: tensor<?x4xf32>, %v: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x4xf32>) outs(%v : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.mulf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// On buffers: one of another memory space has no kernel, nor has a body that asks for
// the size of one, or what runs on a device already.

#line = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @buffers(
// CHECK-NOT:     fad.kernel
// CHECK-NOT:   gpu.module
func.func @buffers(%x: memref<?xf32, 1>, %y: memref<?xindex>, %z: memref<?xf32>) {
  linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32, 1>) outs(%x : memref<?xf32, 1>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  %zero = arith.constant 0 : index
  linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%y : memref<?xindex>) {
  ^bb0(%out: index):
    %size = memref.dim %z, %zero : memref<?xf32>
    linalg.yield %size : index
  }
  %one = arith.constant 1 : index
  gpu.launch blocks(%i, %j, %k) in (%ni = %one, %nj = %one, %nk = %one)
      threads(%l, %m, %n) in (%nl = %one, %nm = %one, %nn = %one) {
    linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
        ins(%z : memref<?xf32>) outs(%z : memref<?xf32>) {
    ^bb0(%a: f32, %out: f32):
      linalg.yield %a : f32
    }
    gpu.terminator
  }
  return
}
