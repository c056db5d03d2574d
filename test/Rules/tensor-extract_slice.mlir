// RUN: fad-opt %s --fad-differentiate=entry=f | FileCheck %s
// RUN: fad-opt %s --fad-differentiate=entry=reduced | FileCheck %s --check-prefix=REDUCED
// RUN: fad-runner %s --entry=f --size=9 --arg=random:1 --arg=2 --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=reduced --check-gradients --policy=bp | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=all --size=1 --check-gradients --policy=recompute | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=all --size=0 --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=narrow --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=twice --check-gradients | FileCheck %s --check-prefix=GRAD
// RUN: fad-runner %s --entry=scalar --check-gradients | FileCheck %s --check-prefix=GRAD
// GRAD-NOT: FAIL
// GRAD: 0 {{.*}} ok

// The cotangent goes back to where the slice was, with zeros around it.

// CHECK-LABEL: func @f_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?x6xf32>, %[[N:.*]]: index, %[[G:.*]]: tensor<?x2xf32> {
// CHECK:         tensor.extract_slice %[[X]][1, 1] [%[[N]], 2] [3, 2]
// CHECK:         %[[D:.*]] = tensor.dim %[[X]]
// CHECK:         %[[E:.*]] = tensor.empty(%[[D]]) : tensor<?x6xf32>
// CHECK:         %[[Z:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[E]] : tensor<?x6xf32>)
// CHECK:         %[[R:.*]] = tensor.insert_slice %[[G]] into %[[Z]][1, 1] [%[[N]], 2] [3, 2]
// CHECK:         return %{{.*}}, %[[R]]
func.func @f(%x: tensor<?x6xf32>, %n: index) -> tensor<?x2xf32> {
  %0 = tensor.extract_slice %x[1, 1] [%n, 2] [3, 2] : tensor<?x6xf32> to tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// A dimension that the slice drops comes back.

// REDUCED-LABEL: func @reduced_joint(
// REDUCED-SAME:    %{{.*}}: tensor<3x4x5xf64>, %[[G:.*]]: tensor<4x2xf64> {
// REDUCED:         tensor.insert_slice %[[G]] into %{{.*}}[2, 0, 1] [1, 4, 2] [1, 1, 1]{{.*}} : tensor<4x2xf64> into tensor<3x4x5xf64>
func.func @reduced(%x: tensor<3x4x5xf64>) -> tensor<4x2xf64> {
  %y = math.sin %x : tensor<3x4x5xf64>
  %0 = tensor.extract_slice %y[2, 0, 1] [1, 4, 2] [1, 1, 1] : tensor<3x4x5xf64> to tensor<4x2xf64>
  return %0 : tensor<4x2xf64>
}

func.func @all(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x3xf32>
  %0 = tensor.extract_slice %x[0, 0] [%d, 3] [1, 1] : tensor<?x3xf32> to tensor<?x3xf32>
  %1 = math.exp %0 : tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

func.func @narrow(%x: tensor<4x4xbf16>) -> tensor<2x4xbf16> {
  %0 = tensor.extract_slice %x[1, 0] [2, 4] [2, 1] : tensor<4x4xbf16> to tensor<2x4xbf16>
  %1 = math.exp %0 : tensor<2x4xbf16>
  return %1 : tensor<2x4xbf16>
}

// Two slices of one tensor, that overlap, each used twice.
func.func @twice(%x: tensor<5xf16>) -> tensor<4xf16> {
  %0 = tensor.extract_slice %x[0] [4] [1] : tensor<5xf16> to tensor<4xf16>
  %1 = tensor.extract_slice %x[1] [4] [1] : tensor<5xf16> to tensor<4xf16>
  %2 = arith.mulf %0, %1 : tensor<4xf16>
  %3 = arith.addf %2, %0 : tensor<4xf16>
  %4 = arith.addf %3, %1 : tensor<4xf16>
  return %4 : tensor<4xf16>
}

func.func @scalar(%x: tensor<f64>) -> tensor<f64> {
  %0 = tensor.extract_slice %x[] [] [] : tensor<f64> to tensor<f64>
  %1 = math.sin %0 : tensor<f64>
  return %1 : tensor<f64>
}
