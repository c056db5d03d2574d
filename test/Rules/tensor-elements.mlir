// tensor.extract, insert, from_elements and splat: one element at a time.

// RUN: fad-opt %s --fad-differentiate=entry=extract | FileCheck %s --check-prefix=EXTRACT
// RUN: fad-opt %s --fad-differentiate=entry=insert | FileCheck %s --check-prefix=INSERT
// RUN: fad-opt %s --fad-differentiate=entry=from_elements --cse | FileCheck %s --check-prefix=ELEMENTS
// RUN: fad-opt %s --fad-differentiate=entry=splat | FileCheck %s --check-prefix=SPLAT
// RUN: fad-runner %s --entry=extract --size=3 --arg=random:1 --arg=2 --check-gradients | FileCheck %s
// RUN: fad-runner %s --entry=extract --size=1 --arg=random:1 --arg=0 --check-gradients --policy=bp | FileCheck %s
// RUN: fad-runner %s --entry=insert --check-gradients --policy=recompute | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: fad-runner %s --entry=from_elements --check-gradients --cotangent=random:3 | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: fad-runner %s --entry=splat --size=5 --check-gradients --cotangent=random:3 | FileCheck %s
// RUN: fad-runner %s --entry=splat --size=0 --check-gradients --policy=bp | FileCheck %s
// RUN: fad-runner %s --entry=narrow --check-gradients --cotangent=random:3 | FileCheck %s
// RUN: fad-runner %s --entry=rank0 --check-gradients --policy=recompute | FileCheck %s
// CHECK-NOT: FAIL
// CHECK:     0 {{.*}} ok
// TWO:       1 {{.*}} ok

// EXTRACT-LABEL: func @extract_joint(
// EXTRACT-SAME:    %[[X:.*]]: tensor<?x2xf32>, %[[I:.*]]: index, %[[G:.*]]: tensor<1xf32> {
// EXTRACT:         tensor.extract %[[X]][%[[I]], %[[J:.*]]]
// EXTRACT:         %[[GS:.*]] = tensor.extract %[[G]]
// EXTRACT:         %[[Z:.*]] = linalg.fill {{.*}} -> tensor<?x2xf32>
// EXTRACT:         %[[R:.*]] = tensor.insert %[[GS]] into %[[Z]][%[[I]], %[[J]]]
// EXTRACT:         return %{{.*}}, %[[R]]
func.func @extract(%x: tensor<?x2xf32>, %i: index) -> tensor<1xf32> {
  %c1 = arith.constant 1 : index
  %0 = tensor.extract %x[%i, %c1] : tensor<?x2xf32>
  %1 = tensor.from_elements %0 : tensor<1xf32>
  return %1 : tensor<1xf32>
}

// INSERT-LABEL: func @insert_joint(
// INSERT-SAME:    %[[X:.*]]: tensor<f64>, %[[Y:.*]]: tensor<3xf64>, %[[G:.*]]: tensor<3xf64> {
// INSERT:         tensor.insert %{{.*}} into %[[Y]][%[[I:.*]]]
// INSERT:         %[[GS:.*]] = tensor.extract %[[G]][%[[I]]]
// INSERT:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// INSERT:         %[[GY:.*]] = tensor.insert %[[ZERO]] into %[[G]][%[[I]]]
func.func @insert(%x: tensor<f64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %c1 = arith.constant 1 : index
  %0 = tensor.extract %x[] : tensor<f64>
  %1 = tensor.insert %0 into %y[%c1] : tensor<3xf64>
  return %1 : tensor<3xf64>
}

// Elements are in row-major order.

// ELEMENTS-LABEL: func @from_elements_joint(
// ELEMENTS-SAME:    %[[G:[^ ,]*]]: tensor<2x2xf32> {
// ELEMENTS:         tensor.from_elements
// ELEMENTS:         tensor.extract %[[G]][%[[C0:.*]], %[[C0]]] {fad.adjoint_of = "tensor.from_elements"}
// ELEMENTS:         tensor.extract %[[G]][%[[C0]], %[[C1:.*]]] {fad.adjoint_of
// ELEMENTS:         tensor.extract %[[G]][%[[C1]], %[[C0]]] {fad.adjoint_of
// ELEMENTS:         tensor.extract %[[G]][%[[C1]], %[[C1]]] {fad.adjoint_of
// ELEMENTS:         arith.mulf
func.func @from_elements(%x: tensor<f32>, %y: tensor<f32>) -> tensor<2x2xf32> {
  %a = tensor.extract %x[] : tensor<f32>
  %b = tensor.extract %y[] : tensor<f32>
  %c = arith.mulf %a, %b : f32
  %0 = tensor.from_elements %a, %b, %c, %a : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// SPLAT-LABEL: func @splat_joint(
// SPLAT-SAME:    %[[X:.*]]: tensor<1xf32>, %[[N:.*]]: index, %[[G:.*]]: tensor<?x3xf32> {
// SPLAT:         tensor.splat
// SPLAT:         %[[Z:.*]] = linalg.fill {{.*}} -> tensor<f32>
// SPLAT:         %[[SUM:.*]] = linalg.generic {{.*}}["reduction", "reduction"]} ins(%[[G]] : tensor<?x3xf32>) outs(%[[Z]] : tensor<f32>)
// SPLAT:           arith.addf
// SPLAT:         tensor.extract %[[SUM]][]
func.func @splat(%x: tensor<1xf32>, %n: index) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %x[%c0] : tensor<1xf32>
  %1 = tensor.splat %0[%n] : tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// The sum of narrow numbers is rounded once.
func.func @narrow(%x: tensor<1xbf16>) -> tensor<300xbf16> {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %x[%c0] : tensor<1xbf16>
  %1 = tensor.splat %0 : tensor<300xbf16>
  return %1 : tensor<300xbf16>
}

func.func @rank0(%x: tensor<f64>) -> tensor<f64> {
  %y = math.sin %x : tensor<f64>
  %0 = tensor.extract %y[] : tensor<f64>
  %1 = tensor.insert %0 into %x[] : tensor<f64>
  %2 = arith.mulf %1, %x : tensor<f64>
  return %2 : tensor<f64>
}
