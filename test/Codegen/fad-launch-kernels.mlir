// RUN: fad-opt %s -fad-launch-kernels | FileCheck %s
// RUN: fad-opt %s -fad-launch-kernels=largest-launch=1000 | FileCheck %s --check-prefix=PARTS

#all = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (c)>

// CHECK: module attributes {gpu.container_module}

// The variant is chosen when the program runs: by alignment, by the length of
// rows, and by whether buffers overlap.

// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x?xf32>, %[[ROW:[^:]*]]: memref<?xf32>, %[[S:[^:]*]]: f32, %[[Y:[^:]*]]: memref<?x?xf32>
// CHECK-NOT:     linalg.generic
// CHECK:         scf.for %[[START:.*]] = %{{.*}} to %[[COUNT:.*]] step %[[PART:.*]] {
// CHECK:           %[[REST:.*]] = arith.subi %[[COUNT]], %[[START]] : index
// CHECK:           %[[SIZE:.*]] = arith.minui %[[REST]], %[[PART]] : index
// CHECK:           arith.andi
// CHECK:           %[[ROWS:.*]] = arith.remui
// CHECK:           %[[BITS:.*]] = arith.ori %{{.*}}, %[[ROWS]]
// CHECK:           %[[SUITS:.*]] = arith.cmpi eq, %[[BITS]], %{{.*}} : index
// CHECK:           scf.if %[[SUITS]] {
// CHECK:             scf.if %{{.*}} {
// CHECK:               gpu.launch_func @kernels::@f_0_inplace
// CHECK:             } else {
// CHECK:               %[[MORE:.*]] = arith.addi %[[SIZE]], %{{.*}} : index
// CHECK:               %[[BLOCKS:.*]] = arith.divui %[[MORE]], %{{.*}} : index
// CHECK:               %[[ELEMENTS:.*]] = arith.index_castui %[[SIZE]] : index to i32
// CHECK:               %[[LENGTH:.*]] = arith.index_castui %{{.*}} : index to i32
// CHECK:               gpu.launch_func @kernels::@f_0 blocks in (%[[BLOCKS]], 
// CHECK-SAME:            args(%{{.*}} : memref<1073741824xf32>, %{{.*}} : memref<1073741824xf32>, %[[S]] : f32,
// CHECK-SAME:                 %{{.*}} : memref<1073741824xf32>, %[[ELEMENTS]] : i32, %[[LENGTH]] : i32)
// CHECK:           } else {
// CHECK:             gpu.launch_func @kernels::@f_0_unaligned
// CHECK:         return

// Parts begin where rows begin.

// PARTS-LABEL: func.func @f(
// PARTS-DAG:     %[[LARGEST:.*]] = arith.constant 1000 : index
// PARTS:         %[[PERIOD:.*]] = arith.maxui
// PARTS:         %[[REST:.*]] = arith.remui %[[LARGEST]], %[[PERIOD]] : index
// PARTS:         %[[PART:.*]] = arith.subi %[[LARGEST]], %[[REST]] : index
// PARTS:         %[[FITS:.*]] = arith.cmpi ule, %[[COUNT:.*]], %[[LARGEST]] : index
// PARTS:         %[[HOLDS:.*]] = arith.cmpi ule, %[[PERIOD]], %[[LARGEST]] : index
// PARTS:         %[[EITHER:.*]] = arith.ori %[[FITS]], %[[HOLDS]] : i1
// PARTS:         cf.assert %[[EITHER]], "more elements than one launch computes
// PARTS:         %[[STEP:.*]] = arith.select %[[FITS]], %[[LARGEST]], %[[PART]] : index
// PARTS:         scf.for %{{.*}} = %{{.*}} to %[[COUNT]] step %[[STEP]] {
func.func @f(%x: memref<?x?xf32>, %row: memref<?xf32>, %s: f32, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"],
                  fad.kernel = @kernels::@f_0, fad.block_size = 256 : i64, fad.tile_size = 1024 : i64}
      ins(%x, %row : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    %2 = arith.mulf %1, %s : f32
    linalg.yield %2 : f32
  }
  return
}

// Buffers with gaps are copied, and copied back.

// CHECK-LABEL: func.func @gaps(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xf32, strided<[2]>>, %[[Y:[^:]*]]: memref<?xf32, strided<[2]>>
// CHECK-DAG:     memref.copy %[[X]], %[[FROM:.*]] :
// CHECK:         scf.for
// CHECK:           gpu.launch_func
// CHECK:         memref.copy %[[TO:.*]], %[[Y]]
// CHECK-DAG:     memref.dealloc %[[FROM]]
// CHECK-DAG:     memref.dealloc %[[TO]]
// CHECK:         return
func.func @gaps(%x: memref<?xf32, strided<[2]>>, %y: memref<?xf32, strided<[2]>>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"],
                  fad.kernel = @kernels::@g_0, fad.block_size = 256 : i64, fad.tile_size = 1024 : i64}
      ins(%x : memref<?xf32, strided<[2]>>) outs(%y : memref<?xf32, strided<[2]>>) {
  ^bb0(%a: f32, %out: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  }
  return
}
