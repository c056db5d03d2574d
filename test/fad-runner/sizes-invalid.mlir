// Sizes that are known and whose bytes do not fit into 64 bits.

// RUN: not fad-runner %s --entry=result 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not fad-runner %s --entry=result --policy=auto 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not fad-memory-report %s --entry=result 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: sizes-invalid.mlir:[[#@LINE+2]]:8: error: 'tensor<4611686018427387905xf32>' has 2^59 elements or more, which no memory holds; give it smaller sizes
func.func @result(%x: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<4611686018427387905xf32>
  %s = tensor.insert_slice %x into %e[0] [2] [1] : tensor<2xf32> into tensor<4611686018427387905xf32>
  %t = math.sin %s : tensor<4611686018427387905xf32>
  %r = tensor.extract_slice %t[4611686018427387000] [2] [1] : tensor<4611686018427387905xf32> to tensor<2xf32>
  return %r : tensor<2xf32>
}

// One that can be, but is not there.
// RUN: not fad-runner %s --entry=large --arg=1 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: there is no memory for a tensor of 1125899906842624 bytes
func.func @large(%x: f32) -> tensor<281474976710656xf32> {
  %e = tensor.empty() : tensor<281474976710656xf32>
  %r = linalg.fill ins(%x : f32) outs(%e : tensor<281474976710656xf32>) -> tensor<281474976710656xf32>
  return %r : tensor<281474976710656xf32>
}

// An argument without elements has sizes all the same.
// RUN: not fad-runner %s --entry=none --size=1099511627776 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: argument 0: there is no memory for a tensor<1099511627776x0x1099511627776xf32>
func.func @none(%x: tensor<?x0x?xf32>) -> tensor<?x0x?xf32> {
  return %x : tensor<?x0x?xf32>
}

// RUN: not fad-runner %s --entry=padding 2>&1 | FileCheck %s --check-prefix=PADDING
// PADDING: sizes-invalid.mlir:[[#@LINE+3]]:8: error: 'tensor.pad' op has a padding of -9223372036854775808, which no tensor is large enough for
func.func @padding(%x: tensor<8xf32>) -> tensor<10xf32> {
  %c = arith.constant 0.0 : f32
  %r = tensor.pad %x low[-9223372036854775808] high[1] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<8xf32> to tensor<10xf32>
  return %r : tensor<10xf32>
}
