// Within a budget for the peak, backward repeats segments of forward, contractions
// included; gradients are the same.

// DEFINE: %{run} = fad-runner %s --policy=auto --check-gradients --stats
// RUN: %{run} | FileCheck %s --check-prefixes=CHECK,LEAST
// RUN: %{run} --recompute=contractions --peak-budget=1MB | FileCheck %s --check-prefixes=CHECK,FASTEST
// RUN: %{run} --recompute=contractions --peak-budget=3.25KiB | FileCheck %s --check-prefixes=CHECK,SEGMENTS
// RUN: not %{run} --recompute=contractions --peak-budget=100 2>&1 | FileCheck %s --check-prefix=ERROR

// LEAST:     residuals    1536 bytes
// FASTEST:   residuals    2816 bytes
// SEGMENTS:  residuals    1280 bytes
// CHECK-NOT: FAIL
// CHECK:     1 {{.*}} ok
// ERROR:     error: no choice of residuals keeps forward and backward within 100 bytes: the lowest peak is 3328 bytes with recompute=contractions; raise the budget, or let backward compute more again

func.func private @layer(%x: tensor<4x8xf64>, %w: tensor<8x8xf64>) -> tensor<4x8xf64> {
  %zero = arith.constant dense<0.0> : tensor<4x8xf64>
  %m = linalg.matmul ins(%x, %w : tensor<4x8xf64>, tensor<8x8xf64>)
      outs(%zero : tensor<4x8xf64>) -> tensor<4x8xf64>
  %y = fad.gelu %m : tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}

func.func @f(%x: tensor<4x8xf64>, %w: tensor<8x8xf64>) -> tensor<4x8xf64> {
  %0 = call @layer(%x, %w) : (tensor<4x8xf64>, tensor<8x8xf64>) -> tensor<4x8xf64>
  %1 = call @layer(%0, %w) : (tensor<4x8xf64>, tensor<8x8xf64>) -> tensor<4x8xf64>
  %2 = call @layer(%1, %w) : (tensor<4x8xf64>, tensor<8x8xf64>) -> tensor<4x8xf64>
  %3 = call @layer(%2, %w) : (tensor<4x8xf64>, tensor<8x8xf64>) -> tensor<4x8xf64>
  %4 = call @layer(%3, %w) : (tensor<4x8xf64>, tensor<8x8xf64>) -> tensor<4x8xf64>
  %5 = call @layer(%4, %w) : (tensor<4x8xf64>, tensor<8x8xf64>) -> tensor<4x8xf64>
  return %5 : tensor<4x8xf64>
}
