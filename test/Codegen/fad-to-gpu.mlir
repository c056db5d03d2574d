// RUN: fad-opt %s -fad-to-gpu -split-input-file | FileCheck %s
// RUN: fad-opt %s -fad-to-gpu="block-size=64 accesses=1" -split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: fad-opt %s -fad-to-gpu=chip=sm_86 -split-input-file | FileCheck %s --check-prefix=SM86

// One input: each thread loads two vectors of 16 bytes before it computes.

// CHECK-LABEL: func.func @f(
// CHECK:         fad.elementwise
// CHECK-SAME:      fad.block_size = 256 : i64
// CHECK-SAME:      fad.kernel = @kernels::@f_relu
// CHECK-SAME:      fad.tile_size = 2048 : i64
// CHECK:           fad.relu
// CHECK-LABEL: gpu.module @kernels
// CHECK:       gpu.func @f_relu(
// CHECK-SAME:    %[[X:[^:]*]]: memref<1073741824xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME:    %[[Y:[^:]*]]: memref<1073741824xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.writeonly}
// CHECK-SAME:    %[[COUNT:[^:]*]]: i32)
// CHECK-SAME:    kernel attributes {known_block_size = array<i32: 256, 1, 1>, nvvm.minctasm = 8 : i32}
// CHECK-NOT:     fad.relu
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : i32
// CHECK-DAG:     %[[LANES:.*]] = arith.constant 4 : i32
// CHECK-DAG:     %[[STRIDE:.*]] = arith.constant 1024 : i32
// CHECK-DAG:     %[[TILE:.*]] = arith.constant 2048 : i32
// CHECK:         %[[BLOCKID:.*]] = gpu.block_id x
// CHECK:         %[[BLOCK:.*]] = arith.index_castui %[[BLOCKID]] : index to i32
// CHECK:         %[[THREADID:.*]] = gpu.thread_id x upper_bound 256
// CHECK:         %[[THREAD:.*]] = arith.index_castui %[[THREADID]] : index to i32
// CHECK:         %[[BASE:.*]] = arith.muli %[[BLOCK]], %[[TILE]] overflow<nsw, nuw> : i32
// CHECK:         %[[REST:.*]] = arith.subi %[[COUNT]], %[[BASE]] : i32
// CHECK:         %[[FULL:.*]] = arith.cmpi sge, %[[REST]], %[[TILE]] : i32
// CHECK:         scf.if %[[FULL]] {
// CHECK:           %[[MINE:.*]] = arith.muli %[[THREAD]], %[[LANES]]
// CHECK:           %[[FIRST:.*]] = arith.addi %[[BASE]], %[[MINE]]
// CHECK:           %[[FIRSTPLACE:.*]] = arith.index_castui %[[FIRST]] : i32 to index
// CHECK:           vector.load %[[X]][%[[FIRSTPLACE]]] {alignment = 16 : i64} : memref<1073741824xf32>, vector<4xf32>
// CHECK:           %[[SECOND:.*]] = arith.addi %[[FIRST]], %[[STRIDE]]
// CHECK:           %[[SECONDPLACE:.*]] = arith.index_castui %[[SECOND]] : i32 to index
// CHECK:           vector.load %[[X]][%[[SECONDPLACE]]] {alignment = 16 : i64} : memref<1073741824xf32>, vector<4xf32>
// CHECK:           vector.store %{{.*}}, %[[Y]][%{{.*}}] {alignment = 16 : i64} : memref<1073741824xf32>, vector<4xf32>
// CHECK:           vector.store %{{.*}}, %[[Y]][%{{.*}}] {alignment = 16 : i64} : memref<1073741824xf32>, vector<4xf32>
// CHECK:         } else {
// CHECK:           %[[FROM:.*]] = arith.addi %[[BASE]], %[[THREAD]]
// CHECK:           scf.for %[[I:.*]] = %[[FROM]] to %[[COUNT]] step %[[THREADS]] : i32 {
// CHECK:             %[[PLACE:.*]] = arith.index_castui %[[I]] : i32 to index
// CHECK:             memref.load %[[X]][%[[PLACE]]]
// CHECK:             memref.store %{{.*}}, %[[Y]][%{{.*}}]
// CHECK:         gpu.return

// An output may be the input: vectors, but nothing says that they are apart.

// CHECK:       gpu.func @f_relu_inplace(
// CHECK-SAME:    memref<1073741824xf32> {llvm.align = 16 : i64, llvm.readonly}
// CHECK-SAME:    memref<1073741824xf32> {llvm.align = 16 : i64, llvm.writeonly}
// CHECK-COUNT-2: vector.load
// CHECK-COUNT-2: vector.store
// CHECK:         gpu.return

// Buffers may begin at any element: one at a time.

