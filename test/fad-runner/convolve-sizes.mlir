// The sizes of a fad.convolve are compared before it runs: a loop has one extent in all
// operands where it stands alone. Windows may reach beyond the image.

// RUN: %python %S/Inputs/make_arrays.py %t 'x=np.ones((2, 3, 6), "f4")' 'x4=np.ones((2, 4, 6), "f4")' \
// RUN:   'w=np.ones((5, 3, 2), "f4")' 'y=np.zeros((2, 5, 9), "f4")' 'y3=np.zeros((3, 5, 9), "f4")' \
// RUN:   'y6=np.zeros((2, 6, 9), "f4")'

// RUN: fad-runner %s --entry=convolve --arg=%t/x.npy --arg=%t/w.npy --arg=%t/y.npy | FileCheck %s --check-prefix=GOOD
// GOOD: out0: tensor<2x5x9xf32> min 0 max 6
// RUN: not fad-runner %s --entry=convolve --arg=%t/x4.npy --arg=%t/w.npy --arg=%t/y.npy 2>&1 | FileCheck %s --check-prefix=CHANNELS
// CHANNELS: convolve-sizes.mlir:[[#@LINE+9]]:8: error: these sizes do not fit together: dimension #1 of operand #1 is not the extent of d3, which is dimension #1 of operand #0
// RUN: not fad-runner %s --entry=convolve --arg=%t/x.npy --arg=%t/w.npy --arg=%t/y3.npy 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: convolve-sizes.mlir:[[#@LINE+7]]:8: error: these sizes do not fit together: dimension #0 of operand #2 is not the extent of d0, which is dimension #0 of operand #0
// RUN: not fad-runner %s --entry=convolve --arg=%t/x.npy --arg=%t/w.npy --arg=%t/y6.npy 2>&1 | FileCheck %s --check-prefix=FILTERS
// FILTERS: convolve-sizes.mlir:[[#@LINE+5]]:8: error: these sizes do not fit together: dimension #1 of operand #2 is not the extent of d1, which is dimension #0 of operand #1
#image = affine_map<(n, o, u, c, i) -> (n, c, u + i - 1)>
#filter = affine_map<(n, o, u, c, i) -> (o, c, i)>
#result = affine_map<(n, o, u, c, i) -> (n, o, u)>
func.func @convolve(%x: tensor<?x?x?xf32>, %w: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = fad.convolve %x, %w into %y by [#image, #filter, #result]
      : tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// In a loop, for sizes that are not those of an argument.
// RUN: not fad-runner %s --entry=sliced --arg=%t/x.npy --arg=%t/w.npy --arg=2 2>&1 | FileCheck %s --check-prefix=SLICED
// SLICED: convolve-sizes.mlir:[[#@LINE+5]]:8: error: these sizes do not fit together: dimension #1 of operand #1 is not the extent of d3, which is dimension #1 of operand #0
// RUN: fad-runner %s --entry=sliced --arg=%t/x.npy --arg=%t/w.npy --arg=3
func.func @sliced(%x: tensor<2x3x6xf32>, %w: tensor<5x3x2xf32>, %n: index) -> tensor<2x5x9xf32> {
  %part = tensor.extract_slice %x[0, 0, 0] [2, %n, 6] [1, 1, 1] : tensor<2x3x6xf32> to tensor<2x?x6xf32>
  %y = arith.constant dense<0.0> : tensor<2x5x9xf32>
  %r = fad.convolve %part, %w into %y by [#image, #filter, #result]
      : tensor<2x?x6xf32>, tensor<5x3x2xf32>, tensor<2x5x9xf32> -> tensor<2x5x9xf32>
  return %r : tensor<2x5x9xf32>
}
