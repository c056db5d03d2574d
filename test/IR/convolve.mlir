// RUN: fad-opt %s | fad-opt | FileCheck %s
// RUN: fad-opt %s -mlir-print-op-generic | fad-opt | FileCheck %s
// RUN: fad-opt %s -emit-bytecode | fad-opt | FileCheck %s

#image = affine_map<(n, o, u, c, i) -> (n, c, u * 2 + i * 3 - 1)>
#filter = affine_map<(n, o, u, c, i) -> (o, c, i)>
#result = affine_map<(n, o, u, c, i) -> (n, o, u)>

// CHECK-LABEL: func.func @tensors(
// CHECK-SAME: %[[X:.*]]: tensor<?x4x9xbf16>, %[[W:.*]]: tensor<6x4x3xbf16>, %[[Y:.*]]: tensor<?x6x3xf32>)
func.func @tensors(%x: tensor<?x4x9xbf16>, %w: tensor<6x4x3xbf16>, %y: tensor<?x6x3xf32>) -> tensor<?x6x3xf32> {
  // CHECK: fad.convolve %[[X]], %[[W]] into %[[Y]] by [#{{.*}}, #{{.*}}, #{{.*}}] : tensor<?x4x9xbf16>, tensor<6x4x3xbf16>, tensor<?x6x3xf32> -> tensor<?x6x3xf32>
  %0 = fad.convolve %x, %w into %y by [#image, #filter, #result]
      : tensor<?x4x9xbf16>, tensor<6x4x3xbf16>, tensor<?x6x3xf32> -> tensor<?x6x3xf32>
  return %0 : tensor<?x6x3xf32>
}

// CHECK-LABEL: func.func @buffers(
// CHECK-SAME: %[[X:.*]]: memref<2x4x9xf32, strided<[40, 10, 1]>>, %[[W:.*]]: memref<6x4x3xf32>, %[[Y:.*]]: memref<2x6x3xf32>)
func.func @buffers(%x: memref<2x4x9xf32, strided<[40, 10, 1]>>, %w: memref<6x4x3xf32>, %y: memref<2x6x3xf32>) {
  // CHECK: fad.convolve %[[Y]], %[[W]] into %[[X]] by
  fad.convolve %y, %w into %x by [#result, #filter, #image]
      : memref<2x6x3xf32>, memref<6x4x3xf32>, memref<2x4x9xf32, strided<[40, 10, 1]>>
  return
}
