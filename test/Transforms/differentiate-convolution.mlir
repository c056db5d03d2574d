// RUN: fad-opt %s --fad-differentiate --canonicalize --split-input-file | FileCheck %s
// RUN: fad-opt %s --fad-nest --fad-to-linalg --fad-legalize-for-iree --split-input-file \
// RUN:   | mlir-opt --split-input-file \
// RUN:       --transform-preload-library='transform-library-paths=%S/Inputs/report_convolutions.mlir' \
// RUN:       --transform-interpreter \
// RUN:   | FileCheck %s --check-prefix=UPSTREAM
// RUN: fad-runner %s --entry=half --policy=fad --check-gradients --cotangent=random:1
// RUN: fad-runner %s --entry=masked --policy=bp --check-gradients --cotangent=random:1
// RUN: fad-runner %s --entry=infinite --policy=recompute | FileCheck %s --check-prefix=INFINITE

// UPSTREAM checks that what has no name is a convolution in upstream's eyes.

// The gradient of a convolution is two convolutions. With respect to the image,
// what the result is given is spread by the stride among zeros, and the filter is
// reversed, with its channels exchanged.

// CHECK-DAG:   #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d5 * 2 + d2, d6 * 2 + d3 * 2)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d0, d5, d6)>
// CHECK-DAG:   #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func @strided_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3x9x8xf32>, %[[W:.*]]: tensor<4x3x3x2xf32>, %[[B:.*]]: tensor<2x4x4x3xf32>, %[[G:.*]]: tensor<2x4x4x3xf32> {
// CHECK:         %[[Y:.*]] = linalg.conv_2d_nchw_fchw
// CHECK:         %[[REVERSED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3x4x3x2xf32>)
// CHECK-DAG:       %[[I:.*]] = linalg.index 0
// CHECK-DAG:       %[[O:.*]] = linalg.index 1
// CHECK-DAG:       %[[H:.*]] = linalg.index 2
// CHECK-DAG:       %[[V:.*]] = linalg.index 3
// CHECK-DAG:       %[[RH:.*]] = arith.subi %{{.*}}, %[[H]]
// CHECK-DAG:       %[[RV:.*]] = arith.subi %{{.*}}, %[[V]]
// CHECK:           tensor.extract %[[W]][%[[O]], %[[I]], %[[RH]], %[[RV]]]
// CHECK:         %[[SPREAD:.*]] = tensor.insert_slice %[[G]] into %{{.*}}[0, 0, 2, 2] [2, 4, 4, 3] [1, 1, 2, 2] {{.*}} into tensor<2x4x11x10xf32>
// CHECK:         %[[GX:.*]] = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 2]> : tensor<2xi64>, {{.*}}strides = dense<1> : tensor<2xi64>} ins(%[[SPREAD]], %[[REVERSED]] :
// CHECK:         %[[GW:.*]] = linalg.generic {indexing_maps = [#[[IMAGE]], #[[OUT]], #[[FILTER]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[X]], %[[G]] :
// CHECK:         return %[[Y]], %[[GX]], %[[GW]], %[[G]]
// UPSTREAM-LABEL: func.func @strided_backward(
// UPSTREAM:         linalg.conv_2d_nchw_fchw {{.*}}is_convolution
// UPSTREAM:         linalg.generic {{.*}}is_convolution
func.func @strided(%x: tensor<2x3x9x8xf32>, %w: tensor<4x3x3x2xf32>, %b: tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32> {
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}
      ins(%x, %w : tensor<2x3x9x8xf32>, tensor<4x3x3x2xf32>) outs(%b : tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  return %r : tensor<2x4x4x3xf32>
}

// -----

// Where the filter has one element, nothing is reversed or spread.

// CHECK-LABEL: func @pointwise_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<2x5x6x3xf32>, %[[W:.*]]: tensor<1x1x3x4xf32>, %{{.*}}: tensor<2x5x6x4xf32>, %[[G:.*]]: tensor<2x5x6x4xf32> {
// CHECK-NOT:     linalg.index
// CHECK-NOT:     tensor.insert_slice
// CHECK:         %[[GX:.*]] = linalg.generic {{.*}} ins(%[[G]], %[[W]] : {{.*}}) outs(%{{.*}} : tensor<2x5x6x3xf32>)
// CHECK:         %[[GW:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[G]] : {{.*}}) outs(%{{.*}} : tensor<1x1x3x4xf32>)
// CHECK:         return %{{.*}}, %[[GX]], %[[GW]], %[[G]]
// UPSTREAM-LABEL: func.func @pointwise_backward(
// UPSTREAM:         linalg.generic {{.*}}is_convolution
// UPSTREAM:         linalg.generic {{.*}}is_convolution
func.func @pointwise(%x: tensor<2x5x6x3xf32>, %w: tensor<1x1x3x4xf32>, %b: tensor<2x5x6x4xf32>) -> tensor<2x5x6x4xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x5x6x3xf32>, tensor<1x1x3x4xf32>) outs(%b : tensor<2x5x6x4xf32>) -> tensor<2x5x6x4xf32>
  return %r : tensor<2x5x6x4xf32>
}

// -----

// The gradient of a sum over windows is one; the rows that no window reached get
// nothing.

