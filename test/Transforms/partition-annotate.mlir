// RUN: fad-opt %s --fad-partition=annotate-only | FileCheck %s

// CHECK-LABEL: func @annotate(
// CHECK:         math.tanh %{{.*}} {fad.class = #fad.class<fad>, fad.region = 0 : i64}
// CHECK:         arith.mulf %{{.*}} {fad.class = #fad.class<nfad>} : tensor<4xf32>
// CHECK:         math.exp %{{.*}} {fad.class = #fad.class<fad>, fad.region = 0 : i64}
// CHECK:         arith.negf %{{.*}} {fad.class = #fad.class<fad>, fad.region = 1 : i64}
func.func @annotate(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = math.tanh %x : tensor<4xf32>
  %m = arith.mulf %t, %w : tensor<4xf32>
  %e = math.exp %t : tensor<4xf32>
  %n = arith.negf %m : tensor<4xf32>
  return %n, %e : tensor<4xf32>, tensor<4xf32>
}
