func.func @reshape_of_nothing(%x0: tensor<2x0x?xf64>) -> (tensor<2x1x0x?xf64>, tensor<2x0x?xf64>, tensor<2x1x0x?xf64>) {
%v1 = arith.constant 2 : index
%x0d2 = tensor.dim %x0, %v1 : tensor<2x0x?xf64>
%v2 = arith.mulf %x0, %x0 : tensor<2x0x?xf64>
%v3 = tensor.empty(%x0d2) : tensor<2x0x?xf64>
%v4 = arith.constant 0.5 : f64
%v5 = linalg.fill ins(%v4 : f64) outs(%v3 : tensor<2x0x?xf64>) -> tensor<2x0x?xf64>
%v6 = arith.addf %v2, %v5 : tensor<2x0x?xf64>
%v7 = math.powf %v6, %x0 : tensor<2x0x?xf64>
%v8 = arith.mulf %v7, %x0 : tensor<2x0x?xf64>
%v9 = tensor.empty(%x0d2) : tensor<2x0x?xf64>
%v10 = linalg.transpose ins(%v7 : tensor<2x0x?xf64>) outs(%v9 : tensor<2x0x?xf64>) permutation = [0, 1, 2]
%v11 = tensor.cast %v8 : tensor<2x0x?xf64> to tensor<?x?x?xf64>
%v12 = arith.constant 0 : index
%v13 = tensor.dim %v11, %v12 : tensor<?x?x?xf64>
%v14 = arith.constant 1 : index
%v15 = tensor.dim %v11, %v14 : tensor<?x?x?xf64>
%v16 = arith.constant 2 : index
%v17 = tensor.dim %v11, %v16 : tensor<?x?x?xf64>
%v18 = tensor.cast %v11 : tensor<?x?x?xf64> to tensor<?x?x?xf64>
%v19 = tensor.expand_shape %v8 [[0], [1, 2], [3]] output_shape [2, 1, 0, %x0d2] : tensor<2x0x?xf64> into tensor<2x1x0x?xf64>
%v20 = tensor.empty(%v13, %v15, %v17) : tensor<?x?x?xf64>
%v21 = arith.constant 0.0 : f64
%v22 = linalg.fill ins(%v21 : f64) outs(%v20 : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
%v23 = arith.cmpf ole, %v18, %v22 : tensor<?x?x?xf64>
%v24 = tensor.cast %v7 : tensor<2x0x?xf64> to tensor<?x?x?xf64>
%v25 = tensor.empty(%v13, %v15, %v17) : tensor<?x?x?xf64>
%v26 = arith.constant 0.0 : f64
%v27 = linalg.fill ins(%v26 : f64) outs(%v25 : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
%v28 = arith.select %v23, %v24, %v18 : tensor<?x?x?xi1>, tensor<?x?x?xf64>
%v29 = tensor.empty() : tensor<2x0xf64>
%v30 = arith.constant 0.0 : f64
%v31 = linalg.fill ins(%v30 : f64) outs(%v29 : tensor<2x0xf64>) -> tensor<2x0xf64>
%v32 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v10 : tensor<2x0x?xf64>) outs(%v31 : tensor<2x0xf64>) {
^bb0(%a0: f64, %o: f64):
%t0 = arith.maximumf %a0, %a0 : f64
%t1 = arith.subf %a0, %t0 : f64
%r = arith.addf %a0, %t1 : f64
%q = arith.addf %r, %o : f64
linalg.yield %q : f64
} -> tensor<2x0xf64>
%v33 = tensor.empty(%x0d2) : tensor<2x0x?xf64>
%v34 = arith.constant 0.5 : f64
%v35 = linalg.fill ins(%v34 : f64) outs(%v33 : tensor<2x0x?xf64>) -> tensor<2x0x?xf64>
%v36 = arith.cmpf ogt, %x0, %v35 : tensor<2x0x?xf64>
%v37 = tensor.cast %v28 : tensor<?x?x?xf64> to tensor<2x0x?xf64>
%v38 = tensor.empty(%x0d2) : tensor<2x0x?xf64>
%v39 = arith.constant 0.0 : f64
%v40 = linalg.fill ins(%v39 : f64) outs(%v38 : tensor<2x0x?xf64>) -> tensor<2x0x?xf64>
%v41 = arith.select %v36, %v37, %v40 : tensor<2x0x?xi1>, tensor<2x0x?xf64>
%v42 = arith.constant dense<[[1], [0], [0]]> : tensor<3x1xindex>
%v43 = tensor.gather %v32[%v42] gather_dims([0]) : (tensor<2x0xf64>, tensor<3x1xindex>) -> tensor<3x1x0xf64>
%v44 = math.floor %v28 : tensor<?x?x?xf64>
%v45 = fad.leaky_relu %v19 slope 0.125 : tensor<2x1x0x?xf64>
return %v45, %v7, %v19 : tensor<2x1x0x?xf64>, tensor<2x0x?xf64>, tensor<2x1x0x?xf64>
}
