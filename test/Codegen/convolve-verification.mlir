// Sizes of fad.convolve that are known are compared by its verifier, others at run time.

// RUN: fad-opt %s -pass-pipeline='builtin.module(fad-to-linalg, generate-runtime-verification{verbose-level=0})' | FileCheck %s

#image = affine_map<(n, o, u, c, i) -> (n, c, u + i - 1)>
#filter = affine_map<(n, o, u, c, i) -> (o, c, i)>
#result = affine_map<(n, o, u, c, i) -> (n, o, u)>

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[W:.*]]: tensor<?x3x2xf32>, %[[Y:.*]]: tensor<4x?x9xf32>)
// CHECK: %[[BATCH:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x3x?xf32>
// CHECK: %[[SAME_BATCH:.*]] = arith.cmpi eq, %[[BATCH]], %{{.*}} : index
// CHECK: cf.assert %[[SAME_BATCH]], "ERROR: Runtime op verification failed\0A{{.*}}dimension #0 of operand #2 is not the extent of d0, which is dimension #0 of operand #0
// CHECK: %[[FILTERS:.*]] = tensor.dim %[[W]], %{{.*}} : tensor<?x3x2xf32>
// CHECK: %[[CHANNELS:.*]] = tensor.dim %[[Y]], %{{.*}} : tensor<4x?x9xf32>
// CHECK: %[[SAME_FILTERS:.*]] = arith.cmpi eq, %[[FILTERS]], %[[CHANNELS]] : index
// CHECK: cf.assert %[[SAME_FILTERS]], "ERROR: Runtime op verification failed\0A{{.*}}dimension #1 of operand #2 is not the extent of d1, which is dimension #0 of operand #1
// CHECK-NOT: cf.assert
// CHECK: fad.convolve
func.func @dynamic(%x: tensor<?x3x?xf32>, %w: tensor<?x3x2xf32>, %y: tensor<4x?x9xf32>) -> tensor<4x?x9xf32> {
  %r = fad.convolve %x, %w into %y by [#image, #filter, #result]
      : tensor<?x3x?xf32>, tensor<?x3x2xf32>, tensor<4x?x9xf32> -> tensor<4x?x9xf32>
  return %r : tensor<4x?x9xf32>
}

// CHECK-LABEL: func.func @buffers(
// CHECK: memref.dim
// CHECK: cf.assert
// CHECK-NOT: cf.assert
// CHECK: fad.convolve
func.func @buffers(%x: memref<?x3x7xf32>, %w: memref<5x3x2xf32>, %y: memref<4x5x9xf32>) {
  fad.convolve %x, %w into %y by [#image, #filter, #result]
      : memref<?x3x7xf32>, memref<5x3x2xf32>, memref<4x5x9xf32>
  return
}

// CHECK-LABEL: func.func @static(
// CHECK-NOT: cf.assert
func.func @static(%x: tensor<4x3x7xf32>, %w: tensor<5x3x2xf32>, %y: tensor<4x5x9xf32>) -> tensor<4x5x9xf32> {
  %r = fad.convolve %x, %w into %y by [#image, #filter, #result]
      : tensor<4x3x7xf32>, tensor<5x3x2xf32>, tensor<4x5x9xf32> -> tensor<4x5x9xf32>
  return %r : tensor<4x5x9xf32>
}
