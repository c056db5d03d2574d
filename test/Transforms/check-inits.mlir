// RUN: fad-opt %s --fad-check-inits --verify-diagnostics -o %t.checked
// RUN: fad-opt %s --fad-nest=entry=matmul --verify-diagnostics -o %t.nested

// Once each, from the programs that run the pass on several copies.
// RUN: fad-runner %s --entry=matmul --policy=auto --stats > %t.out 2>&1
// RUN: grep -c "adds to tensor.empty" %t.out | FileCheck %s --check-prefix=ONE
// RUN: fad-memory-report %s --entry=matmul > %t.out 2>&1
// RUN: grep "warning: 'linalg.matmul' op adds to tensor.empty" %t.out | count 1
// RUN: fad-runner %s --entry=filled --policy=auto 2>&1 | FileCheck %s --check-prefix=NONE
// ONE: {{^}}1{{$}}
// NONE-NOT: warning

func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  // expected-warning @below {{'linalg.matmul' op adds to tensor.empty, whose elements are undefined; fill it with zeros}}
  %r = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

func.func @convolution(%x: tensor<1x2x8x8xf32>, %w: tensor<3x2x3x3xf32>, %n: index) -> tensor<1x3x?x6xf32> {
  %e = tensor.empty(%n) : tensor<1x3x?x6xf32>
  // expected-warning @below {{'linalg.conv_2d_nchw_fchw' op adds to tensor.empty}}
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x2x8x8xf32>, tensor<3x2x3x3xf32>) outs(%e : tensor<1x3x?x6xf32>) -> tensor<1x3x?x6xf32>
  return %r : tensor<1x3x?x6xf32>
}

// Parts and other forms of an empty tensor, and one of another dialect.
func.func @forms(%a: tensor<4xf32>, %b: tensor<4x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %s = tensor.extract_slice %e[0, 1] [1, 2] [1, 1] : tensor<3x4xf32> to tensor<2xf32>
  // expected-warning @below {{'linalg.vecmat' op adds to tensor.empty}}
  %r = linalg.vecmat ins(%a, %b : tensor<4xf32>, tensor<4x2xf32>) outs(%s : tensor<2xf32>) -> tensor<2xf32>
  %f = tensor.empty() : tensor<1x2xf32>
  %c = tensor.collapse_shape %f [[0, 1]] : tensor<1x2xf32> into tensor<2xf32>
  // expected-warning @below {{'linalg.vecmat' op adds to tensor.empty}}
  %t = linalg.vecmat ins(%a, %b : tensor<4xf32>, tensor<4x2xf32>) outs(%c : tensor<2xf32>) -> tensor<2xf32>
  %d = bufferization.alloc_tensor() : tensor<2xf32>
  // expected-warning @below {{'linalg.vecmat' op adds to bufferization.alloc_tensor, whose elements are undefined; fill it with zeros}}
  %u = linalg.vecmat ins(%a, %b : tensor<4xf32>, tensor<4x2xf32>) outs(%d : tensor<2xf32>) -> tensor<2xf32>
  return %r, %t, %u : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Sums as linalg.generic and linalg.reduce, and other ways to read.
func.func @reductions(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<2xf32>
  %k = tensor.empty() : tensor<2xi32>
  // expected-warning @below {{'linalg.generic' op adds to tensor.empty}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  // expected-warning @below {{'linalg.reduce' op adds to tensor.empty}}
  %t = linalg.reduce {arith.addi} ins(%n : tensor<2x3xi32>) outs(%k : tensor<2xi32>) dimensions = [1]
  // expected-warning @below {{'linalg.reduce' op reads tensor.empty, whose elements are undefined; fill it with the value to begin with}}
  %u = linalg.reduce {arith.maximumf} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2xf32>) dimensions = [1]
  return %r, %t, %u : tensor<2xf32>, tensor<2xi32>, tensor<2xf32>
}

func.func @own(%x: tensor<2x4xf32>, %i: tensor<2xi32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  // expected-warning @below {{'fad.scatter_add' op adds to tensor.empty}}
  %r = fad.scatter_add %x at(%i : tensor<2xi32>) dims [0] into %e : tensor<2x4xf32> -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// No warning where the init is filled or inserted into, where nothing reads it, where it
// has no elements, and where nothing reads the sum.
func.func @filled(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  %u = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %x = linalg.exp ins(%r : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %x : tensor<2x4xf32>
}
func.func @none(%a: tensor<0x3xf32>, %b: tensor<3x4xf32>, %i: tensor<2x3xf32>) -> (tensor<0x4xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<0x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<0x3xf32>, tensor<3x4xf32>) outs(%e : tensor<0x4xf32>) -> tensor<0x4xf32>
  // The first term takes the place of the init.
  %f = tensor.empty() : tensor<2xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%i : tensor<2x3xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c0 = arith.constant 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi eq, %j, %c0 : index
    %sum = arith.addf %o, %x : f32
    %t = arith.select %first, %x, %sum : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  return %r, %s : tensor<0x4xf32>, tensor<2xf32>
}
