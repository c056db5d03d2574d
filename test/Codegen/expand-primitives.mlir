// RUN: fad-opt %s -fad-expand-primitives -cse -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @sigmoid(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @sigmoid(%x: f32) -> f32 {
  // CHECK-DAG:  %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
  // CHECK-DAG:  %[[ONE:.*]] = arith.constant 1.0{{.*}} : f32
  // CHECK:      %[[ABS:.*]] = math.absf %[[X]] : f32
  // CHECK-NEXT: %[[NEG:.*]] = arith.negf %[[ABS]] : f32
  // CHECK-NEXT: %[[E:.*]] = math.exp %[[NEG]] : f32
  // CHECK-NEXT: %[[LESS:.*]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
  // CHECK-NEXT: %[[NUM:.*]] = arith.select %[[LESS]], %[[E]], %[[ONE]] : f32
  // CHECK-NEXT: %[[DEN:.*]] = arith.addf %[[E]], %[[ONE]] : f32
  // CHECK-NEXT: %[[Y:.*]] = arith.divf %[[NUM]], %[[DEN]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.sigmoid %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @softplus(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @softplus(%x: f32) -> f32 {
  // CHECK:      %[[MAX:.*]] = arith.maximumf %[[X]], %{{.*}} : f32
  // CHECK:      %[[E:.*]] = math.exp %{{.*}} : f32
  // CHECK-NEXT: %[[LOG:.*]] = math.log1p %[[E]] : f32
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[MAX]], %[[LOG]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.softplus %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @softplus_threshold(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @softplus_threshold(%x: f32) -> f32 {
  // CHECK-DAG:  %[[T:.*]] = arith.constant 2.000000e+01 : f32
  // CHECK:      %[[Y:.*]] = arith.addf
  // CHECK-NEXT: %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %[[T]] : f32
  // CHECK-NEXT: %[[R:.*]] = arith.select %[[ABOVE]], %[[X]], %[[Y]] : f32
  // CHECK-NEXT: return %[[R]]
  %y = fad.softplus %x threshold 20.0 : f32
  return %y : f32
}

// CHECK-LABEL: func.func @relu(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @relu(%x: f32) -> f32 {
  // CHECK:      %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
  // CHECK-NEXT: %[[Y:.*]] = arith.maximumf %[[X]], %[[ZERO]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.relu %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @leaky_relu(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @leaky_relu(%x: f32) -> f32 {
  // CHECK-DAG:  %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
  // CHECK-DAG:  %[[SLOPE:.*]] = arith.constant 2.0{{.*}}e-01 : f32
  // CHECK-DAG:  %[[POSITIVE:.*]] = arith.cmpf ogt, %[[X]], %[[ZERO]] : f32
  // CHECK-DAG:  %[[LEAK:.*]] = arith.mulf %[[X]], %[[SLOPE]] : f32
  // CHECK:      %[[Y:.*]] = arith.select %[[POSITIVE]], %[[X]], %[[LEAK]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.leaky_relu %x slope 0.2 : f32
  return %y : f32
}

// CHECK-LABEL: func.func @elu(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @elu(%x: f32) -> f32 {
  // CHECK-DAG:  %[[ALPHA:.*]] = arith.constant 5.0{{.*}}e-01 : f32
  // CHECK-DAG:  %[[EXPM1:.*]] = math.expm1 %[[X]] : f32
  // CHECK-DAG:  %[[NEGATIVE:.*]] = arith.mulf %[[EXPM1]], %[[ALPHA]] : f32
  // CHECK-DAG:  %[[POSITIVE:.*]] = arith.cmpf ogt, %[[X]], %{{.*}} : f32
  // CHECK:      %[[Y:.*]] = arith.select %[[POSITIVE]], %[[X]], %[[NEGATIVE]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.elu %x alpha 0.5 : f32
  return %y : f32
}

// CHECK-LABEL: func.func @silu(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @silu(%x: f32) -> f32 {
  // CHECK:      %[[S:.*]] = arith.divf
  // CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[S]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.silu %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @gelu(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @gelu(%x: f32) -> f32 {
  // CHECK-DAG:  %[[HALF:.*]] = arith.constant 5.0{{.*}}e-01 : f32
  // CHECK-DAG:  %[[ONE:.*]] = arith.constant 1.0{{.*}} : f32
  // CHECK-DAG:  %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
  // CHECK-DAG:  %[[EDGE:.*]] = arith.constant 1.500000e+01 : f32
  // CHECK-DAG:  %[[C:.*]] = arith.constant 0.707106769 : f32
  // CHECK-NOT:  math.erf %
  // CHECK:      %[[ABS:.*]] = math.absf %[[X]] : f32
  // CHECK-NEXT: %[[SIZE:.*]] = arith.minimumf %[[ABS]], %[[EDGE]] : f32
  // CHECK-NEXT: %[[Z:.*]] = arith.mulf %[[SIZE]], %[[C]] : f32
  // CHECK-NEXT: %[[ERFC:.*]] = math.erfc %[[Z]] : f32
  // CHECK-NEXT: %[[TAIL:.*]] = arith.mulf %[[ERFC]], %[[HALF]] : f32
  // CHECK-NEXT: %[[NEGATIVE:.*]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
  // CHECK-NEXT: %[[REST:.*]] = arith.subf %[[ONE]], %[[TAIL]] : f32
  // CHECK-NEXT: %[[PHI:.*]] = arith.select %[[NEGATIVE]], %[[TAIL]], %[[REST]] : f32
  // CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[PHI]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.gelu %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @gelu_tanh(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @gelu_tanh(%x: f32) -> f32 {
  // CHECK-DAG:  %[[A:.*]] = arith.constant 1.59576917 : f32
  // CHECK-DAG:  %[[B:.*]] = arith.constant 0.0713548139 : f32
  // CHECK-NOT:  math.tanh
  // CHECK:      %[[TOP:.*]] = arith.minimumf %[[X]], %{{.*}} : f32
  // CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %[[TOP]], %[[TOP]] : f32
  // CHECK-NEXT: %[[TERM:.*]] = arith.mulf %[[SQUARE]], %[[B]] : f32
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[TERM]], %[[A]] : f32
  // CHECK-NEXT: %[[Z:.*]] = arith.mulf %[[TOP]], %[[SUM]] : f32
  // CHECK-NEXT: math.absf %[[Z]] : f32
  // CHECK:      %[[S:.*]] = arith.divf
  // CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[S]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.gelu %x approximate <tanh> : f32
  return %y : f32
}

