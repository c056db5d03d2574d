// RUN: fad-opt %s -fad-select-convolutions -canonicalize | FileCheck %s
// RUN: fad-opt %s -fad-select-convolutions=contractions=loops | FileCheck %s --check-prefix=LOOPS
// RUN: fad-opt %s -fad-select-convolutions=types=convolve_bf16 | FileCheck %s --check-prefix=LOOPS
// RUN: fad-opt %s -fad-select-convolutions=contractions=library | FileCheck %s --check-prefix=LIBRARY
// RUN: not fad-opt %s -fad-select-convolutions=contractions=blas 2>&1 | FileCheck %s --check-prefix=INVALID

// INVALID: <unknown>:0: error: contractions: 'blas' is none of its values: auto, library, loops
// LOOPS-NOT: fad.convolve
// LOOPS-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2, d3)>
// LOOPS-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
// LOOPS-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// CHECK-DAG: #[[PADDED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5 - 1, d3 * 2 + d6 * 2 - 3)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[SPREAD:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2, d3)>
// CHECK-DAG: #[[SWAPPED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d5, d6)>
// CHECK-DAG: #[[GRADIENT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2 * 2 + d5 - 1, d3 * 2 + d6 - 1)>

// CHECK-LABEL: func @convolution(
// CHECK-SAME: %[[X:.*]]: tensor<?x8x16x16xf32>, %[[W:.*]]: tensor<4x8x3x3xf32>, %[[Y:.*]]: tensor<?x4x8x9xf32>)
// CHECK-NEXT: %[[R:.*]] = fad.convolve %[[X]], %[[W]] into %[[Y]] by [#[[PADDED]], #[[FILTER]], #[[RESULT]]]
// CHECK-NEXT: return %[[R]]
func.func @convolution(%x: tensor<?x8x16x16xf32>, %w: tensor<4x8x3x3xf32>, %y: tensor<?x4x8x9xf32>) -> tensor<?x4x8x9xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 3] high[0, 0, 1, 2] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x8x16x16xf32> to tensor<?x8x18x21xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}
      ins(%p, %w : tensor<?x8x18x21xf32>, tensor<4x8x3x3xf32>) outs(%y : tensor<?x4x8x9xf32>) -> tensor<?x4x8x9xf32>
  return %r : tensor<?x4x8x9xf32>
}

// Padding with ones, or of channels, stays.
// CHECK-LABEL: func @ones(
// CHECK: %[[P:.*]] = tensor.pad
// CHECK: fad.convolve %[[P]]
func.func @ones(%x: tensor<?x8x16x16xf32>, %w: tensor<4x8x3x3xf32>, %y: tensor<?x4x16x16xf32>) -> tensor<?x4x16x16xf32> {
  %one = arith.constant 1.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %one : f32
  } : tensor<?x8x16x16xf32> to tensor<?x8x18x18xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<?x8x18x18xf32>, tensor<4x8x3x3xf32>) outs(%y : tensor<?x4x16x16xf32>) -> tensor<?x4x16x16xf32>
  return %r : tensor<?x4x16x16xf32>
}

// CHECK-LABEL: func @channels(
// CHECK: %[[P:.*]] = tensor.pad
// CHECK: fad.convolve %[[P]]
func.func @channels(%x: tensor<?x6x18x18xf32>, %w: tensor<4x8x3x3xf32>, %y: tensor<?x4x16x16xf32>) -> tensor<?x4x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 0, 0] high[0, 1, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x6x18x18xf32> to tensor<?x8x18x18xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<?x8x18x18xf32>, tensor<4x8x3x3xf32>) outs(%y : tensor<?x4x16x16xf32>) -> tensor<?x4x16x16xf32>
  return %r : tensor<?x4x16x16xf32>
}

// A filter of one element is none, without strides.
// CHECK-LABEL: func @element(
// CHECK: linalg.generic
// CHECK-NOT: fad.convolve
// LOOPS-LABEL: func @element(
// LOOPS: linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types
func.func @element(%x: tensor<?x8x16x16xf32>, %w: tensor<4x8x1x1xf32>, %y: tensor<?x4x16x16xf32>) -> tensor<?x4x16x16xf32> {
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<?x8x16x16xf32>, tensor<4x8x1x1xf32>) outs(%y : tensor<?x4x16x16xf32>) -> tensor<?x4x16x16xf32>
  return %r : tensor<?x4x16x16xf32>
}

// CHECK-LABEL: func @strided_element(
// LOOPS-LABEL: func @strided_element(
// LOOPS: linalg.conv_2d_nchw_fchw
// CHECK: fad.convolve
func.func @strided_element(%x: tensor<?x8x16x16xf32>, %w: tensor<4x8x1x1xf32>, %y: tensor<?x4x8x8xf32>) -> tensor<?x4x8x8xf32> {
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<?x8x16x16xf32>, tensor<4x8x1x1xf32>) outs(%y : tensor<?x4x8x8xf32>) -> tensor<?x4x8x8xf32>
  return %r : tensor<?x4x8x8xf32>
}

