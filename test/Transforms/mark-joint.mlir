// RUN: fad-opt %s --fad-mark-joint="entry=given cotangents=1,3 gradients=2,0 cotangents-of=3,1 gradients-of=2,0" | FileCheck %s --check-prefix=GIVEN
// RUN: fad-opt %s --fad-mark-joint="entry=inferred cotangents=1" | FileCheck %s --check-prefix=INFERRED
// RUN: fad-opt %s --fad-mark-joint="entry=loss gradients=1" | FileCheck %s --check-prefix=LOSS
// RUN: fad-opt %s --fad-mark-joint | FileCheck %s --check-prefix=NONE
// NONE-NOT: fad.

// Marks count what is left without cotangents, and without gradients.

// GIVEN-LABEL: func.func @given(
// GIVEN-SAME:    %{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: tensor<4xf32> {fad.cotangent = 1 : i64}, %{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: tensor<4xf32> {fad.cotangent = 0 : i64})
// GIVEN-SAME:    -> (tensor<4xf32> {fad.gradient = 0 : i64}, tensor<4xf32>, tensor<4xf32> {fad.gradient = 1 : i64}, tensor<4xf32>)
func.func @given(%x: tensor<4xf32>, %g: tensor<4xf32>, %w: tensor<4xf32>, %h: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.mulf %h, %w : tensor<4xf32>
  %1 = arith.mulf %x, %w : tensor<4xf32>
  %2 = arith.subf %g, %h : tensor<4xf32>
  %3 = arith.addf %x, %w : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Integers have neither cotangents nor gradients.

// INFERRED-LABEL: func.func @inferred(
// INFERRED-SAME:    %{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: tensor<4xf32> {fad.cotangent = 1 : i64}, %{{[^:]*}}: tensor<4xi32>)
// INFERRED-SAME:    -> (tensor<4xi32>, tensor<4xf32> {fad.gradient = 0 : i64}, tensor<4xf32>)
func.func @inferred(%x: tensor<4xf32>, %g: tensor<4xf32>, %i: tensor<4xi32>)
    -> (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = math.cos %x : tensor<4xf32>
  %1 = arith.mulf %g, %0 : tensor<4xf32>
  %2 = math.sin %x : tensor<4xf32>
  return %i, %1, %2 : tensor<4xi32>, tensor<4xf32>, tensor<4xf32>
}

// Backward starts from a constant, which becomes the cotangent times its number;
// the same constant in the forward part stays.

// LOSS-LABEL: func.func @loss(
// LOSS-SAME:    %[[X:[^:]*]]: tensor<4xf32>, %[[G:[^:]*]]: tensor<f32> {fad.cotangent = 0 : i64})
// LOSS-SAME:    -> (tensor<f32>, tensor<4xf32> {fad.gradient = 0 : i64})
// LOSS:         %[[C:.*]] = arith.constant dense<2.500000e-01> : tensor<4xf32>
// LOSS:         %[[S:.*]] = linalg.generic {{.*}} ins(%[[G]] : tensor<f32>)
// LOSS:           %[[N:.*]] = arith.constant 2.5
// LOSS:           arith.mulf %{{.*}}, %[[N]]
// LOSS:         arith.mulf %[[X]], %[[C]]
// LOSS:         arith.mulf %[[S]],
#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
func.func @loss(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %quarter = arith.constant dense<0.25> : tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %y = arith.mulf %x, %quarter : tensor<4xf32>
  %z = arith.mulf %y, %x : tensor<4xf32>
  %l = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]}
      ins(%z : tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %1 = arith.mulf %quarter, %x : tensor<4xf32>
  %2 = arith.mulf %1, %two : tensor<4xf32>
  return %l, %2 : tensor<f32>, tensor<4xf32>
}
