// The memory that a run takes is what the estimate says, under every policy,
// and less where backward may overwrite residuals.

// DEFINE: %{check} = FileCheck %s --check-prefix=SAME
// RUN: fad-runner %s --policy=bp --stats | %{check}
// RUN: fad-runner %s --policy=recompute --stats | %{check}
// RUN: fad-runner %s --policy=fad --stats | %{check}
// RUN: fad-runner %s --policy=auto --stats | %{check}
// RUN: fad-runner %s --policy=auto --recompute=all --stats | %{check}
// RUN: fad-runner %s --policy=bp --reuse-residuals --stats | %{check}
// RUN: fad-runner %s --policy=fad --reuse-residuals --stats | %{check}
// RUN: fad-runner %s --policy=auto --reuse-residuals --stats | %{check}
// SAME:      bytes measured estimated
// SAME-NEXT: arguments [[ARGUMENTS:[0-9]+]] [[ARGUMENTS]]
// SAME-NEXT: results 4 4
// SAME-NEXT: residuals [[RESIDUALS:[0-9]+]] [[RESIDUALS]]
// SAME-NEXT: cotangents 4 4
// SAME-NEXT: gradients [[GRADIENTS:[0-9]+]] [[GRADIENTS]]
// SAME-NEXT: forward peak [[FORWARD:[0-9]+]] [[FORWARD]]
// SAME-NEXT: backward peak [[BACKWARD:[0-9]+]] [[BACKWARD]]
// SAME-NEXT: peak [[PEAK:[0-9]+]] [[PEAK]]
// SAME-NEXT: forward allocations [[F:[0-9]+]] [[F]]
// SAME-NEXT: backward allocations [[B:[0-9]+]] [[B]]

// The gradients are those of residuals that stay, and right.
// RUN: rm -rf %t && mkdir %t
// RUN: fad-runner %s --policy=fad --stats-json=%t/stay.json --out=%t/stay > %t/stay.txt
// RUN: fad-runner %s --policy=fad --reuse-residuals --check-gradients --stats-json=%t/reuse.json --out=%t/reuse > %t/reuse.txt
// RUN: %python %S/Inputs/compare_peaks.py %t

// RUN: not fad-runner %s --reuse-residuals 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: --reuse-residuals is for gradients; add --policy
// RUN: not fad-runner %s --stats-json=%t/none/stats.json 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: cannot write '{{.*}}none/stats.json': No such file or directory
#map = affine_map<(i, j) -> (i, j)>
#bias = affine_map<(i, j) -> (j)>
#sum = affine_map<(i, j) -> ()>
func.func @layers(%x: tensor<32x64xf32>, %w0: tensor<64x96xf32>, %b: tensor<96xf32>, %w1: tensor<96x64xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<32x96xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<32x96xf32>) -> tensor<32x96xf32>
  %h = linalg.matmul ins(%x, %w0 : tensor<32x64xf32>, tensor<64x96xf32>) outs(%f0 : tensor<32x96xf32>) -> tensor<32x96xf32>
  %a = linalg.generic {indexing_maps = [#map, #bias, #map], iterator_types = ["parallel", "parallel"]}
      ins(%h, %b : tensor<32x96xf32>, tensor<96xf32>) outs(%e0 : tensor<32x96xf32>) {
  ^bb0(%in: f32, %shift: f32, %out: f32):
    %s = arith.addf %in, %shift : f32
    linalg.yield %s : f32
  } -> tensor<32x96xf32>
  %g = fad.gelu %a : tensor<32x96xf32>
  %t = math.tanh %g : tensor<32x96xf32>
  %e1 = tensor.empty() : tensor<32x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<32x64xf32>) -> tensor<32x64xf32>
  %o = linalg.matmul ins(%t, %w1 : tensor<32x96xf32>, tensor<96x64xf32>) outs(%f1 : tensor<32x64xf32>) -> tensor<32x64xf32>
  %y = math.sin %o : tensor<32x64xf32>
  %r = arith.addf %y, %x : tensor<32x64xf32>
  %e2 = tensor.empty() : tensor<f32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<f32>) -> tensor<f32>
  %l = linalg.generic {indexing_maps = [#map, #sum], iterator_types = ["reduction", "reduction"]}
      ins(%r : tensor<32x64xf32>) outs(%f2 : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %l : tensor<f32>
}
