// RUN: fad-opt %s -fad-math-to-libm | FileCheck %s
// Executed in test/Pipelines/to-cpu-math.mlir and below.

// CHECK-DAG: func.func private @expm1f(f32) -> f32 attributes {llvm.readnone}
// CHECK-DAG: func.func private @log1p(f64) -> f64 attributes {llvm.readnone}

// CHECK-LABEL: func.func @calls(
func.func @calls(%x: f32, %y: f64) -> (f32, f64) {
  // CHECK: call @expm1f(%{{.*}}) : (f32) -> f32
  %0 = math.expm1 %x : f32
  // CHECK: call @log1p(%{{.*}}) : (f64) -> f64
  %1 = math.log1p %y : f64
  return %0, %1 : f32, f64
}

// CHECK-LABEL: func.func @vector(
// CHECK-COUNT-2: call @expm1f
func.func @vector(%x: vector<2xf32>) -> vector<2xf32> {
  %0 = math.expm1 %x : vector<2xf32>
  return %0 : vector<2xf32>
}

// A function may have the name of one of libm that nothing calls, and keeps its
// callers; a declaration of libm's own function is used.
// CHECK-LABEL: func.func @cosf(
// CHECK:         call @sin(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:         call @cos(%{{.*}}) : (f64) -> f64
func.func private @cos(f64) -> f64
func.func private @sin(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @cosf(%x: tensor<4xf32>, %y: f64) -> (tensor<4xf32>, f64) {
  %0 = call @sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = math.cos %y : f64
  return %0, %1 : tensor<4xf32>, f64
}

// Processors have these, in f32 and f64.
// CHECK-LABEL: func.func @instructions(
// CHECK-NOT:     call
// CHECK:         llvm.intr.fabs(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.intr.sqrt(%{{.*}}) : (f64) -> f64
// CHECK:         llvm.intr.fma(%{{.*}}) : (vector<4xf32>
// CHECK-NOT:     call
// CHECK:         return
func.func @instructions(%x: f32, %y: f64, %z: vector<4xf32>) -> (f32, f64, vector<4xf32>) {
  %0 = math.absf %x : f32
  %1 = math.sqrt %y : f64
  %2 = math.fma %z, %z, %z : vector<4xf32>
  return %0, %1, %2 : f32, f64, vector<4xf32>
}

// LLVM 22's vectorizer loses elements of reductions by minnum and maxnum.
// CHECK-LABEL: func.func @minmaxnum(
// CHECK-SAME:    %[[X:[^:]*]]: f32, %[[Y:[^:]*]]: f32, %[[H:[^:]*]]: f16, %[[I:[^:]*]]: f16, %[[V:[^:]*]]: vector<4xf64>, %[[W:[^:]*]]: vector<4xf64>)
func.func @minmaxnum(%x: f32, %y: f32, %h: f16, %i: f16, %v: vector<4xf64>, %w: vector<4xf64>) -> (f32, f16, vector<4xf64>) {
  // CHECK: llvm.call_intrinsic "llvm.minimumnum"(%[[X]], %[[Y]]) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
  %0 = arith.minnumf %x, %y : f32
  // CHECK: llvm.call_intrinsic "llvm.maximumnum"(%[[H]], %[[I]]) {fastmathFlags = #llvm.fastmath<nsz>} : (f16, f16) -> f16
  %1 = arith.maxnumf %h, %i : f16
  // CHECK: llvm.call_intrinsic "llvm.maximumnum"(%[[V]], %[[W]]) {fastmathFlags = #llvm.fastmath<nnan, nsz>} : (vector<4xf64>, vector<4xf64>) -> vector<4xf64>
  %2 = arith.maxnumf %v, %w fastmath<nnan> : vector<4xf64>
  return %0, %1, %2 : f32, f16, vector<4xf64>
}

// LLVM has no vectors of vectors, and makes no vectors of loops over vectors.
// CHECK-LABEL: func.func @vectors_of_vectors(
func.func @vectors_of_vectors(%x: vector<2x4xf32>, %y: vector<2x4xf32>) -> vector<2x4xf32> {
  // CHECK: arith.minnumf
  %0 = arith.minnumf %x, %y : vector<2x4xf32>
  return %0 : vector<2x4xf32>
}

// libm has neither; what they become may have instructions.
// CHECK-LABEL: func.func @expanded(
func.func @expanded(%x: f32, %n: i32) -> (f32, f32) {
  // CHECK: %[[ROOT:.*]] = llvm.intr.sqrt(%{{.*}}) : (f32) -> f32
  // CHECK: arith.divf %{{.*}}, %[[ROOT]]
  %0 = math.rsqrt %x : f32
  // CHECK: %[[N:.*]] = arith.sitofp
  // CHECK: call @powf(%{{.*}}, %[[N]])
  %1 = math.fpowi %x, %n : f32, i32
  return %0, %1 : f32, f32
}

// From f64 to bf16 in two steps, of which the first rounds to odd.
// CHECK-LABEL: func.func @round(
// CHECK-SAME:    %[[X:[^:]*]]: f64)
// CHECK:         arith.truncf %[[X]] : f64 to f32
// CHECK-NOT:     to bf16
// CHECK:         arith.bitcast %{{.*}} : i16 to bf16
func.func @round(%x: f64) -> bf16 {
  %0 = arith.truncf %x : f64 to bf16
  return %0 : bf16
}
