// What fad-normalize rewrites, run with gradients.

// RUN: fad-runner %s --entry=softmax --size=5 --cotangent=random:3 --check-gradients | FileCheck %s
// RUN: fad-runner %s --entry=softmax --size=1 --cotangent=random:3 --check-gradients --policy=bp | FileCheck %s
// RUN: fad-runner %s --entry=softmax --size=0 --check-gradients --policy=recompute | FileCheck %s
// RUN: fad-runner %s --entry=generate --arg=random:1 --arg=7 --check-gradients | FileCheck %s
// RUN: fad-runner %s --entry=generate --arg=random:1 --arg=0 --check-gradients --policy=bp | FileCheck %s
// RUN: fad-runner %s --entry=pad --check-gradients | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: fad-runner %s --entry=pack --cotangent=random:3 --check-gradients --policy=recompute | FileCheck %s
// RUN: fad-runner %s --entry=pack_padded --cotangent=random:3 --check-gradients | FileCheck %s
// RUN: fad-runner %s --entry=gather --size=4 --cotangent=random:3 --check-gradients | FileCheck %s
// RUN: fad-runner %s --entry=captured --check-gradients --policy=bp | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: fad-runner %s --entry=called --check-gradients | FileCheck %s
// RUN: fad-runner %s --entry=mapped --check-gradients --policy=bp | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: fad-runner %s --entry=reduced --check-gradients | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: fad-runner %s --entry=border --arg=random:1 --arg=2 --check-gradients | FileCheck %s
// CHECK-NOT: FAIL
// CHECK:     0 {{.*}} ok
// TWO:       1 {{.*}} ok

func.func @softmax(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?xf32>
  %e = tensor.empty(%n) : tensor<2x?xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<2x?xf32>) outs(%e : tensor<2x?xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// Rows 0, 1, 2, 0, 1, ... of the argument.
func.func @generate(%x: tensor<3x2xf64>, %n: index) -> tensor<?x2xf64> {
  %y = math.exp %x : tensor<3x2xf64>
  %0 = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %c3 = arith.constant 3 : index
    %r = arith.remui %i, %c3 : index
    %e = tensor.extract %y[%r, %j] : tensor<3x2xf64>
    %s = math.sin %e : f64
    tensor.yield %s : f64
  } : tensor<?x2xf64>
  return %0 : tensor<?x2xf64>
}

// The border comes from a tensor that is differentiated.
func.func @pad(%x: tensor<2x2xf32>, %v: tensor<1xf32>) -> tensor<3x4xf32> {
  %c0 = arith.constant 0 : index
  %border = tensor.extract %v[%c0] : tensor<1xf32>
  %0 = tensor.pad %x low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %border : f32
  } : tensor<2x2xf32> to tensor<3x4xf32>
  %1 = math.exp %0 : tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

func.func @pack(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<3x2x2x2xf32>
  %0 = linalg.pack %x outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<4x6xf32> -> tensor<3x2x2x2xf32>
  %1 = math.sin %0 : tensor<3x2x2x2xf32>
  %d = tensor.empty() : tensor<4x6xf32>
  %2 = linalg.unpack %1 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %d : tensor<3x2x2x2xf32> -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

func.func @pack_padded(%x: tensor<3x5xf32>) -> tensor<2x3x2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x2x2xf32>
  %y = math.exp %x : tensor<3x5xf32>
  %0 = linalg.pack %y padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<3x5xf32> -> tensor<2x3x2x2xf32>
  return %0 : tensor<2x3x2x2xf32>
}

// A row that is read several times gets the sum.
func.func @gather(%x: tensor<3x?xf32>) -> tensor<2x2x?xf32> {
  %i = arith.constant dense<[[[0], [2]], [[2], [2]]]> : tensor<2x2x1xi32>
  %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<3x?xf32>, tensor<2x2x1xi32>) -> tensor<2x2x?xf32>
  %1 = math.exp %0 : tensor<2x2x?xf32>
  return %1 : tensor<2x2x?xf32>
}

// A scalar that a body captures has a gradient.
func.func @captured(%x: tensor<4xf32>, %t: tensor<f32>) -> tensor<4xf32> {
  %c = tensor.extract %t[] : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.mulf %in, %c : f32
    %2 = math.sin %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @mapped(%x: tensor<4xf32>, %t: tensor<f32>) -> tensor<4xf32> {
  %c = tensor.extract %t[] : tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.map ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) (%in: f32, %out: f32) {
    %1 = arith.mulf %in, %c : f32
    %2 = math.sin %1 : f32
    linalg.yield %2 : f32
  }
  return %0 : tensor<4xf32>
}

func.func @reduced(%x: tensor<3x4xf32>, %t: tensor<f32>) -> tensor<3xf32> {
  %c = tensor.extract %t[] : tensor<f32>
  %e = tensor.empty() : tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %0 = linalg.reduce ins(%x : tensor<3x4xf32>) outs(%f : tensor<3xf32>) dimensions = [1] (%in: f32, %out: f32) {
    %1 = arith.mulf %in, %c : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  }
  return %0 : tensor<3xf32>
}

// A border that depends on where it is.
func.func @border(%x: tensor<4xf32>, %n: index) -> tensor<?xf32> {
  %0 = tensor.pad %x low[1] high[%n] {
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i64
    %s = arith.sitofp %k : i64 to f32
    tensor.yield %s : f32
  } : tensor<4xf32> to tensor<?xf32>
  %1 = arith.mulf %0, %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// Calls are inlined.
func.func private @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @square(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @square(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
