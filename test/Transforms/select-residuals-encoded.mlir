// RUN: fad-opt %s --split-input-file --fad-differentiate --fad-select-residuals="policy=auto recompute=nothing" | FileCheck %s

// The derivative of twice x where x is positive is 0 or 2: a bit for each
// element. It is packed next to where it is computed.

// CHECK-LABEL: func.func @rectify_joint(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x9x2xf32>, %[[G:[^:]*]]: tensor<?x9xf32>
// CHECK:         %[[H:.*]] = linalg.reduce
// CHECK:         %[[D:.*]] = fad.elementwise ins(%[[H]] : tensor<?x9xf32>) attributes {fad.adjoint_of = "fad.elementwise"}
// CHECK:         %[[CODES:.*]] = fad.elementwise ins(%[[D]] : tensor<?x9xf32>) -> tensor<?x9xi8>
// CHECK:           arith.bitcast %{{.*}} : f32 to i32
// CHECK:         %[[BYTES:.*]] = fad.pack %[[CODES]] bits 1 : tensor<?x9xi8> -> tensor<?xi8>
// CHECK:         %[[R:.*]] = fad.residual %[[BYTES]] needed_by ["fad.elementwise"] reason "derivative of a region, 1 bit an element" : tensor<?xi8>
// CHECK-NOT:     fad.residual
// CHECK:         %[[N:.*]] = tensor.dim %[[G]]
// CHECK:         %[[NUMBERS:.*]] = fad.unpack %[[R]] bits 1 sizes(%[[N]]) : tensor<?xi8> -> tensor<?x9xi8>
// CHECK:         %[[DECODED:.*]] = fad.elementwise ins(%[[NUMBERS]] : tensor<?x9xi8>) -> tensor<?x9xf32>
// CHECK:         fad.elementwise ins(%{{.*}}, %[[DECODED]] :
// CHECK:         return
func.func @rectify(%x: tensor<?x9x2xf32>) -> tensor<?x9xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x9x2xf32>
  %e = tensor.empty(%n) : tensor<?x9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x9xf32>) -> tensor<?x9xf32>
  %h = linalg.reduce { arith.addf } ins(%x : tensor<?x9x2xf32>)
      outs(%f : tensor<?x9xf32>) dimensions = [2]
  %y = fad.elementwise ins(%h : tensor<?x9xf32>) -> tensor<?x9xf32> {
  ^bb0(%a: f32):
    %none = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %a, %none : f32
    %r = arith.select %positive, %a, %none : f32
    %s = arith.addf %r, %r : f32
    fad.yield %s : f32
  }
  return %y : tensor<?x9xf32>
}

// -----

// More than two values: two bits. The last byte is not full.

// CHECK-LABEL: func.func @sign_joint(
// CHECK:         fad.pack %{{.*}} bits 2 : tensor<5xi8> -> tensor<2xi8>
// CHECK:         fad.residual %{{.*}} needed_by ["fad.elementwise"] reason "derivative of a region, 2 bits an element" : tensor<2xi8>
// CHECK:         fad.unpack %{{.*}} bits 2 : tensor<2xi8> -> tensor<5xi8>
func.func @sign(%x: tensor<5x2xf16>) -> tensor<5xf16> {
  %f = arith.constant dense<0.0> : tensor<5xf16>
  %h = linalg.reduce { arith.addf } ins(%x : tensor<5x2xf16>)
      outs(%f : tensor<5xf16>) dimensions = [1]
  %y = fad.elementwise ins(%h : tensor<5xf16>) -> tensor<5xf16> {
  ^bb0(%a: f16):
    %half = arith.constant 0.5 : f16
    %b = math.absf %a : f16
    %c = arith.mulf %b, %half : f16
    fad.yield %c : f16
  }
  return %y : tensor<5xf16>
}

// -----

// A derivative with many values stays as it is.

// CHECK-LABEL: func.func @smooth_joint(
// CHECK-NOT:     fad.pack
// CHECK:         return
func.func @smooth(%x: tensor<5x2xf32>) -> tensor<5xf32> {
  %f = arith.constant dense<0.0> : tensor<5xf32>
  %h = linalg.reduce { arith.addf } ins(%x : tensor<5x2xf32>)
      outs(%f : tensor<5xf32>) dimensions = [1]
  %y = fad.elementwise ins(%h : tensor<5xf32>) -> tensor<5xf32> {
  ^bb0(%a: f32):
    %s = fad.silu %a : f32
    fad.yield %s : f32
  }
  return %y : tensor<5xf32>
}

// -----

// Positions of maxima: those of a window of two by two take two bits; with an
// init that may be the maximum, there is one more.

// CHECK-LABEL: func.func @pool_joint(
// CHECK:         %[[AT3:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x3x3x2xi8>)
// CHECK:         %[[BYTES3:.*]] = fad.pack %[[AT3]] bits 3 : tensor<1x3x3x2xi8> -> tensor<7xi8>
// CHECK:         %[[AT2:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x3x3x2xi8>)
// CHECK:         %[[BYTES2:.*]] = fad.pack %[[AT2]] bits 2 : tensor<1x3x3x2xi8> -> tensor<5xi8>
// CHECK-DAG:     %[[R3:.*]] = fad.residual %[[BYTES3]] needed_by ["linalg.pooling_nhwc_max"] reason "read by an adjoint, 3 bits an element" : tensor<7xi8>
// CHECK-DAG:     %[[R2:.*]] = fad.residual %[[BYTES2]] needed_by ["linalg.pooling_nhwc_max"] reason "read by an adjoint, 2 bits an element" : tensor<5xi8>
// CHECK-NOT:     fad.residual
// CHECK-DAG:     fad.unpack %[[R2]] bits 2 : tensor<5xi8> -> tensor<1x3x3x2xi8>
// CHECK-DAG:     fad.unpack %[[R3]] bits 3 : tensor<7xi8> -> tensor<1x3x3x2xi8>
// CHECK:         return
func.func @pool(%x: tensor<1x6x6x2x2xf32>, %init: tensor<1x3x3x2xf32>) -> (tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<1x6x6x2xf32>
  %h = linalg.reduce { arith.addf } ins(%x : tensor<1x6x6x2x2xf32>)
      outs(%zero : tensor<1x6x6x2xf32>) dimensions = [4]
  %least = arith.constant dense<0xFF800000> : tensor<1x3x3x2xf32>
  %k = tensor.empty() : tensor<2x2xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%h, %k : tensor<1x6x6x2xf32>, tensor<2x2xf32>) outs(%least : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %s = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%h, %k : tensor<1x6x6x2xf32>, tensor<2x2xf32>) outs(%init : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  return %r, %s : tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>
}
