// RUN: fad-opt %s --fad-differentiate --split-input-file | FileCheck %s
// RUN: fad-opt %s --fad-differentiate=derivatives-from=results --split-input-file | FileCheck %s --check-prefix=RESULTS

// The derivative of a region is computed once, among the primal operations;
// the adjoint multiplies by it.

// CHECK-LABEL: func @chain_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?xf32> {fad.cotangent = 0 : i64})
// CHECK-SAME:    -> (tensor<?xf32>, tensor<?xf32> {fad.gradient = 0 : i64})
// CHECK:         %[[Y:.*]] = fad.elementwise ins(%[[X]]
// CHECK:         %[[D:.*]] = fad.elementwise ins(%[[X]] : tensor<?xf32>) attributes {fad.adjoint_of = "fad.elementwise"}
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32):
// CHECK-DAG:       %[[S:.*]] = math.sin %[[IN]]
// CHECK-DAG:       %[[C:.*]] = math.cos %[[IN]]
// CHECK:           %[[T:.*]] = arith.mulf %[[S]], %[[C]]
// CHECK:           %[[TT:.*]] = arith.addf %[[T]], %[[T]]
// CHECK:           fad.yield %[[TT]]
// CHECK:         %[[GX:.*]] = fad.elementwise ins(%[[G]], %[[D]] : tensor<?xf32>, tensor<?xf32>) attributes {fad.adjoint_of = "fad.elementwise"}
// CHECK:           arith.mulf
// CHECK:         return %[[Y]], %[[GX]]
func.func @chain(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: f32):
    %s = math.sin %a : f32
    %q = arith.mulf %s, %s : f32
    fad.yield %q : f32
  }
  return %y : tensor<?xf32>
}

// -----

// A single operation keeps its own rule, which reads the result.

// CHECK-LABEL: func @single_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[G:.*]]: tensor<4xf32> {
// CHECK:         %[[Y:.*]] = fad.elementwise ins(%[[X]]
// CHECK:           math.exp
// CHECK:         %[[GX:.*]] = fad.elementwise ins(%[[Y]], %[[G]] : tensor<4xf32>, tensor<4xf32>) attributes {fad.adjoint_of = "math.exp"}
// CHECK-NEXT:    ^bb0(%[[YE:.*]]: f32, %[[GE:.*]]: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[GE]], %[[YE]]
// CHECK-NEXT:      fad.yield %[[P]]
// CHECK:         return %[[Y]], %[[GX]]
func.func @single(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    fad.yield %s : f32
  }
  return %y : tensor<4xf32>
}

// -----

// A named activation stands for a chain.

// CHECK-LABEL: func @activation_joint(
// CHECK:         %[[D:.*]] = fad.elementwise ins(%{{.*}}) attributes {fad.adjoint_of = "fad.silu"}
// CHECK:         fad.elementwise ins(%{{.*}}, %[[D]] : tensor<4xf32>, tensor<4xf32>)
func.func @activation(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %s = fad.silu %a : f32
    fad.yield %s : f32
  }
  return %y : tensor<4xf32>
}

// -----

// A derivative that is constant is no tensor.

// CHECK-LABEL: func @linear_joint(
// CHECK-SAME:    %{{.*}}: tensor<4xf32>, %[[G:.*]]: tensor<4xf32> {
// CHECK:         %[[Y:.*]] = fad.elementwise
// CHECK:         %[[GX:.*]] = fad.elementwise ins(%[[G]] : tensor<4xf32>)
// CHECK:           %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:           arith.mulf %{{.*}}, %[[TWO]]
// CHECK:         return %[[Y]], %[[GX]]
func.func @linear(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    %c = arith.constant 3.0 : f32
    %d = arith.addf %b, %c : f32
    fad.yield %d : f32
  }
  return %y : tensor<4xf32>
}

// -----

// A select chooses between tangents: no product with the branch not taken.

