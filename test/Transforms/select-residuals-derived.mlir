// RUN: fad-opt %s --fad-differentiate=entry=scale \
// RUN:   --fad-select-residuals=policy=fad | FileCheck %s --check-prefix=SCALE
// RUN: fad-opt %s --fad-differentiate=entry=scale \
// RUN:   --fad-select-residuals=policy=bp | FileCheck %s --check-prefix=TAPE
// RUN: fad-opt %s --fad-differentiate=entry=widened \
// RUN:   --fad-select-residuals=policy=fad | FileCheck %s --check-prefix=WIDE
// RUN: fad-opt %s --fad-differentiate=entry=activated \
// RUN:   --fad-select-residuals=policy=fad | FileCheck %s --check-prefix=FAD
// RUN: fad-opt %s --fad-differentiate=entry=activated \
// RUN:   --fad-select-residuals=policy=recompute \
// RUN:   | FileCheck %s --check-prefix=RECOMPUTE

// RUN: fad-opt %s --fad-differentiate=entry=row \
// RUN:   --fad-select-residuals=policy=fad | FileCheck %s --check-prefix=ROW

// RUN: fad-runner %s --entry=scale --policy=fad --size=5 --check-gradients
// RUN: fad-runner %s --entry=widened --policy=fad --size=5 --check-gradients
// RUN: fad-runner %s --entry=widened --policy=recompute --size=1 \
// RUN:   --check-gradients
// RUN: fad-runner %s --entry=activated --policy=recompute --check-gradients

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
#column = affine_map<(d0, d1) -> (d1)>

// Two products by tensors of fewer elements: both are read by an adjoint. What
// they derive from is kept in their place, and it is an operand that the
// second contraction leaves alone.

// SCALE-LABEL: func.func @scale_joint
// SCALE-SAME:    (%[[X:.*]]: tensor<?x4xf32>, %[[S:.*]]: tensor<?x1xf32>, %[[G:.*]]: tensor<4xf32>,
// SCALE:         %[[M:.*]] = linalg.matmul
// SCALE:         %[[KEPT:.*]] = fad.residual %[[M]]
// SCALE-NOT:     fad.residual {{.*}} reason "read by an adjoint" : tensor<?x4xf32>
// SCALE:         %[[AGAIN:.*]] = linalg.generic {{.*}} ins(%[[KEPT]], %{{.*}} : tensor<?x4xf32>, tensor<?x1xf32>)
// SCALE:         linalg.generic {{.*}} ins(%[[AGAIN]], %{{.*}} : tensor<?x4xf32>, tensor<4xf32>)

// A tape keeps both products and what they are products of.
// TAPE-LABEL:  func.func @scale_joint
// TAPE-COUNT-3: fad.residual {{.*}} : tensor<?x4xf32>
func.func @scale(%x: tensor<?x4xf32>, %s: tensor<?x1xf32>, %g: tensor<4xf32>,
                 %w: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%d) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x4xf32>)
    outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %a = linalg.generic {indexing_maps = [#id, #row, #id],
                       iterator_types = ["parallel", "parallel"]}
    ins(%m, %s : tensor<?x4xf32>, tensor<?x1xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %p = arith.mulf %in, %by : f32
    linalg.yield %p : f32
  } -> tensor<?x4xf32>
  %b = linalg.generic {indexing_maps = [#id, #column, #id],
                       iterator_types = ["parallel", "parallel"]}
    ins(%a, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %p = arith.mulf %in, %by : f32
    linalg.yield %p : f32
  } -> tensor<?x4xf32>
  %r = linalg.matmul ins(%b, %w : tensor<?x4xf32>, tensor<4x4xf32>)
    outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// A value that is wider than what it derives from is not kept, even if it is
// the only one.

// WIDE-LABEL:  func.func @widened_joint
// WIDE:          fad.residual {{.*}} : tensor<?x4xf32>
// WIDE-NOT:      fad.residual {{.*}} : tensor<?x4xf64>
func.func @widened(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>,
                   %g: tensor<4xf32>) -> tensor<?x4xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%d) : tensor<?x4xf32>
  %e64 = tensor.empty(%d) : tensor<?x4xf64>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x4xf32>)
    outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %m64 = arith.extf %m : tensor<?x4xf32> to tensor<?x4xf64>
  %shifted = linalg.generic {indexing_maps = [#id, #column, #id],
                             iterator_types = ["parallel", "parallel"]}
    ins(%m64, %g : tensor<?x4xf64>, tensor<4xf32>)
    outs(%e64 : tensor<?x4xf64>) {
  ^bb0(%in: f64, %by: f32, %out: f64):
    %by64 = arith.extf %by : f32 to f64
    %p = arith.subf %in, %by64 : f64
    linalg.yield %p : f64
  } -> tensor<?x4xf64>
  %square = arith.mulf %shifted, %shifted : tensor<?x4xf64>
  return %square : tensor<?x4xf64>
}

// Under `fad` an activation is not computed again, though its input is kept
// for another reason; under `recompute` it is.

// FAD-LABEL: func.func @activated_joint
// FAD:         %[[M:.*]] = linalg.matmul
// FAD:         %[[Y:.*]] = fad.elementwise ins(%[[M]]
// FAD:         fad.residual %[[Y]]

// RECOMPUTE-LABEL: func.func @activated_joint
// RECOMPUTE:         %[[M:.*]] = linalg.matmul
// RECOMPUTE:         %[[KEPT:.*]] = fad.residual %[[M]] {{.*}} : tensor<4x4xf32>
// RECOMPUTE-NOT:     reason "{{read|source|derivative}}
// RECOMPUTE:         fad.elementwise ins(%[[KEPT]]
func.func @activated(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>)
    -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>)
    outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = fad.elementwise ins(%m : tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%in: f32):
    %s = fad.silu %in : f32
    fad.yield %s : f32
  }
  %p = arith.mulf %m, %m : tensor<4x4xf32>
  %q = linalg.matmul ins(%y, %p : tensor<4x4xf32>, tensor<4x4xf32>)
    outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %q : tensor<4x4xf32>
}

// A row is no small tensor beside a matrix of two rows: both values are kept,
// rather than one of them and the row.

// ROW-LABEL: func.func @row_joint
// ROW-COUNT-2: fad.residual {{.*}} : tensor<2x4xf32>
// ROW-NOT:     fad.residual {{.*}} : tensor<4xf32>
func.func @row(%x: tensor<2x4xf32>, %g: tensor<4xf32>, %w: tensor<4x4xf32>)
    -> tensor<2x4xf32> attributes {fad.request = #fad.request<wrt = [2]>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %row = math.exp %g : tensor<4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>)
    outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = linalg.generic {indexing_maps = [#id, #column, #id],
                       iterator_types = ["parallel", "parallel"]}
    ins(%m, %row : tensor<2x4xf32>, tensor<4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %p = arith.addf %in, %by : f32
    linalg.yield %p : f32
  } -> tensor<2x4xf32>
  %b = linalg.matmul ins(%m, %w : tensor<2x4xf32>, tensor<4x4xf32>)
    outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = linalg.matmul ins(%a, %w : tensor<2x4xf32>, tensor<4x4xf32>)
    outs(%b : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
