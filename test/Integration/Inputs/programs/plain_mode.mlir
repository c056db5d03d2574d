func.func @plain_mode(%x0: tensor<1x?x3xf32>, %x1: tensor<3x?xf32>, %x2: tensor<3xf32>, %trips: index) -> (tensor<?xf32>) {
%v1 = arith.constant 1 : index
%x0d1 = tensor.dim %x0, %v1 : tensor<1x?x3xf32>
%v2 = arith.constant 1 : index
%x1d1 = tensor.dim %x1, %v2 : tensor<3x?xf32>
%v3 = arith.constant dense<[2, 2]> : tensor<2xi64>
%v4 = tensor.empty(%x1d1) : tensor<2x?xf32>
%v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v3 : tensor<2xi64>) outs(%v4 : tensor<2x?xf32>) {
^bb0(%id: i64, %o: f32):
%row = arith.index_cast %id : i64 to index
%column = linalg.index 1 : index
%e = tensor.extract %x1[%row, %column] : tensor<3x?xf32>
linalg.yield %e : f32
} -> tensor<2x?xf32>
%v6 = tensor.empty(%x0d1) : tensor<?xf32>
%v7 = arith.constant 0.0 : f32
%v8 = linalg.fill ins(%v7 : f32) outs(%v6 : tensor<?xf32>) -> tensor<?xf32>
%v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (0, d0, d1)>, affine_map<(d0, d1) -> (0, d1, d1)>, affine_map<(d0, d1) -> (d0, d0 floordiv 2)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x0, %x0, %x1 : tensor<1x?x3xf32>, tensor<1x?x3xf32>, tensor<3x?xf32>) outs(%v8 : tensor<?xf32>) {
^bb0(%a0: f32, %a1: f32, %a2: f32, %o: f32):
%t0 = math.sin %a0 : f32
%t1 = fad.gelu %a2 : f32
%r = math.cosh %t1 : f32
%q = arith.addf %r, %o : f32
linalg.yield %q : f32
} -> tensor<?xf32>
%v10 = tensor.empty(%x0d1) : tensor<?xf32>
%v11 = linalg.softmax dimension(0) ins(%v9 : tensor<?xf32>) outs(%v10 : tensor<?xf32>) -> tensor<?xf32>
%v12 = scf.index_switch %trips -> tensor<3x?xf32>
default {
scf.yield %x1 : tensor<3x?xf32>
}
%v13 = math.ceil %v9 : tensor<?xf32>
%v14 = tensor.empty(%x1d1) : tensor<?xf32>
%v15 = arith.constant 0.0 : f32
%v16 = linalg.fill ins(%v15 : f32) outs(%v14 : tensor<?xf32>) -> tensor<?xf32>
%v17 = linalg.generic {indexing_maps = [affine_map<(d0) -> (0, d0)>, affine_map<(d0) -> (2 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%v5, %v13 : tensor<2x?xf32>, tensor<?xf32>) outs(%v16 : tensor<?xf32>) {
^bb0(%a0: f32, %a1: f32, %o: f32):
%r = arith.maximumf %a0, %a0 : f32
linalg.yield %r : f32
} -> tensor<?xf32>
%v18 = arith.addf %v11, %v13 : tensor<?xf32>
return %v18 : tensor<?xf32>
}
