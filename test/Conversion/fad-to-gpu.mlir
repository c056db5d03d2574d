// RUN: fad-opt %s -fad-to-gpu -split-input-file | FileCheck %s
// RUN: fad-opt %s -fad-to-gpu=block-size=64 -split-input-file | FileCheck %s --check-prefix=SMALL

// One input: each thread loads two vectors of 16 bytes before it computes.

// CHECK-LABEL: func.func @f(
// CHECK:         fad.elementwise
// CHECK-SAME:      fad.block_size = 256 : i64
// CHECK-SAME:      fad.kernel = @kernels::@f_relu
// CHECK-SAME:      fad.tile_size = 2048 : i64
// CHECK:           fad.relu
// CHECK-LABEL: gpu.module @kernels
// CHECK:       gpu.func @f_relu(
// CHECK-SAME:    %[[X:[^:]*]]: memref<1099511627776xf32> {llvm.align = 4 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME:    %[[Y:[^:]*]]: memref<1099511627776xf32> {llvm.align = 4 : i64, llvm.noalias, llvm.writeonly}
// CHECK-SAME:    %[[COUNT:[^:]*]]: index)
// CHECK-SAME:    kernel attributes {known_block_size = array<i32: 256, 1, 1>}
// CHECK-NOT:     fad.relu
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[LANES:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[STRIDE:.*]] = arith.constant 1024 : index
// CHECK-DAG:     %[[TILE:.*]] = arith.constant 2048 : index
// CHECK-DAG:     %[[BLOCK:.*]] = gpu.block_id x
// CHECK-DAG:     %[[THREAD:.*]] = gpu.thread_id x upper_bound 256
// CHECK:         %[[BASE:.*]] = arith.muli %[[BLOCK]], %[[TILE]] overflow<nsw, nuw> : index
// CHECK:         %[[END:.*]] = arith.addi %[[BASE]], %[[TILE]] overflow<nsw, nuw> : index
// CHECK:         %[[FITS:.*]] = arith.cmpi sle, %[[END]], %[[COUNT]] : index
// CHECK-DAG:     %[[PX:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK-DAG:     %[[PY:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK:         %[[BITS:.*]] = arith.ori %[[PX]], %[[PY]] : index
// CHECK:         %[[LOW:.*]] = arith.andi %[[BITS]], %c15
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq, %[[LOW]], %c0
// CHECK:         %[[FULL:.*]] = arith.andi %[[FITS]], %[[ALIGNED]] : i1
// CHECK:         scf.if %[[FULL]] {
// CHECK:           %[[MINE:.*]] = arith.muli %[[THREAD]], %[[LANES]]
// CHECK:           %[[FIRST:.*]] = arith.addi %[[BASE]], %[[MINE]]
// CHECK:           vector.load %[[X]][%[[FIRST]]] {alignment = 16 : i64} : memref<1099511627776xf32>, vector<4xf32>
// CHECK:           %[[SECOND:.*]] = arith.addi %[[FIRST]], %[[STRIDE]]
// CHECK:           vector.load %[[X]][%[[SECOND]]] {alignment = 16 : i64} : memref<1099511627776xf32>, vector<4xf32>
// CHECK:           vector.store %{{.*}}, %[[Y]][%[[FIRST]]] {alignment = 16 : i64} : memref<1099511627776xf32>, vector<4xf32>
// CHECK:           vector.store %{{.*}}, %[[Y]][%[[SECOND]]] {alignment = 16 : i64} : memref<1099511627776xf32>, vector<4xf32>
// CHECK:         } else {
// CHECK:           %[[FROM:.*]] = arith.addi %[[BASE]], %[[THREAD]]
// CHECK:           %[[TO:.*]] = arith.minsi %[[END]], %[[COUNT]] : index
// CHECK:           scf.for %[[I:.*]] = %[[FROM]] to %[[TO]] step %[[THREADS]] {
// CHECK:             memref.load %[[X]][%[[I]]]
// CHECK:             memref.store %{{.*}}, %[[Y]][%[[I]]]
// CHECK:         gpu.return

// SMALL-LABEL: func.func @f(
// SMALL:         fad.block_size = 64 : i64
// SMALL-SAME:    fad.tile_size = 512 : i64
// SMALL:       gpu.thread_id x upper_bound 64
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = fad.elementwise ins(%x : tensor<?x8xf32>) -> tensor<?x8xf32> {
  ^bb0(%a: f32):
    %r = fad.relu %a : f32
    fad.yield %r : f32
  }
  return %0 : tensor<?x8xf32>
}

// -----

// Vectors have 16 bytes of the widest element type, here two elements; a scalar
// goes by value; a boolean takes a byte.

