func.func @static_sum(%x0: tensor<2x?x?xbf16>, %taken: i1) -> (tensor<?x?xbf16>, tensor<4x?xbf16>, tensor<4x?xbf16>) {
%v1 = arith.constant 1 : index
%x0d1 = tensor.dim %x0, %v1 : tensor<2x?x?xbf16>
%v2 = arith.constant 2 : index
%x0d2 = tensor.dim %x0, %v2 : tensor<2x?x?xbf16>
%v3 = tensor.empty(%x0d2) : tensor<2x?xbf16>
%v4 = arith.constant 0.0 : bf16
%v5 = linalg.fill ins(%v4 : bf16) outs(%v3 : tensor<2x?xbf16>) -> tensor<2x?xbf16>
%v6 = linalg.reduce { arith.addf } ins(%x0 : tensor<2x?x?xbf16>) outs(%v5 : tensor<2x?xbf16>) dimensions = [1]
%v7 = tensor.cast %v6 : tensor<2x?xbf16> to tensor<?x?xbf16>
%v8 = arith.constant 0 : index
%v9 = tensor.dim %v7, %v8 : tensor<?x?xbf16>
%v10 = arith.constant 1 : index
%v11 = tensor.dim %v7, %v10 : tensor<?x?xbf16>
%v12 = tensor.cast %v7 : tensor<?x?xbf16> to tensor<?x?xbf16>
%v13 = arith.constant dense<[0, 1, 1, 1]> : tensor<4xi64>
%v14 = tensor.empty(%v11) : tensor<4x?xbf16>
%v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v13 : tensor<4xi64>) outs(%v14 : tensor<4x?xbf16>) {
^bb0(%id: i64, %o: bf16):
%row = arith.index_cast %id : i64 to index
%column = linalg.index 1 : index
%e = tensor.extract %v12[%row, %column] : tensor<?x?xbf16>
linalg.yield %e : bf16
} -> tensor<4x?xbf16>
%v18 = scf.if %taken -> (tensor<2x?xbf16>) {
%v16 = tensor.extract_slice %x0[1, 0, 0] [1, 0, %x0d2] [1, 1, 1] : tensor<2x?x?xbf16> to tensor<1x0x?xbf16>
scf.yield %v6 : tensor<2x?xbf16>
} else {
%v17 = tensor.cast %v12 : tensor<?x?xbf16> to tensor<2x?xbf16>
scf.yield %v17 : tensor<2x?xbf16>
}
%v19 = tensor.empty(%v11) : tensor<4x?xbf16>
%v20 = arith.constant 0.25 : bf16
%v21 = linalg.fill ins(%v20 : bf16) outs(%v19 : tensor<4x?xbf16>) -> tensor<4x?xbf16>
%v22 = arith.subf %v15, %v21 : tensor<4x?xbf16>
%v23 = arith.addf %v18, %v18 : tensor<2x?xbf16>
%v24 = tensor.cast %v18 : tensor<2x?xbf16> to tensor<?x?xbf16>
%v25 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (1, d0, d1)>, affine_map<(d0, d1) -> (1 - d1, d0 floordiv 2)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x0, %v18 : tensor<2x?x?xbf16>, tensor<2x?xbf16>) outs(%v24 : tensor<?x?xbf16>) {
^bb0(%a0: bf16, %a1: bf16, %o: bf16):
%t0 = arith.subf %a0, %a0 : bf16
%r = arith.addf %a0, %a1 : bf16
linalg.yield %r : bf16
} -> tensor<?x?xbf16>
return %v25, %v22, %v22 : tensor<?x?xbf16>, tensor<4x?xbf16>, tensor<4x?xbf16>
}
