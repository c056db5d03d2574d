func.func @unread_operation(%x0: tensor<2x?xbf16>) -> (tensor<1xbf16>) {
%v1 = arith.constant 1 : index
%x0d1 = tensor.dim %x0, %v1 : tensor<2x?xbf16>
%v2 = tensor.empty() : tensor<1xbf16>
%v3 = arith.constant 0.0 : bf16
%v4 = linalg.fill ins(%v3 : bf16) outs(%v2 : tensor<1xbf16>) -> tensor<1xbf16>
%v5 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 * 2, d0)>, affine_map<(d0) -> (0, d0 floordiv 2)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x0, %x0 : tensor<2x?xbf16>, tensor<2x?xbf16>) outs(%v4 : tensor<1xbf16>) {
^bb0(%a0: bf16, %a1: bf16, %o: bf16):
%t0 = arith.mulf %a1, %a0 : bf16
%t1 = arith.mulf %t0, %a1 : bf16
%t2 = arith.subf %a1, %t0 : bf16
%r = fad.gelu %t0 approximate <tanh> : bf16
linalg.yield %r : bf16
} -> tensor<1xbf16>
%v6 = math.cos %v5 : tensor<1xbf16>
%v7 = fad.relu %x0 : tensor<2x?xbf16>
%v8 = arith.negf %x0 : tensor<2x?xbf16>
%v9 = arith.maximumf %x0, %v8 : tensor<2x?xbf16>
%v10 = arith.constant dense<0.0> : tensor<bf16>
%v11 = linalg.reduce { arith.addf } ins(%v9 : tensor<2x?xbf16>) outs(%v10 : tensor<bf16>) dimensions = [0, 1]
%v12 = arith.constant 0 : index
%v13 = tensor.extract %v5[%v12] : tensor<1xbf16>
%v14 = math.sin %v13 : bf16
%v15 = tensor.splat %v14 : tensor<3xbf16>
%v16 = tensor.empty(%x0d1) : tensor<?xbf16>
%v17 = arith.constant 1.0 : bf16
%v18 = linalg.fill ins(%v17 : bf16) outs(%v16 : tensor<?xbf16>) -> tensor<?xbf16>
%v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%v7, %v7 : tensor<2x?xbf16>, tensor<2x?xbf16>) outs(%v18 : tensor<?xbf16>) {
^bb0(%a0: bf16, %a1: bf16, %o: bf16):
%t0 = arith.subf %a1, %a0 : bf16
%t1 = arith.mulf %a1, %a1 : bf16
%t2 = arith.mulf %a1, %t0 : bf16
%r = arith.negf %a0 : bf16
%q = arith.mulf %r, %o : bf16
linalg.yield %q : bf16
} -> tensor<?xbf16>
%v20 = tensor.empty(%x0d1) : tensor<?xbf16>
%v21 = arith.constant -1000.0 : bf16
%v22 = linalg.fill ins(%v21 : bf16) outs(%v20 : tensor<?xbf16>) -> tensor<?xbf16>
%v23 = linalg.reduce { arith.maximumf } ins(%v7 : tensor<2x?xbf16>) outs(%v22 : tensor<?xbf16>) dimensions = [0]
%v24 = tensor.cast %v19 : tensor<?xbf16> to tensor<1xbf16>
%v25 = tensor.insert_slice %v24 into %v19[0] [1] [1] : tensor<1xbf16> into tensor<?xbf16>
%v26 = linalg.reduce { arith.addf } ins(%v15 : tensor<3xbf16>) outs(%v11 : tensor<bf16>) dimensions = [0]
%v27 = linalg.reduce { arith.mulf } ins(%v25 : tensor<?xbf16>) outs(%v11 : tensor<bf16>) dimensions = [0]
%v28 = arith.negf %v27 : tensor<bf16>
%v29 = math.exp %v28 : tensor<bf16>
%v30 = tensor.empty() : tensor<bf16>
%v31 = arith.constant 1.0 : bf16
%v32 = linalg.fill ins(%v31 : bf16) outs(%v30 : tensor<bf16>) -> tensor<bf16>
%v33 = arith.addf %v29, %v32 : tensor<bf16>
%v34 = tensor.empty() : tensor<bf16>
%v35 = arith.constant 1.0 : bf16
%v36 = linalg.fill ins(%v35 : bf16) outs(%v34 : tensor<bf16>) -> tensor<bf16>
%v37 = arith.divf %v36, %v33 : tensor<bf16>
%v38 = arith.mulf %v37, %v27 : tensor<bf16>
%v39 = arith.constant dense<0.5> : tensor<1xbf16>
%v40 = tensor.cast %v23 : tensor<?xbf16> to tensor<1xbf16>
%v41 = arith.cmpf oeq, %v5, %v40 : tensor<1xbf16>
%v42 = math.absf %v37 : tensor<bf16>
%v43 = tensor.extract_slice %v23[0] [1] [1] : tensor<?xbf16> to tensor<1xbf16>
return %v43 : tensor<1xbf16>
}