// CHECK-LABEL: func @select_joint(
// CHECK:         fad.elementwise ins(%{{.*}}) attributes {fad.adjoint_of = "fad.elementwise"}
// CHECK:           %[[C:.*]] = arith.cmpf ogt
// CHECK:           %[[E:.*]] = math.exp
// CHECK:           %[[D:.*]] = arith.select %[[C]], %{{.*}}, %[[E]]
// CHECK-NEXT:      fad.yield %[[D]]
func.func @select(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %z = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %a, %z : f32
    %e = math.exp %a : f32
    %s = arith.select %c, %a, %e : f32
    fad.yield %s : f32
  }
  return %y : tensor<4xf32>
}

// -----

// Narrow types: the derivative is computed in f32 and rounded once.

// CHECK-LABEL: func @narrow_joint(
// CHECK:         fad.elementwise ins(%{{.*}} : tensor<4xbf16>) attributes {fad.adjoint_of = "fad.elementwise"} -> tensor<4xbf16> {
// CHECK:           arith.extf %{{.*}} : bf16 to f32
// CHECK:           %[[D:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT:      fad.yield %[[D]] : bf16
func.func @narrow(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %y = fad.elementwise ins(%x : tensor<4xbf16>) -> tensor<4xbf16> {
  ^bb0(%a: bf16):
    %s = math.sin %a : bf16
    %q = arith.mulf %s, %a : bf16
    fad.yield %q : bf16
  }
  return %y : tensor<4xbf16>
}

// -----

// Several sources, several results, a value used twice; cotangents add up.

// CHECK-LABEL: func @sources_joint(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>, %[[G0:.*]]: tensor<4xf32> {fad.cotangent = 0 : i64}, %[[G1:.*]]: tensor<4xf32> {fad.cotangent = 1 : i64})
// CHECK:         %[[GA:.*]] = fad.elementwise ins(%[[B]], %[[G0]]
// CHECK:         %[[GB:.*]] = fad.elementwise ins(%[[A]], %[[G0]]
// CHECK:         %[[SUM:.*]] = fad.elementwise ins(%[[G1]], %[[GA]]
// CHECK:           arith.addf
// CHECK:         return %{{.*}}, %[[A]], %[[SUM]], %[[GB]]
func.func @sources(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = arith.mulf %a, %b : tensor<4xf32>
  return %y, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// No result depends on %b; integers have no cotangent.

// CHECK-LABEL: func @unused_joint(
// CHECK-SAME:    %[[A:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<?xf32>, %[[I:.*]]: tensor<4xi32>, %[[G:.*]]: tensor<?xf32> {fad.cotangent = 0 : i64})
// CHECK-SAME:    -> (tensor<?xf32>, tensor<4xi32>, tensor<?xf32> {fad.gradient = 0 : i64}, tensor<?xf32> {fad.gradient = 1 : i64})
// CHECK:         %[[DIM:.*]] = tensor.dim %[[B]]
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[DIM]])
// CHECK:         %[[ZERO:.*]] = linalg.fill ins(%{{.*}}) outs(%[[EMPTY]]
// CHECK:         return %[[A]], %[[I]], %[[G]], %[[ZERO]]
func.func @unused(%a: tensor<?xf32>, %b: tensor<?xf32>, %i: tensor<4xi32>) -> (tensor<?xf32>, tensor<4xi32>) {
  return %a, %i : tensor<?xf32>, tensor<4xi32>
}

// -----

// The request of a function decides that it is differentiated, and with respect
// to what.

// CHECK-LABEL: func @request_joint(
// CHECK-SAME:    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 1 : i64})
// CHECK-NOT:     fad.request
func.func @request(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32>
    attributes {fad.request = #fad.request<wrt = [1]>} {
  %y = arith.mulf %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @other(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// As a tape would: tanh is read off its result.

// RESULTS-LABEL: func @tape_joint(
// RESULTS:         fad.elementwise ins(%{{.*}}) attributes {fad.adjoint_of = "fad.elementwise"}
// RESULTS:           %[[T:.*]] = math.tanh
// RESULTS-NOT:       math.cosh
// RESULTS-NOT:       math.exp
// RESULTS:           arith.subf %{{.*}}, %[[T]]
func.func @tape(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %t = math.tanh %a : f32
    %q = arith.mulf %a, %t : f32
    fad.yield %q : f32
  }
  return %y : tensor<4xf32>
}