// CHECK-LABEL: func @small(
// CHECK: linalg.conv_1d
// LIBRARY-LABEL: func @small(
// LIBRARY: fad.convolve
func.func @small(%x: tensor<9xf32>, %w: tensor<3xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.conv_1d ins(%x, %w : tensor<9xf32>, tensor<3xf32>) outs(%y : tensor<7xf32>) -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// No library has f64.
// CHECK-LABEL: func @double(
// CHECK: linalg.conv_2d_nhwc_hwcf
func.func @double(%x: tensor<2x18x18x8xf64>, %w: tensor<3x3x8x8xf64>, %y: tensor<2x16x16x8xf64>) -> tensor<2x16x16x8xf64> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x18x18x8xf64>, tensor<3x3x8x8xf64>) outs(%y : tensor<2x16x16x8xf64>) -> tensor<2x16x16x8xf64>
  return %r : tensor<2x16x16x8xf64>
}

// What fad's differentiation makes of a convolution with a stride of 2 and padding of 1.
// CHECK-LABEL: func @input_gradient(
// CHECK-SAME: %[[DY:.*]]: tensor<?x8x8x8xf32>, %[[W:.*]]: tensor<8x4x3x3xf32>, %[[N:.*]]: index)
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<?x4x16x16xf32>
// CHECK: %[[R:.*]] = fad.convolve %[[DY]], %[[W]] into %[[ZEROS]] by [#[[SPREAD]], #[[SWAPPED]], #[[GRADIENT]]]
// CHECK: return %[[R]]
func.func @input_gradient(%dy: tensor<?x8x8x8xf32>, %w: tensor<8x4x3x3xf32>, %n: index) -> tensor<?x4x16x16xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %dy, %c0 : tensor<?x8x8x8xf32>
  %e = tensor.empty(%d) : tensor<?x8x20x20xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8x20x20xf32>) -> tensor<?x8x20x20xf32>
  %spread = tensor.insert_slice %dy into %z[0, 0, 2, 2] [%d, 8, 8, 8] [1, 1, 2, 2] : tensor<?x8x8x8xf32> into tensor<?x8x20x20xf32>
  %f = tensor.empty() : tensor<4x8x3x3xf32>
  %reversed = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%f : tensor<4x8x3x3xf32>) {
  ^bb0(%out: f32):
    %c = linalg.index 0 : index
    %o = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ri = arith.subi %c2, %i : index
    %rj = arith.subi %c2, %j : index
    %v = tensor.extract %w[%o, %c, %ri, %rj] : tensor<8x4x3x3xf32>
    linalg.yield %v : f32
  } -> tensor<4x8x3x3xf32>
  %g = tensor.empty(%d) : tensor<?x4x18x18xf32>
  %y = linalg.fill ins(%zero : f32) outs(%g : tensor<?x4x18x18xf32>) -> tensor<?x4x18x18xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%spread, %reversed : tensor<?x8x20x20xf32>, tensor<4x8x3x3xf32>) outs(%y : tensor<?x4x18x18xf32>) -> tensor<?x4x18x18xf32>
  %s = tensor.extract_slice %r[0, 0, 1, 1] [%d, 4, 16, 16] [1, 1, 1, 1] : tensor<?x4x18x18xf32> to tensor<?x4x16x16xf32>
  return %s : tensor<?x4x16x16xf32>
}

// The reversal reads a part of the filter: it stays.
// CHECK-LABEL: func @part_of_filter(
// CHECK: %[[F:.*]] = linalg.generic
// CHECK: fad.convolve %{{.*}}, %[[F]] into
func.func @part_of_filter(%dy: tensor<1x8x12x12xf32>, %w: tensor<8x8x5x5xf32>, %y: tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32> {
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %spread = tensor.insert_slice %dy into %z[0, 0, 2, 2] [1, 8, 12, 12] [1, 1, 1, 1] : tensor<1x8x12x12xf32> into tensor<1x8x16x16xf32>
  %f = tensor.empty() : tensor<8x8x3x3xf32>
  %reversed = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%f : tensor<8x8x3x3xf32>) {
  ^bb0(%out: f32):
    %c = linalg.index 0 : index
    %o = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ri = arith.subi %c2, %i : index
    %rj = arith.subi %c2, %j : index
    %v = tensor.extract %w[%o, %c, %ri, %rj] : tensor<8x8x5x5xf32>
    linalg.yield %v : f32
  } -> tensor<8x8x3x3xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%spread, %reversed : tensor<1x8x16x16xf32>, tensor<8x8x3x3xf32>) outs(%y : tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32>
  return %r : tensor<1x8x14x14xf32>
}

