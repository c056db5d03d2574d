// RUN: fad-opt %s --fad-differentiate --split-input-file | FileCheck %s

// A maximum: how many terms equal it, the share of each, and who gets one. The
// init of -inf stands for nothing.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @maximum_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32>, %[[G:.*]]: tensor<?xf32> {
// CHECK:         %[[Y:.*]] = linalg.reduce
// CHECK:         %[[ONES:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?xf32>)
// CHECK:         %[[COUNT:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[Y]] : tensor<?x8xf32>, tensor<?xf32>)
// CHECK:           arith.addf
// CHECK:         %[[SHARE:.*]] = fad.elementwise ins(%[[G]], %[[COUNT]] :
// CHECK:           arith.divf
// CHECK:         %[[GX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]}
// CHECK:           arith.cmpf oeq
// CHECK:           arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:      linalg.yield
// CHECK:         return %[[Y]], %[[GX]]
func.func @maximum(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%rows) : tensor<?xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce ins(%x : tensor<?x8xf32>) outs(%init : tensor<?xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %m = arith.maximumf %in, %out : f32
      linalg.yield %m : f32
    }
  return %r : tensor<?xf32>
}

// -----

// The same with the index, as it is exported: backward reads nothing but that.

#id = affine_map<(d0, d1) -> (d0, d1)>
#keep = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func @index_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[G:.*]]: tensor<4x1xf32> {
// CHECK:         %[[Y:.*]]:2 = linalg.generic
// CHECK:         %[[GX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[G]], %[[Y]]#1 : tensor<4x1xf32>, tensor<4x1xi64>)
// CHECK:           %[[I:.*]] = linalg.index 1
// CHECK:           %[[P:.*]] = arith.index_cast %[[I]]
// CHECK:           %[[TAKEN:.*]] = arith.cmpi eq, %[[P]],
// CHECK:           arith.select %[[TAKEN]]
// CHECK:         return %[[Y]]#0, %[[GX]]
func.func @index(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %least = arith.constant dense<0xFF800000> : tensor<4x1xf32>
  %zero = arith.constant dense<0> : tensor<4x1xi64>
  %r:2 = linalg.generic {indexing_maps = [#id, #keep, #keep], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%least, %zero : tensor<4x1xf32>, tensor<4x1xi64>) {
  ^bb0(%a: f32, %out: f32, %best: i64):
    %i = linalg.index 1 : index
    %p = arith.index_cast %i : index to i64
    %m = arith.maximumf %a, %out : f32
    %c = arith.cmpf ogt, %a, %out : f32
    %n = arith.select %c, %p, %best : i64
    linalg.yield %m, %n : f32, i64
  } -> (tensor<4x1xf32>, tensor<4x1xi64>)
  return %r#0 : tensor<4x1xf32>
}

// -----

// A product: the product of all factors but zeros, and the number of zeros, in f64.

// CHECK-LABEL: func @product_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xbf16>, %[[INIT:.*]]: tensor<4xbf16>, %[[G:.*]]: tensor<4xbf16> {
// CHECK:         %[[Y:.*]] = linalg.reduce
// CHECK:         %[[P:.*]]:2 = linalg.generic {{.*}}ins(%[[X]] : tensor<4x8xbf16>) outs(%{{.*}}, %{{.*}} : tensor<4xf64>, tensor<4xf64>)
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK:         %[[W:.*]]:2 = fad.elementwise ins(%[[G]], %[[Y]], %[[P]]#0, %[[P]]#1, %[[INIT]] :
// CHECK:         %[[GX:.*]] = linalg.generic {{.*}}ins(%[[X]], %[[W]]#0, %[[W]]#1 :
// CHECK:           arith.divf
// CHECK:         %[[GI:.*]] = fad.elementwise ins(%[[INIT]], %[[W]]#0, %[[W]]#1 :
// CHECK:         return %[[Y]], %[[GX]], %[[GI]]
func.func @product(%x: tensor<4x8xbf16>, %init: tensor<4xbf16>) -> tensor<4xbf16> {
  %r = linalg.reduce ins(%x : tensor<4x8xbf16>) outs(%init : tensor<4xbf16>) dimensions = [1]
    (%in: bf16, %out: bf16) {
      %m = arith.mulf %in, %out : bf16
      linalg.yield %m : bf16
    }
  return %r : tensor<4xbf16>
}

// -----

// Every spelling: what matters is who wins the comparison.

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
// CHECK-LABEL: func @spellings_joint(
// CHECK:         %[[Y:.*]]:6 = linalg.generic
// CHECK-COUNT-6: linalg.generic {{.*}}iterator_types = ["reduction"]}
// CHECK:         %[[GX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]}
// CHECK:         return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2, %[[Y]]#3, %[[Y]]#4, %[[Y]]#5, %[[GX]]
func.func @spellings(%x: tensor<8xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %least = arith.constant dense<0xFF800000> : tensor<f32>
  %greatest = arith.constant dense<0x7F800000> : tensor<f32>
  %r:6 = linalg.generic {indexing_maps = [#id, #all, #all, #all, #all, #all, #all], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%least, %greatest, %least, %least, %greatest, %greatest
        : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  ^bb0(%a: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32, %o5: f32):
    %0 = arith.maxnumf %o0, %a : f32
    %1 = arith.minnumf %a, %o1 : f32
    %c2 = arith.cmpf ugt, %a, %o2 : f32
    %2 = arith.select %c2, %a, %o2 : f32
    %c3 = arith.cmpf ole, %a, %o3 : f32
    %3 = arith.select %c3, %o3, %a : f32
    %c4 = arith.cmpf oge, %o4, %a : f32
    %4 = arith.select %c4, %a, %o4 : f32
    %c5 = arith.cmpf ult, %o5, %a : f32
    %5 = arith.select %c5, %o5, %a : f32
    linalg.yield %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
  } -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// Windows: the first of those terms that equal the maximum gets all, and its
// position is what backward reads. The operand that gives the extent stays.

// CHECK-LABEL: func @pool_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<1x2x8x8xf32>, %[[G:.*]]: tensor<1x2x4x4xf32> {
// CHECK:         %[[K:.*]] = tensor.empty() : tensor<3x3xf32>
// CHECK:         %[[P:.*]] = tensor.pad %[[X]]
// CHECK:         %[[Y:.*]] = linalg.pooling_nchw_max
// CHECK:         %[[LAST:.*]] = arith.constant 8 : i8
// CHECK:         %[[INIT:.*]] = linalg.fill ins(%[[LAST]] : i8)
// CHECK:         %[[AT:.*]] = linalg.generic {{.*}}"reduction", "reduction"]} ins(%[[P]], %[[K]], %[[Y]] : {{.*}}) outs(%[[INIT]] : tensor<1x2x4x4xi8>)
// CHECK:           %[[NONE:.*]] = arith.constant 9 : i8
// CHECK:           %[[I:.*]] = linalg.index 4
// CHECK:           %[[J:.*]] = linalg.index 5
// CHECK:           %[[ROW:.*]] = arith.muli %[[I]],
// CHECK:           %[[INDEX:.*]] = arith.addi %[[ROW]], %[[J]]
// CHECK:           %[[CODE:.*]] = arith.index_castui %[[INDEX]] : index to i8
// CHECK:           %[[TERM:.*]] = arith.select %{{.*}}, %[[CODE]], %[[NONE]]
// CHECK:           arith.minui %{{.*}}, %[[TERM]] : i8
// CHECK:         %[[SPREAD:.*]] = tensor.insert_slice %[[G]]
// CHECK:         %[[SPREADAT:.*]] = tensor.insert_slice %[[AT]]
// CHECK:         linalg.generic {{.*}} ins(%[[SPREAD]], %[[SPREADAT]], %{{.*}} : tensor<1x2x11x11xf32>, tensor<1x2x11x11xi8>, tensor<3x3xf32>)
// CHECK:           %[[TAKEN:.*]] = arith.cmpi eq
// CHECK:           arith.select %[[TAKEN]]
func.func @pool(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32> {
  %init = arith.constant dense<0xFF800000> : tensor<1x2x4x4xf32>
  %p = arith.constant 0xFF800000 : f32
  %k = tensor.empty() : tensor<3x3xf32>
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %p : f32
  } : tensor<1x2x8x8xf32> to tensor<1x2x9x9xf32>
  %r = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded, %k : tensor<1x2x9x9xf32>, tensor<3x3xf32>) outs(%init : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// -----

// An init that counts has a number of its own, and gets what no term gets.

#window = affine_map<(d0, d1) -> (d0 * 2 + d1)>
#kernel = affine_map<(d0, d1) -> (d1)>
#out = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @init_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<9xf32>, %[[START:.*]]: tensor<4xf32>, %[[G:.*]]: tensor<4xf32> {
// CHECK:         %[[SIZE:.*]] = arith.constant 3 : i8
// CHECK:         %[[INIT:.*]] = linalg.fill ins(%[[SIZE]] : i8)
// CHECK:         %[[AT:.*]] = linalg.generic {{.*}} outs(%[[INIT]] : tensor<4xi8>)
// CHECK:         %[[GX:.*]] = linalg.generic
// CHECK:         %[[GSTART:.*]] = fad.elementwise ins(%[[G]], %[[AT]] :
// CHECK:           %[[NONE:.*]] = arith.constant 3 : i8
// CHECK:           %[[KEPT:.*]] = arith.cmpi eq, %{{.*}}, %[[NONE]]
// CHECK:           arith.select %[[KEPT]]
// CHECK:         return %{{.*}}, %[[GX]], %[[GSTART]]
func.func @init(%x: tensor<9xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %k = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#window, #kernel, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x, %k : tensor<9xf32>, tensor<3xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.minimumf %a, %out : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A window whose size is not known, or takes more than eight bits: evenly.

// CHECK-LABEL: func @unknown_joint(
// CHECK:         linalg.pooling_nwc_max
// CHECK-NOT:     i8
// CHECK:         arith.divf
func.func @unknown(%x: tensor<1x?x1xf32>, %k: tensor<?xf32>, %init: tensor<1x?x1xf32>) -> tensor<1x?x1xf32> {
  %r = linalg.pooling_nwc_max ins(%x, %k : tensor<1x?x1xf32>, tensor<?xf32>) outs(%init : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
  return %r : tensor<1x?x1xf32>
}

// -----

// CHECK-LABEL: func @large_joint(
// CHECK:         linalg.pooling_nwc_max
// CHECK-NOT:     i8
// CHECK:         arith.divf
func.func @large(%x: tensor<1x300x1xf32>, %init: tensor<1x45x1xf32>) -> tensor<1x45x1xf32> {
  %k = tensor.empty() : tensor<256xf32>
  %r = linalg.pooling_nwc_max ins(%x, %k : tensor<1x300x1xf32>, tensor<256xf32>) outs(%init : tensor<1x45x1xf32>) -> tensor<1x45x1xf32>
  return %r : tensor<1x45x1xf32>
}