// CHECK-LABEL: func.func @mixed(
// CHECK:         fad.kernel = @kernels::@mixed_0
// CHECK-SAME:    fad.tile_size = 512 : i64
// CHECK:       gpu.func @mixed_0(
// CHECK-SAME:    %[[X:[^:]*]]: memref<1099511627776xbf16> {llvm.align = 2 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME:    %[[S:[^:]*]]: bf16
// CHECK-SAME:    %[[M:[^:]*]]: memref<1099511627776xi8> {llvm.align = 1 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME:    %[[Y:[^:]*]]: memref<1099511627776xf64> {llvm.align = 8 : i64, llvm.noalias, llvm.writeonly}
// CHECK-SAME:    %[[N:[^:]*]]: memref<1099511627776xi8> {llvm.align = 1 : i64, llvm.noalias, llvm.writeonly}
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK-DAG:     %[[TRUE:.*]] = arith.constant true
// CHECK:         %[[XV:.*]] = vector.load %[[X]][%{{.*}}] {alignment = 4 : i64} : memref<1099511627776xbf16>, vector<2xbf16>
// CHECK:         %[[XE:.*]]:2 = vector.to_elements %[[XV]]
// CHECK:         %[[MV:.*]] = vector.load %[[M]][%{{.*}}] {alignment = 2 : i64} : memref<1099511627776xi8>, vector<2xi8>
// CHECK:         %[[ME:.*]]:2 = vector.to_elements %[[MV]]
// CHECK:         %[[C0:.*]] = arith.cmpi ne, %[[ME]]#0, %[[ZERO]] : i8
// CHECK:         %[[R0:.*]] = arith.select %[[C0]], %[[XE]]#0, %[[S]] : bf16
// CHECK:         %[[W0:.*]] = arith.extf %[[R0]] : bf16 to f64
// CHECK:         %[[N0:.*]] = arith.xori %[[C0]], %[[TRUE]] : i1
// CHECK:         %[[B0:.*]] = arith.extui %[[N0]] : i1 to i8
// CHECK:         %[[C1:.*]] = arith.cmpi ne, %[[ME]]#1, %[[ZERO]] : i8
// CHECK:         %[[YV:.*]] = vector.from_elements %[[W0]], %{{.*}} : vector<2xf64>
// CHECK:         vector.store %[[YV]], %[[Y]][%{{.*}}] {alignment = 16 : i64} : memref<1099511627776xf64>, vector<2xf64>
// CHECK:         %[[NV:.*]] = vector.from_elements %[[B0]], %{{.*}} : vector<2xi8>
// CHECK:         vector.store %[[NV]], %[[N]][%{{.*}}] {alignment = 2 : i64} : memref<1099511627776xi8>, vector<2xi8>
func.func @mixed(%x: tensor<4x?xbf16>, %s: bf16, %m: tensor<4x?xi1>)
    -> (tensor<4x?xf64>, tensor<4x?xi1>) {
  %0:2 = fad.elementwise ins(%x, %s, %m : tensor<4x?xbf16>, bf16, tensor<4x?xi1>)
      -> tensor<4x?xf64>, tensor<4x?xi1> {
  ^bb0(%a: bf16, %b: bf16, %c: i1):
    %true = arith.constant true
    %chosen = arith.select %c, %a, %b : bf16
    %wide = arith.extf %chosen : bf16 to f64
    %not = arith.xori %c, %true : i1
    fad.yield %wide, %not : f64, i1
  }
  return %0#0, %0#1 : tensor<4x?xf64>, tensor<4x?xi1>
}

// -----

// Names that are taken give way, names fit PTX, and an operation that has a
// kernel keeps it.

// CHECK-LABEL: func.func @kernels(
func.func @kernels() {
  return
}
// CHECK-LABEL: func.func @"2.odd name"(
func.func @"2.odd name"(%x: tensor<f16>) -> (tensor<f16>, tensor<f16>, tensor<f16>) {
  // CHECK: fad.kernel = @kernels_0::@_2_odd_name_gelu
  // CHECK-SAME: fad.tile_size = 4096 : i64
  %0 = fad.elementwise ins(%x : tensor<f16>) -> tensor<f16> {
  ^bb0(%a: f16):
    %r = fad.gelu %a approximate <tanh> : f16
    fad.yield %r : f16
  }
  // CHECK: fad.kernel = @kernels_0::@_2_odd_name_1
  %1 = fad.elementwise ins(%0 : tensor<f16>) -> tensor<f16> {
  ^bb0(%a: f16):
    %r = math.absf %a : f16
    fad.yield %r : f16
  }
  // CHECK: fad.kernel = @elsewhere::@there}
  %2 = fad.elementwise ins(%1 : tensor<f16>) attributes {fad.kernel = @elsewhere::@there} -> tensor<f16> {
  ^bb0(%a: f16):
    %r = math.absf %a : f16
    fad.yield %r : f16
  }
  return %0, %1, %2 : tensor<f16>, tensor<f16>, tensor<f16>
}
// CHECK:     gpu.module @kernels_0
// CHECK:       gpu.func @_2_odd_name_gelu(
// CHECK:       gpu.func @_2_odd_name_1(
// CHECK-NOT:   gpu.func

// -----

// Without elementwise operations there is no GPU module.

// CHECK-LABEL: func.func @nothing(
// CHECK-NOT:   gpu.module
func.func @nothing() {
  return
}