// The image is larger than what the windows read.
// CHECK-LABEL: func @larger_image(
// CHECK-SAME: %[[X:.*]]: tensor<1x64x40x40xf32>, %[[W:.*]]: tensor<64x64x1x1xf32>, %[[Y:.*]]: tensor<1x64x32x32xf32>)
// CHECK: fad.convolve %[[X]], %[[W]] into %[[Y]]
func.func @larger_image(%x: tensor<1x64x40x40xf32>, %w: tensor<64x64x1x1xf32>, %y: tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> {
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x40x40xf32>, tensor<64x64x1x1xf32>) outs(%y : tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  return %r : tensor<1x64x32x32xf32>
}

// The slice is taken in a loop, the convolution computed before it.
// LIBRARY-LABEL: func @slice_in_loop(
// LIBRARY: %[[R:.*]] = fad.convolve
// LIBRARY: scf.for
// LIBRARY-NOT: fad.convolve
// LIBRARY: tensor.extract_slice %[[R]]
func.func @slice_in_loop(%dy: tensor<1x8x8x8xf32>, %w: tensor<8x8x3x3xf32>, %n: index) -> tensor<1x8x8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x12x12xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x12x12xf32>) -> tensor<1x8x12x12xf32>
  %spread = tensor.insert_slice %dy into %z[0, 0, 2, 2] [1, 8, 8, 8] [1, 1, 1, 1] : tensor<1x8x8x8xf32> into tensor<1x8x12x12xf32>
  %f = tensor.empty() : tensor<8x8x3x3xf32>
  %reversed = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%f : tensor<8x8x3x3xf32>) {
  ^bb0(%out: f32):
    %c = linalg.index 0 : index
    %o = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ri = arith.subi %c2, %i : index
    %rj = arith.subi %c2, %j : index
    %v = tensor.extract %w[%o, %c, %ri, %rj] : tensor<8x8x3x3xf32>
    linalg.yield %v : f32
  } -> tensor<8x8x3x3xf32>
  %g = tensor.empty() : tensor<1x8x10x10xf32>
  %y = linalg.fill ins(%zero : f32) outs(%g : tensor<1x8x10x10xf32>) -> tensor<1x8x10x10xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%spread, %reversed : tensor<1x8x12x12xf32>, tensor<8x8x3x3xf32>) outs(%y : tensor<1x8x10x10xf32>) -> tensor<1x8x10x10xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %dy) -> tensor<1x8x8x8xf32> {
    %slice = tensor.extract_slice %r[0, 0, 1, 1] [1, 8, 8, 8] [1, 1, 1, 1] : tensor<1x8x10x10xf32> to tensor<1x8x8x8xf32>
    %next = arith.addf %sum, %slice : tensor<1x8x8x8xf32>
    scf.yield %next : tensor<1x8x8x8xf32>
  }
  return %s : tensor<1x8x8x8xf32>
}

// Without channels, loops are faster.
// CHECK-LABEL: func @no_channels(
// CHECK-NOT: fad.convolve
// CHECK: linalg.conv_2d_nchw_fchw
// LIBRARY-LABEL: func @no_channels(
// LIBRARY: fad.convolve
func.func @no_channels(%x: tensor<64x1x66x66xf32>, %w: tensor<1x1x3x3xf32>, %y: tensor<64x1x64x64xf32>) -> tensor<64x1x64x64xf32> {
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<64x1x66x66xf32>, tensor<1x1x3x3xf32>) outs(%y : tensor<64x1x64x64xf32>) -> tensor<64x1x64x64xf32>
  return %r : tensor<64x1x64x64xf32>
}

// The library takes seven dimensions at most.
// LIBRARY-LABEL: func @eight_dimensions(
// LIBRARY-NOT: fad.convolve
// LIBRARY: linalg.generic
// LIBRARY-NOT: fad.convolve
func.func @eight_dimensions(%x: tensor<2x2x2x2x2x2x8x34xf32>, %w: tensor<8x8x3xf32>, %y: tensor<2x2x2x2x2x2x8x32xf32>) -> tensor<2x2x2x2x2x2x8x32xf32> {
  %r = linalg.generic {indexing_maps = [
        affine_map<(a, b, d, e, f, n, c, u, o, i) -> (a, b, d, e, f, n, c, u + i)>,
        affine_map<(a, b, d, e, f, n, c, u, o, i) -> (o, c, i)>,
        affine_map<(a, b, d, e, f, n, c, u, o, i) -> (a, b, d, e, f, n, o, u)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x2x2x2x2x2x8x34xf32>, tensor<8x8x3xf32>) outs(%y : tensor<2x2x2x2x2x2x8x32xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %sum, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x2x2x2x2x2x8x32xf32>
  return %r : tensor<2x2x2x2x2x2x8x32xf32>
}
