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
