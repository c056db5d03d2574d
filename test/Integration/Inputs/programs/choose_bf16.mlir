func.func @choose_bf16(%x0: tensor<1x1xbf16>, %x1: tensor<5x5xbf16>) -> (tensor<5x5xbf16>) {
%v1 = math.sin %x0 : tensor<1x1xbf16>
%v2 = arith.constant dense<0.5> : tensor<1x1xbf16>
%v3 = arith.mulf %v1, %v2 : tensor<1x1xbf16>
%v4 = math.asin %v3 : tensor<1x1xbf16>
%v5 = tensor.empty() : tensor<1x1xbf16>
%v6 = arith.constant 3.0 : bf16
%v7 = linalg.fill ins(%v6 : bf16) outs(%v5 : tensor<1x1xbf16>) -> tensor<1x1xbf16>
%v8 = arith.addf %x0, %v7 : tensor<1x1xbf16>
%v9 = fad.hardswish %x1 : tensor<5x5xbf16>
%v10 = arith.mulf %v4, %v4 : tensor<1x1xbf16>
%v11 = tensor.empty() : tensor<1x1xbf16>
%v12 = arith.constant 0.5 : bf16
%v13 = linalg.fill ins(%v12 : bf16) outs(%v11 : tensor<1x1xbf16>) -> tensor<1x1xbf16>
%v14 = arith.addf %v10, %v13 : tensor<1x1xbf16>
%v15 = math.log %v14 : tensor<1x1xbf16>
%v16 = arith.constant dense<0.0> : tensor<1x1xbf16>
%v17 = arith.maximumf %v4, %v16 : tensor<1x1xbf16>
%v18 = arith.constant 0 : index
%v19 = arith.constant 0 : index
%v20 = tensor.extract %v8[%v18, %v19] : tensor<1x1xbf16>
%v21 = math.sin %v20 : bf16
%v22 = tensor.splat %v21 : tensor<3xbf16>
%v23 = tensor.empty() : tensor<2xbf16>
%v24 = arith.constant 0.0 : bf16
%v25 = linalg.fill ins(%v24 : bf16) outs(%v23 : tensor<2xbf16>) -> tensor<2xbf16>
%v26 = tensor.empty() : tensor<4xf32>
%v27 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1 + d2)>, affine_map<(d0, d1, d2) -> (2 - d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d1)>], iterator_types = ["reduction", "parallel", "reduction"]} ins(%v9, %v22, %v26 : tensor<5x5xbf16>, tensor<3xbf16>, tensor<4xf32>) outs(%v25 : tensor<2xbf16>) {
^bb0(%a0: bf16, %a1: bf16, %n: f32, %o: bf16):
%r = arith.addf %a0, %a0 : bf16
%q = arith.addf %r, %o : bf16
linalg.yield %q : bf16
} -> tensor<2xbf16>
%v28 = math.erf %x1 : tensor<5x5xbf16>
%v29 = tensor.empty() : tensor<3xbf16>
%v30 = arith.constant 0.5 : bf16
%v31 = linalg.fill ins(%v30 : bf16) outs(%v29 : tensor<3xbf16>) -> tensor<3xbf16>
%v32 = arith.cmpf une, %v22, %v22 : tensor<3xbf16>
%v33 = arith.constant dense<0.0> : tensor<5xbf16>
%v34 = tensor.empty() : tensor<2xf32>
%v35 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1 * 3)>, affine_map<(d0, d1) -> (2)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%v28, %v22, %v34 : tensor<5x5xbf16>, tensor<3xbf16>, tensor<2xf32>) outs(%v33 : tensor<5xbf16>) {
^bb0(%a0: bf16, %a1: bf16, %n: f32, %o: bf16):
%t0 = arith.addf %a0, %a0 : bf16
%t1 = math.asinh %t0 : bf16
%r = arith.minimumf %t1, %t0 : bf16
%q = arith.addf %r, %o : bf16
linalg.yield %q : bf16
} -> tensor<5xbf16>
%v36 = arith.constant dense<0.0> : tensor<5x5xbf16>
%v37 = linalg.matmul ins(%x1, %v9 : tensor<5x5xbf16>, tensor<5x5xbf16>) outs(%v36 : tensor<5x5xbf16>) -> tensor<5x5xbf16>
%v38 = arith.constant dense<3.0> : tensor<5x5xbf16>
%v39 = math.fma %x1, %x1, %v38 : tensor<5x5xbf16>
%v40 = arith.constant dense<0.0> : tensor<1xbf16>
%v41 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 * 3)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%v22 : tensor<3xbf16>) outs(%v40 : tensor<1xbf16>) {
^bb0(%a0: bf16, %o: bf16):
%t0 = arith.mulf %a0, %a0 : bf16
%r = arith.mulf %a0, %t0 : bf16
linalg.yield %r : bf16
} -> tensor<1xbf16>
%v42 = arith.maximumf %v22, %v22 : tensor<3xbf16>
%v43 = tensor.empty() : tensor<5xbf16>
%v44 = arith.constant -1000.0 : bf16
%v45 = linalg.fill ins(%v44 : bf16) outs(%v43 : tensor<5xbf16>) -> tensor<5xbf16>
%v46 = tensor.empty() : tensor<3xf32>
%v47 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1 * 2)>, affine_map<(d0, d1) -> (0, 0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%v39, %v8, %v46 : tensor<5x5xbf16>, tensor<1x1xbf16>, tensor<3xf32>) outs(%v45 : tensor<5xbf16>) {
^bb0(%a0: bf16, %a1: bf16, %n: f32, %o: bf16):
%t0 = arith.mulf %a0, %a0 : bf16
%r = fad.sigmoid %a1 : bf16
%q = arith.maximumf %r, %o : bf16
linalg.yield %q : bf16
} -> tensor<5xbf16>
%v48 = tensor.empty() : tensor<5x5xbf16>
%v49 = linalg.transpose ins(%v28 : tensor<5x5xbf16>) outs(%v48 : tensor<5x5xbf16>) permutation = [1, 0]
%v50 = arith.constant dense<0.5> : tensor<5x5xbf16>
%v51 = arith.cmpf une, %v39, %v50 : tensor<5x5xbf16>
%v52 = tensor.empty() : tensor<5x5xbf16>
%v53 = arith.constant 0.0 : bf16
%v54 = linalg.fill ins(%v53 : bf16) outs(%v52 : tensor<5x5xbf16>) -> tensor<5x5xbf16>
%v55 = arith.select %v51, %v49, %v28 : tensor<5x5xi1>, tensor<5x5xbf16>
return %v55 : tensor<5x5xbf16>
}