// CHECK:       gpu.func @f_relu_unaligned(
// CHECK-SAME:    %[[X:[^:]*]]: memref<1073741824xf32> {llvm.align = 4 : i64, llvm.readonly}
// CHECK-SAME:    %[[Y:[^:]*]]: memref<1073741824xf32> {llvm.align = 4 : i64, llvm.writeonly}
// CHECK-SAME:    %[[COUNT:[^:]*]]: i32)
// CHECK-NOT:     vector
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : i32
// CHECK-DAG:     %[[TILE:.*]] = arith.constant 2048 : i32
// CHECK:         %[[BASE:.*]] = arith.muli %{{.*}}, %[[TILE]] overflow<nsw, nuw> : i32
// CHECK:         %[[END:.*]] = arith.addi %[[BASE]], %[[TILE]] overflow<nsw, nuw> : i32
// CHECK:         %[[TO:.*]] = arith.minui %[[END]], %[[COUNT]] : i32
// CHECK:         %[[FROM:.*]] = arith.addi %[[BASE]], %{{.*}}
// CHECK:         scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %[[THREADS]] : i32 {
// CHECK-NEXT:      arith.index_castui
// CHECK-NEXT:      memref.load %[[X]]
// CHECK:           memref.store %{{.*}}, %[[Y]]
// CHECK-NOT:     vector
// CHECK:         gpu.return

// SMALL-LABEL: func.func @f(
// SMALL:         fad.block_size = 64 : i64
// SMALL-SAME:    fad.tile_size = 256 : i64
// SMALL:       known_block_size = array<i32: 64, 1, 1>, nvvm.minctasm = 32 : i32
// SMALL:       gpu.thread_id x upper_bound 64
// SMALL-COUNT-1: vector.load
// SMALL-NOT:     vector.load
// SMALL:       gpu.func @f_relu_inplace(

// A multiprocessor of this chip holds 1536 threads.
// SM86-LABEL:  gpu.func @f_relu(
// SM86-SAME:     nvvm.minctasm = 6 : i32
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
// CHECK-SAME:    %[[X:[^:]*]]: memref<1073741824xbf16> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME:    %[[S:[^:]*]]: bf16
// CHECK-SAME:    %[[M:[^:]*]]: memref<1073741824xi8> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME:    %[[Y:[^:]*]]: memref<1073741824xf64> {llvm.align = 16 : i64, llvm.noalias, llvm.writeonly}
// CHECK-SAME:    %[[N:[^:]*]]: memref<1073741824xi8> {llvm.align = 16 : i64, llvm.noalias, llvm.writeonly}
// Numbers of f64 take twice the registers.
// CHECK-SAME:    nvvm.minctasm = 4 : i32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK-DAG:     %[[TRUE:.*]] = arith.constant true
// CHECK:         %[[XV:.*]] = vector.load %[[X]][%{{.*}}] {alignment = 4 : i64} : memref<1073741824xbf16>, vector<2xbf16>
// CHECK:         %[[XE:.*]]:2 = vector.to_elements %[[XV]]
// CHECK:         %[[MV:.*]] = vector.load %[[M]][%{{.*}}] {alignment = 2 : i64} : memref<1073741824xi8>, vector<2xi8>
// CHECK:         %[[ME:.*]]:2 = vector.to_elements %[[MV]]
// CHECK:         %[[C0:.*]] = arith.cmpi ne, %[[ME]]#0, %[[ZERO]] : i8
// CHECK:         %[[R0:.*]] = arith.select %[[C0]], %[[XE]]#0, %[[S]] : bf16
// CHECK:         %[[W0:.*]] = arith.extf %[[R0]] : bf16 to f64
// CHECK:         %[[N0:.*]] = arith.xori %[[C0]], %[[TRUE]] : i1
// CHECK:         %[[B0:.*]] = arith.extui %[[N0]] : i1 to i8
// CHECK:         %[[C1:.*]] = arith.cmpi ne, %[[ME]]#1, %[[ZERO]] : i8
// CHECK:         %[[YV:.*]] = vector.from_elements %[[W0]], %{{.*}} : vector<2xf64>
// CHECK:         vector.store %[[YV]], %[[Y]][%{{.*}}] {alignment = 16 : i64} : memref<1073741824xf64>, vector<2xf64>
// CHECK:         %[[NV:.*]] = vector.from_elements %[[B0]], %{{.*}} : vector<2xi8>
// CHECK:         vector.store %[[NV]], %[[N]][%{{.*}}] {alignment = 2 : i64} : memref<1073741824xi8>, vector<2xi8>
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
// CHECK:       gpu.func @_2_odd_name_gelu_inplace(
// CHECK:       gpu.func @_2_odd_name_gelu_unaligned(
// CHECK:       gpu.func @_2_odd_name_1(
// CHECK:       gpu.func @_2_odd_name_1_inplace(
// CHECK:       gpu.func @_2_odd_name_1_unaligned(
// CHECK-NOT:   gpu.func

// -----

// Without elementwise operations there is no GPU module.

// CHECK-LABEL: func.func @nothing(
// CHECK-NOT:   gpu.module
func.func @nothing() {
  return
}
