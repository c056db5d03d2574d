// RUN: fad-opt %s | fad-opt | FileCheck %s
// RUN: fad-opt %s -mlir-print-op-generic | fad-opt | FileCheck %s
// RUN: fad-opt %s -canonicalize -resolve-shaped-type-result-dims | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func.func @detach(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xbf16>
// FOLD-LABEL:  func.func @detach(
// FOLD-SAME:     %[[X:[^:]*]]: tensor<?x8xbf16>
func.func @detach(%x: tensor<?x8xbf16>) -> (tensor<?x8xbf16>, index) {
  // CHECK: %[[D:.*]] = fad.detach %[[X]] {note = "x"} : tensor<?x8xbf16>
  // FOLD-DAG: %[[D:.*]] = fad.detach %[[X]] {note = "x"} : tensor<?x8xbf16>
  %d = fad.detach %x {note = "x"} : tensor<?x8xbf16>
  // Detached once is detached.
  // CHECK: fad.detach %[[D]] : tensor<?x8xbf16>
  %e = fad.detach %d : tensor<?x8xbf16>
  // FOLD-DAG: %[[DIM:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x8xbf16>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %e, %c0 : tensor<?x8xbf16>
  // FOLD: return %[[D]], %[[DIM]]
  return %e, %n : tensor<?x8xbf16>, index
}

// CHECK-LABEL: func.func @constant(
// FOLD-LABEL:  func.func @constant(
func.func @constant() -> tensor<0xf64> {
  // CHECK: fad.detach %{{.*}} : tensor<0xf64>
  // FOLD: %[[C:.*]] = arith.constant dense<> : tensor<0xf64>
  // FOLD: return %[[C]]
  %c = arith.constant dense<> : tensor<0xf64>
  %d = fad.detach %c : tensor<0xf64>
  return %d : tensor<0xf64>
}
