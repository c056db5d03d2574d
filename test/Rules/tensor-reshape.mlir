// RUN: fad-opt %s --fad-differentiate=entry=f | FileCheck %s
// RUN: fad-runner %s --entry=f --size=4 --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=f --size=0 --check-gradients --policy=bp | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=scalar --check-gradients --policy=recompute | FileCheck %s --check-prefix=GRAD
// RUN: %python %S/../fad-runner/Inputs/make_arrays.py %t 'x=np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 4)'
// RUN: fad-runner %s --entry=split --arg=2 --arg=3 --arg=%t/x.npy --check-gradients | FileCheck %s --check-prefix=SPLIT
// RUN: not fad-runner %s --entry=split --arg=2 --arg=2 --arg=%t/x.npy --check-gradients 2>&1 | FileCheck %s --check-prefix=SIZES
// SPLIT: 2 {{.*}} ok
// SIZES: [[@LINE+33]]:{{.*}} error: the sizes of the result have another product than the size that they expand
// GRAD-NOT: FAIL
// GRAD: 0 {{.*}} ok

// CHECK-LABEL: func @f_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?x6xf32>, %[[G:.*]]: tensor<?x3xf32> {
// CHECK:         %[[N:.*]] = tensor.dim %[[X]]
// CHECK:         tensor.reshape %[[X]]
// CHECK:         %[[M:.*]] = tensor.dim %[[X]]
// CHECK:         %[[S:.*]] = tensor.from_elements %[[M]], %{{.*}} {fad.adjoint_of = "tensor.reshape"} : tensor<2xindex>
// CHECK:         %[[R:.*]] = tensor.reshape %[[G]](%[[S]]) {{.*}} : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x6xf32>
// CHECK:         return %{{.*}}, %[[R]]
func.func @f(%x: tensor<?x6xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %rows = arith.muli %n, %c2 : index
  %s = tensor.from_elements %rows, %c3 : tensor<2xindex>
  %0 = tensor.reshape %x(%s) : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

func.func @scalar(%x: tensor<f64>) -> tensor<1xf64> {
  %s = arith.constant dense<1> : tensor<1xindex>
  %y = math.sin %x : tensor<f64>
  %0 = tensor.reshape %y(%s) : (tensor<f64>, tensor<1xindex>) -> tensor<1xf64>
  %1 = math.exp %0 : tensor<1xf64>
  return %1 : tensor<1xf64>
}

// Two sizes that are known only at run time, of one, and of a view with gaps.
func.func @split(%a: index, %b: index, %x: tensor<?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x?x2xf32>) {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%a, %b, 4] : tensor<?x4xf32> into tensor<?x?x4xf32>
  %n = arith.muli %a, %b : index
  %1 = tensor.extract_slice %x[0, 1] [%n, 2] [1, 2] : tensor<?x4xf32> to tensor<?x2xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [%a, %b, 2] : tensor<?x2xf32> into tensor<?x?x2xf32>
  %3 = math.sin %2 : tensor<?x?x2xf32>
  return %0, %3 : tensor<?x?x4xf32>, tensor<?x?x2xf32>
}
