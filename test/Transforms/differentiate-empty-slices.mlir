// RUN: fad-opt %s --fad-nest="entry=loop policy=bp" | FileCheck %s --check-prefix=LOOP
// RUN: fad-opt %s --fad-nest="entry=part" | FileCheck %s --check-prefix=PART
// RUN: fad-opt %s --fad-nest="entry=gather" | FileCheck %s --check-prefix=GATHER
// RUN: fad-opt %s --fad-nest="entry=scatter" | FileCheck %s --check-prefix=SCATTER
// RUN: fad-runner %s --entry=part --check-gradients
// RUN: fad-runner %s --entry=pad --check-gradients
// RUN: fad-runner %s --entry=strided --check-gradients

// Upstream's verifier takes no slice of nothing: adjoints have none.

// LOOP-LABEL: func.func @loop_forward(
// LOOP-NOT:   slice
// LOOP-LABEL: func.func @loop_backward(
// LOOP:       scf.for
// LOOP-NOT:   slice
// LOOP-LABEL: func.func @part(
func.func @loop(%x: tensor<0x?xf32>, %n: index) -> tensor<0x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %x) -> tensor<0x?xf32> {
    %s = math.sin %c : tensor<0x?xf32>
    %t = arith.mulf %s, %c : tensor<0x?xf32>
    scf.yield %t : tensor<0x?xf32>
  }
  return %r : tensor<0x?xf32>
}

// The gradient of the part is nothing; that of the whole is handed on.
// PART-LABEL: func.func @part_backward(
// PART-SAME:  %[[WHOLE:[^:]*]]: tensor<3x2xf32> {fad.cotangent = 1 : i64}
// PART-NOT:   insert_slice
// PART:       return %[[WHOLE]] : tensor<3x2xf32>
func.func @part(%x: tensor<3x2xf32>) -> (tensor<0x1xf32>, tensor<3x2xf32>) {
  %s = tensor.extract_slice %x[0, 1] [0, 1] [1, 1] : tensor<3x2xf32> to tensor<0x1xf32>
  %t = math.sin %s : tensor<0x1xf32>
  return %t, %x : tensor<0x1xf32>, tensor<3x2xf32>
}

func.func @pad(%x: tensor<0x3xf32>) -> tensor<0x5xf32> {
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<0x3xf32> to tensor<0x5xf32>
  return %p : tensor<0x5xf32>
}

func.func @strided(%x: tensor<0x8xf32>) -> tensor<0x4xf32> {
  %e = tensor.empty() : tensor<0x4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1 * 2)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<0x8xf32>) outs(%e : tensor<0x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.sin %a : f32
    linalg.yield %r : f32
  } -> tensor<0x4xf32>
  return %g : tensor<0x4xf32>
}

// GATHER-LABEL: func.func @gather_backward(
func.func @gather(%x: tensor<0x4xf32>, %i: tensor<3x1xindex>) -> tensor<3x0x1xf32> {
  %g = tensor.gather %x[%i] gather_dims([1]) : (tensor<0x4xf32>, tensor<3x1xindex>) -> tensor<3x0x1xf32>
  return %g : tensor<3x0x1xf32>
}

// SCATTER-LABEL: func.func @scatter_backward(
func.func @scatter(%x: tensor<3x0x1xf32>, %y: tensor<0x4xf32>, %i: tensor<3x1xindex>) -> tensor<0x4xf32> {
  %g = tensor.scatter %x into %y[%i] scatter_dims([1]) unique
      : (tensor<3x0x1xf32>, tensor<0x4xf32>, tensor<3x1xindex>) -> tensor<0x4xf32>
  return %g : tensor<0x4xf32>
}
