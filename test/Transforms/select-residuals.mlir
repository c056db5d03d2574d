// RUN: fad-opt %s --fad-differentiate=derivatives-from=results --fad-select-residuals=policy=bp --split-input-file | FileCheck %s --check-prefixes=CHECK,BP
// RUN: fad-opt %s --fad-differentiate --fad-select-residuals=policy=recompute --split-input-file | FileCheck %s --check-prefixes=CHECK,RECOMPUTE
// RUN: fad-opt %s --fad-differentiate --fad-select-residuals=policy=fad --split-input-file | FileCheck %s --check-prefixes=CHECK,FAD

// x * sigmoid(x), whose two operations were tensors: a tape saves x and the
// sigmoid; recomputation x; fad the derivative. All of them save the operand of
// the contraction, or what it is computed from.

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
// CHECK-LABEL: func @swish_joint(
// CHECK-SAME:    %[[X0:[^:]*]]: tensor<?xf32>, %[[B:[^:]*]]: tensor<?xf32>, %[[G:[^:]*]]: tensor<f32> {fad.cotangent

// CHECK:         %[[X:.*]] = linalg.generic
// BP:            %[[Y:.*]]:2 = fad.elementwise ins(%[[X]]
// BP-DAG:        fad.residual %[[Y]]#0 needed_by ["linalg.dot"] reason "read by an adjoint" : tensor<?xf32>
// BP-DAG:        fad.residual %[[X]] needed_by ["fad.elementwise"] reason "value on the tape" : tensor<?xf32>
// BP-DAG:        fad.residual %[[Y]]#1 needed_by ["fad.elementwise"] reason "value on the tape" : tensor<?xf32>

// RECOMPUTE:     fad.elementwise ins(%[[X]]
// RECOMPUTE-NOT: fad.residual
// RECOMPUTE:     %[[RX:.*]] = fad.residual %[[X]] needed_by ["linalg.dot", "fad.elementwise"] reason "source of a region" : tensor<?xf32>
// RECOMPUTE-NOT: fad.residual
// RECOMPUTE-DAG: fad.elementwise ins(%[[RX]] : tensor<?xf32>)
// RECOMPUTE-DAG: fad.elementwise ins(%[[RX]] : tensor<?xf32>)
// RECOMPUTE-NOT: fad.residual

// FAD:           %[[Y:.*]] = fad.elementwise ins(%[[X]]
// FAD:           %[[D:.*]] = fad.elementwise ins(%[[X]]
// FAD-DAG:       fad.residual %[[Y]] needed_by ["linalg.dot"] reason "read by an adjoint" : tensor<?xf32>
// FAD-DAG:       %[[RD:.*]] = fad.residual %[[D]] needed_by ["fad.elementwise"] reason "derivative of a region" : tensor<?xf32>
// FAD:           fad.elementwise ins(%{{.*}}, %[[RD]] :
// CHECK-NOT:     fad.tape
// CHECK:         return
func.func @swish(%x0: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<f32> {
  %x = arith.addf %x0, %b : tensor<?xf32>
  %y = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: f32):
    %s = fad.sigmoid %a {fad.tape} : f32
    %m = arith.mulf %a, %s {fad.tape} : f32
    fad.yield %m : f32
  }
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.dot ins(%y, %y : tensor<?xf32>, tensor<?xf32>) outs(%f : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// Arguments and results are alive anyway: they say so. Transposes are computed
// again from them.

// CHECK-LABEL: func @free_joint(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4x4xf32>, %[[W:[^:]*]]: tensor<4x4xf32>
// CHECK:         %[[Y:.*]] = fad.elementwise
// CHECK-DAG:     %[[RW:.*]] = fad.residual %[[W]] needed_by ["linalg.matmul"] reason "argument"
// CHECK-DAG:     fad.residual %[[Y]] needed_by [{{.*}}] reason "result"
// CHECK-DAG:     linalg.transpose ins(%[[RW]]
func.func @free(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %y = fad.elementwise ins(%x : tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    fad.yield %s : f32
  }
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.matmul ins(%y, %t : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y, %m : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A size is read off a cotangent or a residual, and saved where neither has it.

// CHECK-LABEL: func @sizes_joint(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xf32>, %[[U:[^:]*]]: tensor<?xf32>, %[[G:[^:]*]]: tensor<?xf32> {
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[U]]
// CHECK:         %[[R:.*]] = fad.residual %[[SIZE]] needed_by [] reason "size" : index
// CHECK:         tensor.empty(%[[R]]) : tensor<?xf32>
func.func @sizes(%x: tensor<?xf32>, %u: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// What is not a joint function is left alone.

// CHECK-LABEL: func @plain_joint(
// CHECK:       func private @other(
// CHECK-NEXT:    return
func.func @plain(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func private @other(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// A scalar that the derivative does not read does not hide the tape.

// BP-LABEL: func @scalar_joint(
// BP-SAME:    %[[X:[^:]*]]: tensor<4xf32>
// BP:         %[[Y:.*]]:2 = fad.elementwise ins(%[[X]], %{{.*}} : tensor<4xf32>, f32) -> tensor<4xf32>, tensor<4xf32> {
// BP:         fad.residual %[[Y]]#1 needed_by ["fad.elementwise"] reason "value on the tape"
// BP:         return
func.func @scalar(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %y = fad.elementwise ins(%x, %s : tensor<4xf32>, f32) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = math.tanh %a {fad.tape} : f32
    %q = arith.mulf %t, %t {fad.tape} : f32
    %m = arith.addf %q, %b {fad.tape} : f32
    fad.yield %m : f32
  }
  return %y : tensor<4xf32>
}

// -----

// What an adjoint computes from integers is no derivative, and is part of
// backward.

// CHECK-LABEL: func @rows_joint(
// CHECK:         fad.residual %{{.*}} needed_by ["linalg.generic"] reason "argument" : tensor<8xi64>
#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @rows(%table: tensor<50x16xf32>, %ids: tensor<8xi64>) -> tensor<8x16xf32> {
  %empty = tensor.empty() : tensor<8x16xf32>
  %one = arith.constant 1 : i64
  %r = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<8xi64>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%id: i64, %out: f32):
    %next = arith.addi %id, %one : i64
    %i = arith.index_cast %next : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %table[%i, %j] : tensor<50x16xf32>
    linalg.yield %element : f32
  } -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
