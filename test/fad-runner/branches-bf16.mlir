// Branches within a loop that runs in parallel give values of bf16.

// RUN: fad-runner %s --arg=0.75 | FileCheck %s --check-prefix=ABOVE
// RUN: fad-runner %s --arg=0.25 | FileCheck %s --check-prefix=BELOW
// ABOVE: out0: tensor<64x1000xbf16> min 2.109 max 2.109 mean 2.109
// BELOW: out0: tensor<64x1000xbf16> min 0.25 max 0.25 mean 0.25
#id = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<64x1000xbf16>) -> tensor<64x1000xbf16> {
  %e = tensor.empty() : tensor<64x1000xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x1000xbf16>) outs(%e : tensor<64x1000xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %half = arith.constant 0.5 : bf16
    %above = arith.cmpf ogt, %a, %half : bf16
    %y = scf.if %above -> bf16 {
      %exp = math.exp %a : bf16
      scf.yield %exp : bf16
    } else {
      scf.yield %a : bf16
    }
    linalg.yield %y : bf16
  } -> tensor<64x1000xbf16>
  return %r : tensor<64x1000xbf16>
}
