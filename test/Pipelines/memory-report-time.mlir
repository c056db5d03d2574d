// The time in backward is that of the last backward function.

// Two policies that make one program take one time, that of its parts: for each of
// 2^20 elements, the value takes two functions of 8 bytes and a product; the derivative
// takes three functions, of which it shares two with the value, a division of a byte,
// and ten operations of an eighth of a byte. The product with the cotangent is left out.

// RUN: fad-opt %s --fad-nest="policy=recompute entry=net" -o %t.recompute
// RUN: fad-opt %s --fad-nest="policy=auto entry=net" -o %t.auto
// RUN: diff %t.recompute %t.auto
// RUN: fad-memory-report %s --entry=net --size=4096 --policy=recompute --policy=auto | FileCheck %s

// CHECK:      {{^}}recompute  4.00 MiB    26.38 MiB
// CHECK-NEXT: {{^}}auto       4.00 MiB    26.38 MiB
// CHECK:      {{^}}recompute  backward  tensor<?x256xf32>  {{ *}}fad.elementwise {{ *}}computed in backward, in the time of moving 16908288 bytes
// CHECK-NEXT: {{^}}recompute  backward  tensor<?x256xf32>  {{ *}}fad.elementwise {{ *}}computed in backward, in the time of moving 10747904 bytes
// CHECK-NEXT: {{^}}recompute   4194304  total
// CHECK:      {{^}}auto       backward  tensor<?x256xf32>  {{ *}}fad.elementwise {{ *}}computed in backward, in the time of moving 16908288 bytes
// CHECK-NEXT: {{^}}auto       backward  tensor<?x256xf32>  {{ *}}fad.elementwise {{ *}}computed in backward, in the time of moving 10747904 bytes
// CHECK-NEXT: {{^}}auto        4194304  total

func.func @net(%x: tensor<?x64xf32>, %w1: tensor<64x256xf32>, %w2: tensor<256x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e1 = tensor.empty(%n) : tensor<?x256xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x256xf32>) -> tensor<?x256xf32>
  %a = linalg.matmul ins(%x, %w1 : tensor<?x64xf32>, tensor<64x256xf32>)
      outs(%i1 : tensor<?x256xf32>) -> tensor<?x256xf32>
  %ex = math.exp %a : tensor<?x256xf32>
  %t = math.tanh %ex : tensor<?x256xf32>
  %h = arith.mulf %a, %t : tensor<?x256xf32>
  %e2 = tensor.empty(%n) : tensor<?x64xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<?x256xf32>, tensor<256x64xf32>)
      outs(%i2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Sizes of backward's arguments are those of what forward returns. Each of the sums takes
// two functions for the value and, besides these, one and a product for the derivative,
// whose kernel returns nothing else.

// RUN: fad-memory-report %s --entry=sums --size=8 --policy=recompute | FileCheck %s --check-prefix=SIZES
// RUN: fad-memory-report %s --entry=sums --policy=recompute --format=json | FileCheck %s --check-prefix=FORMULA

// SIZES: {{^}}recompute  backward  tensor<?xf32> {{.*}}computed in backward, in the time of moving 128 bytes
// SIZES: {{^}}recompute  backward  tensor<?xf32> {{.*}}computed in backward, in the time of moving 65 bytes

// FORMULA:      "name": "d0",
// FORMULA-NEXT: "what": "dimension 1 of argument 0",
// FORMULA:      "recomputed": [
// FORMULA-NEXT:   {
// FORMULA-NEXT:     "type": "tensor<?xf32>",
// FORMULA-NEXT:     "bytes": "4*d0",
// FORMULA:          "type": "tensor<?xf32>",
// FORMULA-NEXT:     "bytes": 0,

func.func @sums(%x: tensor<?x?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sums = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%i : tensor<?xf32>) dimensions = [0]
  %sine = math.sin %sums : tensor<?xf32>
  %y = math.exp %sine : tensor<?xf32>
  %e0 = tensor.empty() : tensor<f32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %dot = linalg.dot ins(%y, %y : tensor<?xf32>, tensor<?xf32>) outs(%i0 : tensor<f32>) -> tensor<f32>
  return %dot : tensor<f32>
}

// Widening a residual, or looking up the level that it is the number of, is a part of
// reading it: a derivative that is kept takes no time.

// RUN: fad-memory-report %s --entry=narrow --policy=fad | FileCheck %s --check-prefix=NARROW
// RUN: fad-memory-report %s --entry=net --size=8 --policy=auto --recompute=nothing --derivative-bits=3 | FileCheck %s --check-prefix=LEVELS

// LEVELS:     {{^}}auto    8.75 KiB          0 B  140.00 KiB
// LEVELS:     3 bits an element
// LEVELS-NOT: computed in backward

// NARROW:     {{^}}fad     64 B          0 B   512 B
// NARROW-NOT: computed in backward

func.func @narrow(%x: tensor<4x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<4x8xbf16> {
  %zero = arith.constant dense<0.0> : tensor<4x8xbf16>
  %a = linalg.matmul ins(%x, %w : tensor<4x8xbf16>, tensor<8x8xbf16>)
      outs(%zero : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %ex = math.exp %a : tensor<4x8xbf16>
  %y = math.tanh %ex : tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}
