// RUN: fad-opt %s --fad-mark-joint="cotangents=1" --split-input-file --verify-diagnostics
// RUN: not fad-opt %s --fad-mark-joint="entry=first cotangents=1,1" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not fad-opt %s --fad-mark-joint="entry=first cotangents=7" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not fad-opt %s --fad-mark-joint="gradients-of=0" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not fad-opt %S/Inputs/joint_without_seed.mlir --fad-mark-joint="gradients=1" 2>&1 | FileCheck %s --check-prefix=SEED
// RUN: not fad-opt %S/Inputs/joint_without_seed.mlir --fad-mark-joint="gradients=0" 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not fad-opt %S/Inputs/joint_without_seed.mlir --fad-mark-joint="cotangents=1 gradients=0" 2>&1 | FileCheck %s --check-prefix=LISTED
// RUN: not fad-opt %S/Inputs/joint_without_seed.mlir --fad-mark-joint="cotangents=1 cotangents-of=1" 2>&1 | FileCheck %s --check-prefix=NOT-PRIMAL
// RUN: not fad-opt %S/Inputs/joint_without_seed.mlir --fad-mark-joint="cotangents=1 gradients-of=1" 2>&1 | FileCheck %s --check-prefix=NO-GRADIENT

// TWICE: mark-joint-invalid.mlir:{{.*}}: error: 'cotangents' lists 1 twice
// RANGE: mark-joint-invalid.mlir:{{.*}}: error: 'cotangents' lists 7, but @first has 3 arguments
// ALONE: error: 'cotangents-of' and 'gradients-of' go with 'cotangents' or 'gradients', which list what they are about
// SEED: joint_without_seed.mlir:4:1: error: @f starts its backward part from no constant tensor that all gradients are linear in; give it an argument for each cotangent, and list these in 'cotangents'
// LOSS: joint_without_seed.mlir:4:1: error: @f has no argument listed in 'cotangents' and not one loss, a result of one number, besides its gradients; list the cotangents of its results
// LISTED: joint_without_seed.mlir:7:8: error: result 1 of @f depends on a cotangent, but is not listed in 'gradients'; list it, or leave out 'gradients' to take all that depend on one
// NOT-PRIMAL: joint_without_seed.mlir:4:1: error: result 1 is a gradient, and has no cotangent; list another one in 'cotangents-of'
// NO-GRADIENT: joint_without_seed.mlir:4:33: error: argument 1 is a cotangent, and has no gradient; list another one in 'gradients-of'

func.func @first(%x: tensor<4xf32>, %g: tensor<4xf32>, %w: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @-2 {{@first has 1 gradients for 2 arguments of floating point that are no cotangents; list in 'gradients-of' which one each of the 1 belongs to}}
  %0 = arith.mulf %g, %w : tensor<4xf32>
  return %x, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{@results has 1 cotangents for 2 results of floating point that are no gradients; list in 'cotangents-of' which one each of the 1 belongs to}}
func.func @results(%x: tensor<4xf32>, %g: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  return %x, %g, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{no result of @unused depends on an argument that 'cotangents' lists, so there is no gradient; list the arguments that backward starts from}}
func.func @unused(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument 1 of type 'tensor<5xf32>' cannot be the cotangent of result 0 of type 'tensor<4xf32>'; list in 'cotangents-of' which result each belongs to}}
func.func @cotangent_type(%x: tensor<4xf32>, %g: tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>) {
  return %x, %g : tensor<4xf32>, tensor<5xf32>
}

// -----

func.func @gradient_type(%x: tensor<4xf32>, %g: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = arith.constant dense<0.0> : tensor<f32>
  // expected-error @below {{result 1 of type 'tensor<f32>' cannot be the gradient of argument 0 of type 'tensor<4xf32>'; list in 'gradients-of' which argument each belongs to}}
  %1 = arith.negf %g : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// -----

func.func @marked(%x: tensor<4xf32>,
                  // expected-error @below {{argument 1 is marked with fad.cotangent already; leave out 'cotangents' and 'gradients'}}
                  %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{@blocks cannot be a joint function: its body is not one block that ends with func.return; express its control flow with scf}}
func.func @blocks(%x: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  cf.br ^bb1
^bb1:
  return %x, %g : tensor<4xf32>, tensor<4xf32>
}
