// RUN: fad-opt %s --fad-promote | FileCheck %s

// The value is that of f64 with the constants as they are in f32.
// RUN: fad-opt %s --fad-promote | fad-runner - --entry=scalars --arg=0.5 --arg=2 --arg=0 --out=%t
// RUN: %python %S/../fad-runner/Inputs/check_arrays.py %t \
// RUN:   'close(out0, (0.5 + np.float64(np.float32(0.1))) * 0.1 / 2, 1e-16)'

// Types of functions, blocks and operations; constants keep their value.
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: f64, %[[N:[a-z0-9]+]]: i32, %[[Y:[a-z0-9]+]]: f64) -> (f64, i32)
// CHECK-DAG:     %[[TENTH:.*]] = arith.constant 0.10000000149011612 : f64
// CHECK-DAG:     %[[EXACT:.*]] = arith.constant 1.000000e-01 : f64
// CHECK:         %[[A:.*]] = arith.addf %[[X]], %[[TENTH]] fastmath<contract> : f64
// CHECK-NEXT:    %[[B:.*]] = arith.mulf %[[A]], %[[EXACT]] : f64
// CHECK-NEXT:    %[[INT:.*]] = arith.sitofp %[[N]] : i32 to f64
// CHECK-NEXT:    %[[C:.*]] = arith.divf %[[B]], %[[INT]] : f64
// CHECK-NEXT:    return %[[C]], %[[N]]
func.func @scalars(%x: f32, %n: i32, %y: f64) -> (f16, i32) {
  %tenth = arith.constant 0.1 : f32
  %exact = arith.constant 0.1 : f64
  %a = arith.addf %x, %tenth fastmath<contract> : f32
  %wide = arith.extf %a : f32 to f64
  %b = arith.mulf %wide, %exact : f64
  %narrow = arith.truncf %b : f64 to f16
  %int = arith.sitofp %n : i32 to f16
  %c = arith.divf %narrow, %int : f16
  return %c, %n : f16, i32
}

// CHECK-LABEL: func.func @constants
// CHECK:         dense<[1.000000e+00, 0.10009765625]> : tensor<2xf64>
// CHECK:         dense<0.0999755859375> : tensor<2xf64>
// CHECK:         dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>
// CHECK:         dense<5.000000e-01> : tensor<3xf64>
// CHECK:         dense<[1, 2]> : tensor<2xi32>
// CHECK:         dense<> : tensor<0xf64>
func.func @constants() -> (tensor<2xbf16>, tensor<2xf16>, tensor<2xf32>, tensor<3xf32>,
    tensor<2xi32>, tensor<0xf32>) {
  %0 = arith.constant dense<[1.0, 0.1]> : tensor<2xbf16>
  %1 = arith.constant dense<0.1> : tensor<2xf16>
  %2 = arith.constant dense_resource<two> : tensor<2xf32>
  %3 = arith.constant dense_resource<splat> : tensor<3xf32>
  %4 = arith.constant dense<[1, 2]> : tensor<2xi32>
  %5 = arith.constant dense<> : tensor<0xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2xbf16>, tensor<2xf16>, tensor<2xf32>,
      tensor<3xf32>, tensor<2xi32>, tensor<0xf32>
}

// Operations with regions; attributes that fix their own type stay.
// CHECK-LABEL: func.func @regions(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: tensor<?x4xf64>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<?x4xf64>) outs(%{{.*}} : tensor<?x4xf64>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT:      %[[Y:.*]] = fad.elu %[[IN]] alpha 1.000000e-01 : f64
// CHECK-NEXT:      linalg.yield %[[Y]] : f64
// CHECK:         linalg.fill ins(%{{.*}} : f64) outs(%{{.*}} : tensor<?x4xf64>)
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @regions(%x: tensor<?x4xbf16>) -> (tensor<?x4xbf16>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x4xbf16>
  %empty = tensor.empty(%rows) : tensor<?x4xbf16>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xbf16>) outs(%empty : tensor<?x4xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %wide = arith.extf %in : bf16 to f32
    %e = fad.elu %wide alpha 0.1 : f32
    %narrow = arith.truncf %e : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<?x4xbf16>
  %wideEmpty = tensor.empty(%rows) : tensor<?x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%wideEmpty : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y, %fill : tensor<?x4xbf16>, tensor<?x4xf32>
}

// Wider types stay.
// CHECK-LABEL: func.func @wide(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: f64) -> f128
// CHECK-NEXT:    %[[Y:.*]] = arith.extf %[[X]] : f64 to f128
func.func @wide(%x: f32) -> f128 {
  %y = arith.extf %x : f32 to f128
  return %y : f128
}

{-#
  dialect_resources: {
    builtin: {
      two: "0x040000000000803F00000040",
      splat: "0x040000000000003F"
    }
  }
#-}
