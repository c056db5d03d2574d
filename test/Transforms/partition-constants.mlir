// Regions that read tensors of constants, run with gradients.

// RUN: fad-runner %s --entry=dense --check-gradients --policy=bp | FileCheck %s
// RUN: fad-runner %s --entry=dense --check-gradients --policy=recompute | FileCheck %s
// RUN: fad-runner %s --entry=dense --check-gradients --policy=fad | FileCheck %s
// RUN: fad-runner %s --entry=resource --size=3 --check-gradients --policy=bp | FileCheck %s
// RUN: fad-runner %s --entry=resource --size=3 --check-gradients --policy=fad | FileCheck %s
// CHECK-NOT: FAIL
// CHECK:     0 {{.*}} ok

// One derivative is kept, and no constant.
// RUN: fad-memory-report %s --entry=dense | FileCheck %s --check-prefix=REPORT
// REPORT:      fad         16  tensor<2xf64>  {{.*}} derivative of a region
// REPORT-NEXT: fad         16  total

// One number in all elements is a constant, however it gets there.
// RUN: fad-runner %s --entry=repeated --check-gradients --policy=bp | FileCheck %s
// RUN: fad-runner %s --entry=repeated --check-gradients --policy=fad | FileCheck %s
// RUN: fad-memory-report %s --entry=repeated --policy=recompute --policy=fad | FileCheck %s --check-prefix=REPEATED
// REPEATED:      recompute         0  tensor<2x3xf64> {{.*}} argument: alive anyway
// REPEATED-NEXT: recompute  backward
// REPEATED-NEXT: recompute         0  total
// REPEATED:      fad              48  tensor<2x3xf64> {{.*}} derivative of a region
// REPEATED-NEXT: fad              48  total

#all = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>
#one = affine_map<(i, j) -> (0, 0)>
func.func @repeated(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %c = arith.constant dense<2.0> : tensor<f64>
  %e = tensor.empty() : tensor<2x3xf64>
  %a = linalg.broadcast ins(%c : tensor<f64>) outs(%e : tensor<2x3xf64>) dimensions = [0, 1]
  %b = linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<f64>) outs(%e : tensor<2x3xf64>) {
  ^bb0(%in: f64, %out: f64):
    linalg.yield %in : f64
  } -> tensor<2x3xf64>
  %s = tensor.expand_shape %c [] output_shape [1, 1] : tensor<f64> into tensor<1x1xf64>
  %d = linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<1x1xf64>) outs(%e : tensor<2x3xf64>) {
  ^bb0(%in: f64, %out: f64):
    linalg.yield %in : f64
  } -> tensor<2x3xf64>
  %f = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<2x3xf64>) {
  ^bb0(%out: f64):
    %half = arith.constant 0.5 : f64
    linalg.yield %half : f64
  } -> tensor<2x3xf64>
  %0 = math.sin %x : tensor<2x3xf64>
  %1 = arith.mulf %0, %a : tensor<2x3xf64>
  %2 = math.exp %1 : tensor<2x3xf64>
  %3 = arith.divf %2, %b : tensor<2x3xf64>
  %4 = arith.addf %3, %d : tensor<2x3xf64>
  %5 = arith.mulf %4, %f : tensor<2x3xf64>
  return %5 : tensor<2x3xf64>
}

// What is broadcast along one dimension only, or takes part in what is
// differentiated, is none.
// RUN: fad-runner %s --entry=column --check-gradients --policy=fad | FileCheck %s
// RUN: fad-runner %s --entry=scalar --check-gradients --policy=fad | FileCheck %s
func.func @column(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %c = arith.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %e = tensor.empty() : tensor<2x3xf64>
  %a = linalg.broadcast ins(%c : tensor<2xf64>) outs(%e : tensor<2x3xf64>) dimensions = [1]
  %0 = math.sin %x : tensor<2x3xf64>
  %1 = arith.mulf %0, %a : tensor<2x3xf64>
  %2 = math.exp %1 : tensor<2x3xf64>
  return %2 : tensor<2x3xf64>
}

func.func @scalar(%x: tensor<2x3xf64>, %c: tensor<f64>) -> tensor<2x3xf64> {
  %e = tensor.empty() : tensor<2x3xf64>
  %a = linalg.broadcast ins(%c : tensor<f64>) outs(%e : tensor<2x3xf64>) dimensions = [0, 1]
  %0 = math.sin %x : tensor<2x3xf64>
  %1 = arith.mulf %0, %a : tensor<2x3xf64>
  %2 = math.exp %1 : tensor<2x3xf64>
  return %2 : tensor<2x3xf64>
}

func.func @dense(%x: tensor<2xf64>) -> tensor<2xf64> {
  %w = arith.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %0 = math.sin %x : tensor<2xf64>
  %1 = arith.mulf %0, %w : tensor<2xf64>
  %2 = math.exp %1 : tensor<2xf64>
  %3 = arith.divf %2, %w : tensor<2xf64>
  return %3 : tensor<2xf64>
}

func.func @resource(%x: tensor<?xf32>) -> tensor<3xf32> {
  %w = arith.constant dense_resource<weights> : tensor<3xf32>
  %s = tensor.cast %x : tensor<?xf32> to tensor<3xf32>
  %0 = math.sin %s : tensor<3xf32>
  %1 = arith.mulf %0, %w : tensor<3xf32>
  %2 = math.exp %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F0000004000004040"
    }
  }
#-}
