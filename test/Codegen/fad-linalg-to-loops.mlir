// RUN: fad-opt %s -fad-linalg-to-loops=vector-bits=0 -canonicalize | FileCheck %s
// RUN: fad-opt %s -fad-linalg-to-loops="parallel=false vector-bits=0" -canonicalize | FileCheck %s --check-prefix=SERIAL
// Executed in test/Pipelines/to-cpu-run.mlir.

// SERIAL-NOT: scf.parallel

#id = affine_map<(d0, d1) -> (d0, d1)>

// Too little to do for threads.
// CHECK-LABEL: func.func @small(
// CHECK-NOT:     scf.parallel
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-NOT:         scf.for
// CHECK:             arith.addf
func.func @small(%x: memref<10x20xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : memref<10x20xf32>) {
  ^bb0(%a: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Whole rows, as many as make up a tile.
// CHECK-LABEL: func.func @rows(
// CHECK-DAG:     %[[STEP:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[COLUMNS:.*]] = arith.constant 1024 : index
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         scf.parallel (%{{.*}}) = (%{{.*}}) to (%{{.*}}) step (%[[STEP]])
// CHECK:           scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[ONE]]
// CHECK:             scf.for %{{.*}} = %{{.*}} to %[[COLUMNS]] step %[[ONE]]
// CHECK:               arith.addf
// SERIAL-LABEL: func.func @rows(
// SERIAL-COUNT-2: scf.for
// SERIAL-NEXT:      memref.load
func.func @rows(%x: memref<?x1024xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : memref<?x1024xf32>) {
  ^bb0(%a: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Part of each row.
// CHECK-LABEL: func.func @long_rows(
// CHECK-DAG:     %[[ROW:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[STEP:.*]] = arith.constant 16384 : index
// CHECK:         scf.parallel (%{{.*}}, %{{.*}}) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) step (%[[ROW]], %[[STEP]])
func.func @long_rows(%x: memref<3x50000xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : memref<3x50000xf32>) {
  ^bb0(%a: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Squares.
// CHECK-LABEL: func.func @transpose(
// CHECK-DAG:     %[[SIDE:.*]] = arith.constant 32 : index
// CHECK:         scf.parallel (%{{.*}}, %{{.*}}) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) step (%[[SIDE]], %[[SIDE]])
// SERIAL-LABEL: func.func @transpose(
// SERIAL-COUNT-4: scf.for
func.func @transpose(%x: memref<300x400xf32>, %y: memref<400x300xf32>) {
  linalg.transpose ins(%x : memref<300x400xf32>) outs(%y : memref<400x300xf32>) permutation = [1, 0]
  return
}

// A loop that counts down stays whole.
// CHECK-LABEL: func.func @counting_down(
// CHECK-DAG:     %[[SIDE:.*]] = arith.constant 32 : index
// CHECK:         scf.parallel (%{{[^,]*}}) = (%{{[^,]*}}) to (%{{[^,]*}}) step (%[[SIDE]])
// SERIAL-LABEL: func.func @counting_down(
// SERIAL-COUNT-3: scf.for
func.func @counting_down(%x: memref<300x400xf32>, %y: memref<400x300xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (299 - j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<300x400xf32>) outs(%y : memref<400x300xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// Tiles of rows and columns; within a tile, the reduction is the outer loop.
// CHECK-LABEL: func.func @matmul(
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[COLUMNS:.*]] = arith.constant 512 : index
// CHECK:         scf.parallel (%{{.*}}, %{{.*}}) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) step (%[[ROWS]], %[[COLUMNS]])
// CHECK-COUNT-3:   scf.for
// CHECK:             arith.mulf
// SERIAL-LABEL: func.func @matmul(
// SERIAL-COUNT-5: scf.for
func.func @matmul(%x: memref<?x768xf32>, %y: memref<768x3072xf32>, %z: memref<?x3072xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(k, i, j) -> (i, k)>, affine_map<(k, i, j) -> (k, j)>, affine_map<(k, i, j) -> (i, j)>],
      iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %y : memref<?x768xf32>, memref<768x3072xf32>) outs(%z : memref<?x3072xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// CHECK-LABEL: func.func @rank_zero(
// CHECK-NOT:     scf
// CHECK:         memref.store
func.func @rank_zero(%x: memref<f32>, %s: f32) {
  linalg.fill ins(%s : f32) outs(%x : memref<f32>)
  return
}