// CHECK-LABEL: func @pool_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<2x7x7x3xf32>, %{{.*}}: tensor<2x2xf32>, %[[B:.*]]: tensor<2x3x3x3xf32>, %[[G:.*]]: tensor<2x3x3x3xf32> {
// CHECK:         %[[SPREAD:.*]] = tensor.insert_slice %[[G]] into %{{.*}}[0, 1, 1, 0] [2, 3, 3, 3] [1, 2, 2, 1] {{.*}} into tensor<2x8x8x3xf32>
// CHECK:         %[[WINDOW:.*]] = tensor.empty() : tensor<2x2xf32>
// CHECK:         linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, {{.*}}strides = dense<1> : tensor<2xi64>} ins(%[[SPREAD]], %[[WINDOW]] :
// UPSTREAM-LABEL: func.func @pool_backward(
// UPSTREAM:         linalg.pooling_nhwc_sum {{.*}}is_convolution
func.func @pool(%x: tensor<2x7x7x3xf32>, %k: tensor<2x2xf32>, %b: tensor<2x3x3x3xf32>) -> tensor<2x3x3x3xf32> {
  %r = linalg.pooling_nhwc_sum {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %k : tensor<2x7x7x3xf32>, tensor<2x2xf32>) outs(%b : tensor<2x3x3x3xf32>) -> tensor<2x3x3x3xf32>
  return %r : tensor<2x3x3x3xf32>
}

// -----

// Of each channel alone, and with sizes that are not known.

// CHECK-LABEL: func @depthwise_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x?xf32>, %[[W:.*]]: tensor<?x?xf32>, %{{.*}}: tensor<?x?x?xf32>, %[[G:.*]]: tensor<?x?x?xf32> {
// CHECK:         %[[REVERSED:.*]] = linalg.generic
// CHECK:         %[[SPREAD:.*]] = tensor.insert_slice %[[G]] into
// CHECK:         linalg.depthwise_conv_1d_nwc_wc {dilations = dense<3> : tensor<1xi64>, {{.*}}strides = dense<1> : tensor<1xi64>} ins(%[[SPREAD]], %[[REVERSED]] :
// UPSTREAM-LABEL: func.func @depthwise_backward(
// UPSTREAM:         linalg.depthwise_conv_1d_nwc_wc {{.*}}is_convolution
// UPSTREAM:         linalg.generic {{.*}}is_convolution
func.func @depthwise(%x: tensor<?x?x?xf32>, %w: tensor<?x?xf32>, %b: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = linalg.depthwise_conv_1d_nwc_wc {strides = dense<2> : vector<1xi64>, dilations = dense<3> : vector<1xi64>}
      ins(%x, %w : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%b : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// -----

// Half precision: summed in f32 and rounded once.

// CHECK-LABEL: func @half_joint(
// CHECK:         %[[SUM:.*]] = linalg.conv_1d_ncw_fcw {{.*}} -> tensor<2x3x8xf32>
// CHECK:         fad.elementwise ins(%[[SUM]] : tensor<2x3x8xf32>) {{.*}} -> tensor<2x3x8xf16>
// CHECK:           arith.truncf
// UPSTREAM-LABEL: func.func @half_backward(
// UPSTREAM:         linalg.conv_1d_ncw_fcw {{.*}}is_convolution
// UPSTREAM:         linalg.generic {{.*}}is_convolution
func.func @half(%x: tensor<2x3x8xf16>, %w: tensor<4x3x2xf16>, %b: tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
  %r = linalg.conv_1d_ncw_fcw {strides = dense<1> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
      ins(%x, %w : tensor<2x3x8xf16>, tensor<4x3x2xf16>) outs(%b : tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
  return %r : tensor<2x4x7xf32>
}

// -----

// A body that is not a product: no term is added where zeros were put.

// CHECK-LABEL: func @masked_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<9xf32>, %[[W:.*]]: tensor<3xf32>, %{{.*}}: tensor<4xf32>, %[[G:.*]]: tensor<4xf32> {
// CHECK:         %[[SPREAD:.*]] = tensor.insert_slice %[[G]]
// CHECK:         linalg.generic {{.*}} ins({{.*}}%[[SPREAD]]{{.*}}) outs(%{{.*}} : tensor<9xf32>)
// CHECK:           %[[POSITION:.*]] = linalg.index 0
// CHECK:           %[[TERM:.*]] = arith.mulf
// CHECK:           arith.select %{{.*}}, %[[TERM]], %{{.*}} : f32
#window = affine_map<(d0, d1) -> (d0 * 2 + d1)>
#kernel = affine_map<(d0, d1) -> (d1)>
#out = affine_map<(d0, d1) -> (d0)>
func.func @masked(%x: tensor<9xf32>, %w: tensor<3xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#window, #kernel, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<9xf32>, tensor<3xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %0 = math.exp %k : f32
    %1 = arith.mulf %a, %0 : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Odd elements meet the infinite factor; between them nothing may become NaN.

// INFINITE: grad0: tensor<9xf32> min 1 max 2 mean 1.6, 4 infinite{{$}}
func.func @infinite(%x: tensor<9xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %w = arith.constant dense<[0.0, 1000.0, 0.0]> : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 + d1)>,
      affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<9xf32>, tensor<3xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %0 = math.exp %k : f32
    %1 = arith.mulf %a, %0 : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
