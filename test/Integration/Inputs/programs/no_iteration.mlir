func.func @no_iteration(%x0: tensor<1xf16>, %x1: tensor<1x3xf16>, %x2: tensor<?x1xf16>, %x3: tensor<3xf16>) -> (tensor<?x1xf16>, tensor<?x1x1xf16>) {
%v1 = arith.constant 0 : index
%x2d0 = tensor.dim %x2, %v1 : tensor<?x1xf16>
%v2 = arith.constant 0 : index
%v3 = arith.constant 1 : index
%v4 = arith.constant 0 : index
%v7:2 = scf.while (%m5 = %v2, %b5_0 = %x2) : (index, tensor<?x1xf16>) -> (index, tensor<?x1xf16>) {
%t5 = arith.cmpi slt, %m5, %v4 : index
scf.condition(%t5) %m5, %b5_0 : index, tensor<?x1xf16>
} do {
^bb0(%n5: index, %a5_0: tensor<?x1xf16>):
%v6 = arith.mulf %a5_0, %x2 : tensor<?x1xf16>
%q5 = arith.addi %n5, %v3 : index
scf.yield %q5, %v6 : index, tensor<?x1xf16>
}
%v8 = arith.constant dense<0.5> : tensor<1x3xf16>
%v9 = arith.cmpf ogt, %x1, %x1 : tensor<1x3xf16>
%v10 = arith.constant dense<0.0> : tensor<1x3xf16>
%v11 = arith.select %v9, %x1, %v10 : tensor<1x3xi1>, tensor<1x3xf16>
%v12 = tensor.empty() : tensor<3xf16>
%v13 = arith.constant 0.5 : f16
%v14 = linalg.fill ins(%v13 : f16) outs(%v12 : tensor<3xf16>) -> tensor<3xf16>
%v15 = arith.cmpf une, %x3, %x3 : tensor<3xf16>
%v16 = tensor.empty() : tensor<3xf16>
%v17 = arith.constant 0.0 : f16
%v18 = linalg.fill ins(%v17 : f16) outs(%v16 : tensor<3xf16>) -> tensor<3xf16>
%v19 = arith.select %v15, %x3, %v18 : tensor<3xi1>, tensor<3xf16>
%v20 = tensor.empty(%x2d0) : tensor<?x1xf16>
%v21 = linalg.softmax dimension(0) ins(%v7#1 : tensor<?x1xf16>) outs(%v20 : tensor<?x1xf16>) -> tensor<?x1xf16>
%v22 = arith.mulf %v19, %v19 : tensor<3xf16>
%v23 = arith.constant dense<0.5> : tensor<3xf16>
%v24 = arith.addf %v22, %v23 : tensor<3xf16>
%v25 = arith.remf %v19, %v24 : tensor<3xf16>
%v26 = tensor.expand_shape %x2 [[0], [1, 2]] output_shape [%x2d0, 1, 1] : tensor<?x1xf16> into tensor<?x1x1xf16>
%v27 = tensor.empty() : tensor<3xf16>
%v28 = arith.constant 1.0 : f16
%v29 = linalg.fill ins(%v28 : f16) outs(%v27 : tensor<3xf16>) -> tensor<3xf16>
%v30 = arith.constant dense<-0.5> : tensor<3xf16>
%v31 = math.clampf %v19 to [%v29, %v30] : tensor<3xf16>
%v32 = math.round %v31 : tensor<3xf16>
%v33 = math.atan %v21 : tensor<?x1xf16>
return %v33, %v26 : tensor<?x1xf16>, tensor<?x1x1xf16>
}
