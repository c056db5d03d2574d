// RUN: fad-opt %s --fad-partition --fad-differentiate="entry=mask derivatives-from=both" --mlir-print-local-scope | FileCheck %s --check-prefix=MASK
// RUN: fad-opt %s --fad-partition --fad-differentiate="entry=again derivatives-from=both" --mlir-print-local-scope | FileCheck %s --check-prefix=AGAIN
// RUN: fad-memory-report %s --entry=mask --policy=auto | FileCheck %s --check-prefix=NOTHING
// RUN: fad-memory-report %s --entry=again --policy=auto | FileCheck %s --check-prefix=NOTHING
// RUN: fad-runner %s --entry=mask --policy=auto --check-gradients
// RUN: fad-runner %s --entry=again --policy=auto --check-gradients

// A region with two results, one of which is computed from the other one: that, and
// the derivatives, need no more than the one that is returned. What is inside and may
// be worth keeping, like the condition, is a result, too.

// NOTHING: auto {{ *}}0  total

// The condition is read off the result, too.

// MASK-LABEL: func.func @mask_joint(
// MASK:         %[[H:.+]] = linalg.matmul
// MASK:         %[[R:.+]]:3 = fad.elementwise ins(%[[H]] :
// MASK:           %[[T:.+]] = math.tanh
// MASK:           %[[C:.+]] = arith.cmpf ogt, %[[T]]
// MASK:           %[[Y:.+]] = arith.select %[[C]], %[[T]]
// MASK:           fad.yield %[[T]], %[[Y]], %[[C]]
// MASK:         %[[COPY:.+]] = fad.elementwise ins(%[[H]] :
// MASK:         %[[TANH:.+]] = fad.alternatives %[[R]]#0, %[[COPY]]
// MASK:         %[[TEST:.+]] = fad.elementwise ins(%[[TANH]] :
// MASK:         %[[CONDITION:.+]] = fad.alternatives %[[R]]#2, %[[TEST]]
// MASK:         %[[D:.+]]:2 = fad.elementwise ins(%[[TANH]], %[[CONDITION]] :
// MASK-NOT:       math
// MASK:         fad.alternatives %{{.+}}, %[[D]]#0
// MASK:         fad.alternatives %{{.+}}, %[[D]]#1
// MASK:         return %[[R]]#0, %[[R]]#1
func.func @mask(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %h = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %t = math.tanh %h : tensor<2x2xf32>
  %positive = arith.cmpf ogt, %t, %zero : tensor<2x2xf32>
  %y = arith.select %positive, %t, %zero : tensor<2x2xi1>, tensor<2x2xf32>
  return %t, %y : tensor<2x2xf32>, tensor<2x2xf32>
}

// AGAIN-LABEL: func.func @again_joint(
// AGAIN:         %[[R:.+]]:2 = fad.elementwise
// AGAIN:           math.tanh
// AGAIN:           math.sin
// AGAIN:         %[[COPY:.+]] = fad.elementwise ins(
// AGAIN:           math.tanh
// AGAIN-NOT:       math.sin
// AGAIN:         %[[TANH:.+]] = fad.alternatives %[[R]]#0, %[[COPY]]
// AGAIN:         %[[OTHER:.+]] = fad.elementwise ins(%[[TANH]] :
// AGAIN-NOT:       math.tanh
// AGAIN:           math.sin
// AGAIN:         %[[BOTH:.+]] = fad.alternatives %[[R]]#1, %[[OTHER]] : tensor<2x2xf32>
// AGAIN:         linalg.matmul ins(%[[BOTH]],
func.func @again(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %v: tensor<2x2xf32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %h = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %t = math.tanh %h : tensor<2x2xf32>
  %y = math.sin %t : tensor<2x2xf32>
  %r = linalg.matmul ins(%y, %v : tensor<2x2xf32>, tensor<2x2xf32>)
      outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %t, %r : tensor<2x2xf32>, tensor<2x2xf32>
}