// CHECK-LABEL: func.func @mish(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @mish(%x: f32) -> f32 {
  // CHECK:      math.exp
  // CHECK-NOT:  math.
  // CHECK:      %[[RATIO:.*]] = arith.divf
  // CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[RATIO]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.mish %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @hardsigmoid(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @hardsigmoid(%x: f32) -> f32 {
  // CHECK:      %[[SUM:.*]] = arith.addf %[[X]], %{{.*}} : f32
  // CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[SUM]], %{{.*}} : f32
  // CHECK-NEXT: %[[MIN:.*]] = arith.minimumf %[[MAX]], %[[SIX:.*]] : f32
  // CHECK-NEXT: %[[Y:.*]] = arith.divf %[[MIN]], %[[SIX]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.hardsigmoid %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @hardswish(
// CHECK-SAME:    %[[X:[^:]*]]: f32)
func.func @hardswish(%x: f32) -> f32 {
  // CHECK:      %[[H:.*]] = arith.divf
  // CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[H]] : f32
  // CHECK-NEXT: return %[[Y]]
  %y = fad.hardswish %x : f32
  return %y : f32
}

// Narrow types are extended once and rounded once.
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME:    %[[X:[^:]*]]: bf16)
func.func @narrow(%x: bf16) -> bf16 {
  // CHECK:      %[[WIDE:.*]] = arith.extf %[[X]] : bf16 to f32
  // CHECK-NOT:  bf16
  // CHECK:      %[[Y:.*]] = arith.mulf %[[WIDE]], %{{.*}} : f32
  // CHECK-NEXT: %[[R:.*]] = arith.truncf %[[Y]] : f32 to bf16
  // CHECK-NEXT: return %[[R]]
  %y = fad.silu %x : bf16
  return %y : bf16
}

// CHECK-LABEL: func.func @vector(
func.func @vector(%x: vector<2x[4]xf16>) -> vector<2x[4]xf16> {
  // CHECK: arith.constant dense<0.0{{.*}}> : vector<2x[4]xf32>
  // CHECK: arith.extf %{{.*}} : vector<2x[4]xf16> to vector<2x[4]xf32>
  // CHECK: arith.truncf %{{.*}} : vector<2x[4]xf32> to vector<2x[4]xf16>
  %y = fad.relu %x : vector<2x[4]xf16>
  return %y : vector<2x[4]xf16>
}

// CHECK-LABEL: func.func @tensor(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x4xf64>)
func.func @tensor(%x: tensor<?x4xf64>) -> tensor<?x4xf64> {
  // CHECK:      %[[DIM:.*]] = tensor.dim %[[X]]
  // CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty(%[[DIM]]) : tensor<?x4xf64>
  // CHECK-NEXT: %[[Y:.*]] = linalg.generic
  // CHECK-SAME:   ins(%[[X]] : tensor<?x4xf64>) outs(%[[EMPTY]] : tensor<?x4xf64>)
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: f64, %{{.*}}: f64):
  // CHECK-NEXT:   %[[R:.*]] = arith.maximumf %[[IN]], %{{.*}} : f64
  // CHECK-NEXT:   linalg.yield %[[R]] : f64
  // CHECK:      return %[[Y]]
  %y = fad.relu %x : tensor<?x4xf64>
  return %y : tensor<?x4xf64>
}

// CHECK-LABEL: func.func @fastmath(
func.func @fastmath(%x: f32) -> f32 {
  // CHECK: math.absf %{{.*}} fastmath<contract,afn> : f32
  // CHECK: math.exp %{{.*}} fastmath<contract,afn> : f32
  // CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<contract,afn> : f32
  %y = fad.sigmoid %x fastmath<contract,afn> : f32
  return %y : f32
}

// In the body of an fad.elementwise, and where control flow never comes.
// CHECK-LABEL: func.func @nested(
// CHECK-NOT:     fad.relu
func.func @nested(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  // CHECK: fad.elementwise
  // CHECK: arith.maximumf
  %0 = fad.elementwise ins(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    %1 = fad.relu %a : f32
    fad.yield %1 : f32
  }
  return %0 : tensor<4xf32>
^unreachable:
  %2 = fad.relu %s : f32
  return %x : tensor<4xf32>
}
