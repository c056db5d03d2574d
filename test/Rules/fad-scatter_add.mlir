// RUN: fad-opt %s --fad-differentiate=entry=rows | FileCheck %s

// DEFINE: %{make} = %python %S/../fad-runner/Inputs/make_arrays.py %t
// DEFINE: %{entry} =
// DEFINE: %{check} = fad-runner %s --entry=%{entry} --check-gradients

// The cotangent of the updates is what that of the result has in their places,
// zero where one was left out.

// CHECK-LABEL: func @rows_joint(
// CHECK-SAME:    %[[U:.*]]: tensor<4x3xf64>, %[[I:.*]]: tensor<4xi64>, %[[INIT:.*]]: tensor<5x3xf64>, %[[G:.*]]: tensor<5x3xf64> {
// CHECK:         %[[R:.*]] = fad.scatter_add
// CHECK:         %[[GU:.*]] = linalg.generic {{.*}} ins(%[[I]] : tensor<4xi64>)
// CHECK:           tensor.extract %[[G]]
// CHECK:           arith.select
// CHECK-NEXT:      linalg.yield
// CHECK:         return %[[R]], %[[GU]], %[[G]]

// REDEFINE: %{entry} = rows
// RUN: %{make} 'i=np.array([3, -1, 3, 5])'
// RUN: %{check} --arg=random:1 --arg=%t/i.npy
func.func @rows(%u: tensor<4x3xf64>, %i: tensor<4xi64>, %init: tensor<5x3xf64>) -> tensor<5x3xf64> {
  %r = fad.scatter_add %u at (%i : tensor<4xi64>) dims [0] into %init : tensor<4x3xf64> -> tensor<5x3xf64>
  return %r : tensor<5x3xf64>
}

// Two coordinates; places that may be none, and are.
// REDEFINE: %{entry} = places
// RUN: %{make} 'u=rng.normal(size=(9, 2)).astype("f4")' 'i=rng.integers(-1, 4, 9).astype("i4")' 'j=rng.integers(-1, 4, 9)'
// RUN: %{check} --arg=%t/u.npy --arg=%t/i.npy --arg=%t/j.npy --size=3
// RUN: %{check} --arg=%t/u.npy --arg=%t/i.npy --arg=%t/j.npy --size=0
func.func @places(%u: tensor<?x2xf32>, %i: tensor<?xi32>, %j: tensor<?xindex>, %init: tensor<?x2x?xf32>) -> tensor<?x2x?xf32> {
  %r = fad.scatter_add %u at (%i, %j : tensor<?xi32>, tensor<?xindex>) dims [0, 2] into %init : tensor<?x2xf32> -> tensor<?x2x?xf32>
  return %r : tensor<?x2x?xf32>
}

// One update.
// REDEFINE: %{entry} = one
// RUN: %{check}
func.func @one(%u: tensor<f64>, %i: tensor<i64>, %init: tensor<4xf64>) -> tensor<4xf64> {
  %r = fad.scatter_add %u at (%i : tensor<i64>) dims [0] into %init : tensor<f64> -> tensor<4xf64>
  %s = math.sin %r : tensor<4xf64>
  return %s : tensor<4xf64>
}
