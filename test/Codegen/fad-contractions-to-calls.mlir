// RUN: fad-opt %s -fad-contractions-to-calls --remarks-filter=fad-contractions-to-calls -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:
// RUN: fad-opt %s -fad-contractions-to-calls | FileCheck %s
// RUN: fad-opt %s -fad-contractions-to-calls=parallel=false | FileCheck %s --check-prefix=SERIAL

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK: func.func private @fad_contract_f32(memref<*xf32>, memref<*xf32>, memref<*xf32>, i64, i64, i64, i64)
// CHECK-SAME: llvm.emit_c_interface

// Loops 0 and 2, then 15: 0xf20. Loops 1 and 2: 0xf21. Loops 0 and 1: 0xf10.
// CHECK-LABEL: func @accumulate(
// CHECK-SAME: %[[A:.*]]: memref<?x?xf32, strided<[?, 2], offset: 1>>, %[[B:.*]]: memref<?x?xf32>, %[[C:.*]]: memref<?x?xf32>
// CHECK: memref.alloca_scope {
// CHECK-DAG: %[[ANY_A:.*]] = memref.cast %[[A]] : memref<?x?xf32, strided<[?, 2], offset: 1>> to memref<*xf32>
// CHECK-DAG: %[[ANY_B:.*]] = memref.cast %[[B]]
// CHECK-DAG: %[[ANY_C:.*]] = memref.cast %[[C]]
// CHECK-DAG: %[[MK:.*]] = arith.constant 3872 : i64
// CHECK-DAG: %[[NK:.*]] = arith.constant 3873 : i64
// CHECK-DAG: %[[MN:.*]] = arith.constant 3856 : i64
// CHECK-DAG: %[[ADD:.*]] = arith.constant 1 : i64
// CHECK: call @fad_contract_f32(%[[ANY_A]], %[[ANY_B]], %[[ANY_C]], %[[MK]], %[[NK]], %[[MN]], %[[ADD]])
func.func @accumulate(%a: memref<?x?xf32, strided<[?, 2], offset: 1>>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf32, strided<[?, 2], offset: 1>>, memref<?x?xf32>) outs(%c : memref<?x?xf32>) attrs = {fad.library} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

// Nothing is added to zeros that only the product reads.
// CHECK-LABEL: func @fresh(
// SERIAL-LABEL: func @fresh(
// SERIAL: %[[ALONE:.*]] = arith.constant 2 : i64
// SERIAL: call @fad_contract_f32({{.*}}, %[[ALONE]])
// CHECK-NOT: linalg.fill
// CHECK: %[[SET:.*]] = arith.constant 0 : i64
// CHECK: call @fad_contract_f32({{.*}}, %[[SET]])
func.func @fresh(%a: memref<8x8xf32>, %b: memref<8x8xf32>) -> memref<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>) attrs = {fad.library} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return %c : memref<8x8xf32>
}

// A view may read the zeros; a fill with another number stays, too.
// CHECK-LABEL: func @read(
// CHECK-COUNT-2: linalg.fill
func.func @read(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %d: memref<8xf32>) -> (memref<8x8xf32>, memref<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<8x8xf32>)
  %row = memref.subview %c[0, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32>
  memref.copy %row, %d : memref<8xf32> to memref<8xf32>
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>) attrs = {fad.library} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  %e = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%one : f32) outs(%e : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%e : memref<8x8xf32>) attrs = {fad.library} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return %c, %e : memref<8x8xf32>, memref<8x8xf32>
}

// CHECK-LABEL: func @loops(
// CHECK: linalg.matmul
func.func @loops(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %c: memref<8x8xf32>) {
  linalg.matmul ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>)
  return
}

// A pass after the selection has fused a product with another operation.
// CHECK-LABEL: func @changed(
// CHECK-NOT: call
// CHECK: linalg.generic
// REMARK: calls.mlir:[[#@LINE+2]]:3: remark: [Missed] NotCalled | Category:fad-contractions-to-calls | Function=changed | Because="it is no contraction any more"
func.func @changed(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %c: memref<8x8xf32>) {
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>) attrs = {fad.library} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %n = arith.negf %x : f32
    %p = arith.mulf %n, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
