// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: fma(x, y, z) = x * y + z
// RANGE: x in [-10, 10], y in [-10, 10], z in [-10, 10]
// AT: inf, 0, nan -> 0, inf, 1
// AT: nan, 2, 1 -> 2, nan, 1
func.func @fma(%x: f32, %y: f32, %z: f32) -> f32 {
  %r = math.fma %x, %y, %z : f32
  return %r : f32
}

// CHECK-LABEL: func.func @fma_d0(
// CHECK-SAME: %{{.+}}: f32, %[[Y:.+]]: f32, %{{.+}}: f32) -> f32 {
// CHECK: return %[[Y]] : f32

// CHECK-LABEL: func.func @fma_d1(
// CHECK-SAME: %[[X:.+]]: f32, %{{.+}}: f32, %{{.+}}: f32) -> f32 {
// CHECK: return %[[X]] : f32

// CHECK-LABEL: func.func @fma_d2(
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: return %[[ONE]] : f32
