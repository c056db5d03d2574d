// RUN: fad-opt %s -fad-launch-kernels -split-input-file -verify-diagnostics
// RUN: not fad-opt %s -split-input-file -fad-launch-kernels=largest-launch=0 2>&1 | FileCheck %s -DSIZE=0
// RUN: not fad-opt %s -split-input-file -fad-launch-kernels=largest-launch=1073741825 2>&1 | FileCheck %s -DSIZE=1073741825

// CHECK: error: largest-launch is [[SIZE]]; give a number from 1 to 1073741824

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'fad.elementwise' op has a kernel and is not on buffers; bufferize it first}}
  %0 = fad.elementwise ins(%x : tensor<4xf32>) attributes {fad.kernel = @kernels::@f} -> tensor<4xf32> {
  ^bb0(%a: f32):
    fad.yield %a : f32
  }
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(i) -> (i)>
func.func @generic_on_tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.generic' op has a kernel and is not on buffers; bufferize it first}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"], fad.kernel = @kernels::@f}
      ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(i) -> (i)>
func.func @no_tile(%x: memref<4xf32>) {
  // expected-error @below {{'linalg.generic' op has a kernel that is none of fad-to-gpu; remove 'fad.kernel'}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"],
                  fad.kernel = @kernels::@f, fad.block_size = 256 : i64}
      ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>
func.func @no_block(%x: memref<4xf32>) {
  // expected-error @below {{'linalg.generic' op has a kernel that is none of fad-to-gpu; remove 'fad.kernel'}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"],
                  fad.kernel = @kernels::@f, fad.block_size = 0 : i64, fad.tile_size = 256 : i64}
      ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>
#swap = affine_map<(i, j) -> (j, i)>
#both = affine_map<(i, j) -> (i, j)>
func.func @transpose(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @below {{'linalg.generic' op has a kernel that is none of fad-to-gpu; remove 'fad.kernel'}}
  linalg.generic {indexing_maps = [#swap, #both], iterator_types = ["parallel", "parallel"],
                  fad.kernel = @kernels::@f, fad.block_size = 256 : i64, fad.tile_size = 256 : i64}
      ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// The kernel takes a scalar, which the loop does not have any more.

#id = affine_map<(i) -> (i)>
func.func @changed(%x: memref<?xf32>, %y: memref<?xf32>) {
  // expected-error @below {{'gpu.launch_func' op gives kernel @kernels::@f_inplace other operands than it takes: the loop changed after fad-to-gpu; run fad-to-gpu after what changes it}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"],
                  fad.kernel = @kernels::@f, fad.block_size = 256 : i64, fad.tile_size = 2048 : i64}
      ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
gpu.module @kernels {
  gpu.func @f_inplace(%x: memref<1073741824xf32>, %s: f32, %y: memref<1073741824xf32>, %n: i32) kernel {
    gpu.return
  }
}
