func.func @few_readers(%x0: tensor<4xf32>, %x1: tensor<?x5xf32>, %x2: tensor<?xf32>, %x3: tensor<0x0xf32>) -> (tensor<5xf32>, tensor<2xf32>) {
%v1 = arith.constant 0 : index
%x1d0 = tensor.dim %x1, %v1 : tensor<?x5xf32>
%v2 = arith.constant 0 : index
%x2d0 = tensor.dim %x2, %v2 : tensor<?xf32>
%v3 = tensor.empty() : tensor<0xf32>
%v4 = arith.constant 0.0 : f32
%v5 = linalg.fill ins(%v4 : f32) outs(%v3 : tensor<0xf32>) -> tensor<0xf32>
%v6 = linalg.vecmat ins(%x2, %x3 : tensor<?xf32>, tensor<0x0xf32>) outs(%v5 : tensor<0xf32>) -> tensor<0xf32>
%v7 = math.sin %x1 : tensor<?x5xf32>
%v8 = tensor.empty(%x1d0) : tensor<?x5xf32>
%v9 = arith.constant 0.5 : f32
%v10 = linalg.fill ins(%v9 : f32) outs(%v8 : tensor<?x5xf32>) -> tensor<?x5xf32>
%v11 = arith.mulf %v7, %v10 : tensor<?x5xf32>
%v12 = math.asin %v11 : tensor<?x5xf32>
%v13 = tensor.empty() : tensor<f32>
%v14 = arith.constant 0.0 : f32
%v15 = linalg.fill ins(%v14 : f32) outs(%v13 : tensor<f32>) -> tensor<f32>
%v16 = linalg.generic {indexing_maps = [affine_map<() -> (3)>, affine_map<() -> ()>], iterator_types = []} ins(%x0 : tensor<4xf32>) outs(%v15 : tensor<f32>) {
^bb0(%a0: f32, %o: f32):
%r = arith.maximumf %a0, %a0 : f32
linalg.yield %r : f32
} -> tensor<f32>
%v17 = arith.constant dense<[2, 3]> : tensor<2xi64>
%v18 = tensor.empty() : tensor<2x5xf32>
%v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v17 : tensor<2xi64>) outs(%v18 : tensor<2x5xf32>) {
^bb0(%id: i64, %o: f32):
%row = arith.index_cast %id : i64 to index
%column = linalg.index 1 : index
%e = tensor.extract %x1[%row, %column] : tensor<?x5xf32>
linalg.yield %e : f32
} -> tensor<2x5xf32>
%v20 = math.exp2 %x2 : tensor<?xf32>
%v21 = arith.constant 1 : index
%v22 = arith.constant 4 : index
%v23 = tensor.extract %v12[%v21, %v22] : tensor<?x5xf32>
%v24 = math.sin %v23 : f32
%v25 = tensor.splat %v24 : tensor<2xf32>
%v26 = tensor.empty() : tensor<5xf32>
%v27 = arith.constant 0.0 : f32
%v28 = linalg.fill ins(%v27 : f32) outs(%v26 : tensor<5xf32>) -> tensor<5xf32>
%v29 = linalg.reduce { arith.addf } ins(%v19 : tensor<2x5xf32>) outs(%v28 : tensor<5xf32>) dimensions = [0]
return %v29, %v25 : tensor<5xf32>, tensor<2xf32>
}
