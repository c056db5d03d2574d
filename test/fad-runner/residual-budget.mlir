// Within a budget, which is given with a unit, the policy auto keeps what saves
// time; gradients are the same.

// DEFINE: %{run} = fad-runner %s --policy=auto --check-gradients --stats
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,LEAST
// RUN: %{run} --residual-budget=256 | FileCheck %s --check-prefixes=CHECK,LEAST
// RUN: %{run} --residual-budget=0.5KiB | FileCheck %s --check-prefixes=CHECK,TIME
// RUN: fad-memory-report %s --residual-budget=0.5KiB --policy=auto | FileCheck %s --check-prefix=REPORT

// LEAST:     residuals     256 bytes
// TIME:      residuals     512 bytes
// CHECK-NOT: FAIL
// CHECK:     2 {{.*}} ok

// REPORT:    auto {{ *}}512  total

func.func @f(%x: tensor<4x8xf64>, %v: tensor<8x8xf64>, %w: tensor<8x8xf64>) -> tensor<4x8xf64> {
  %zero = arith.constant dense<0.0> : tensor<4x8xf64>
  %m = linalg.matmul ins(%x, %v : tensor<4x8xf64>, tensor<8x8xf64>)
      outs(%zero : tensor<4x8xf64>) -> tensor<4x8xf64>
  %y = fad.gelu %m : tensor<4x8xf64>
  %z = linalg.matmul ins(%y, %w : tensor<4x8xf64>, tensor<8x8xf64>)
      outs(%zero : tensor<4x8xf64>) -> tensor<4x8xf64>
  return %z : tensor<4x8xf64>
}
