// --check-gradients: what passes, and what does not.

// Axes of a small argument, random directions of a large one, and each policy.
// RUN: fad-runner %s --entry=smooth --size=7 --check-gradients | FileCheck %s --check-prefix=SMOOTH
// RUN: fad-runner %s --entry=smooth --size=700 --check-gradients --policy=bp | FileCheck %s --check-prefix=SMOOTH
// RUN: fad-runner %s --entry=smooth --size=700 --check-gradients --policy=recompute --cotangent=random:3 \
// RUN:   | FileCheck %s --check-prefix=SMOOTH
// SMOOTH:      gradients under policy {{auto|fad|bp|recompute}}, compared with differences in f64 (bound 1e-06) and with themselves in f64
// SMOOTH-NEXT: argument  type             differences  f64      bound
// SMOOTH-NEXT: 0         tensor<{{7|700}}xf32>  {{ *[0-9.]+e-[0-9]+ +[0-9.]+e-[0-9]+ +}}2e-05  ok
// SMOOTH-NOT:  {{.}}
func.func @smooth(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = math.sin %x : tensor<?xf32>
  %b = math.exp %a : tensor<?xf32>
  %c = arith.mulf %b, %x : tensor<?xf32>
  return %c : tensor<?xf32>
}

// At random points no kink is in the way, though steps cross some.
// RUN: fad-runner %s --entry=kink --size=10000 --check-gradients | FileCheck %s --check-prefix=KINK
// KINK: 0 {{ *}}tensor<10000xf32> {{.*}} ok
// At a kink the convention that relu'(0) = 0 is not what differences say.
// RUN: not fad-runner %s --entry=kink --size=5 --arg=0 --check-gradients | FileCheck %s --check-prefix=AT
// RUN: not fad-runner %s --entry=kink --size=500 --arg=0 --check-gradients | FileCheck %s --check-prefix=AT
// AT: 0 {{ *}}tensor<{{5|500}}xf32>  inf          0.0e+00  2e-05  FAIL
func.func @kink(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = fad.relu %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// The scale of the argument does not matter.
// RUN: fad-runner %s --entry=root --size=5 --arg=1e-6 --check-gradients | FileCheck %s --check-prefix=ROOT
// RUN: fad-runner %s --entry=root --size=500 --arg=1e-6 --check-gradients | FileCheck %s --check-prefix=ROOT
// RUN: fad-runner %s --entry=root --size=500 --arg=1e12 --check-gradients | FileCheck %s --check-prefix=ROOT
// ROOT: 0 {{.*}} ok
// Where it is not finite there is nothing to compare, and a NaN is called one.
// RUN: not fad-runner %s --entry=root --size=5 --arg=0 --check-gradients | FileCheck %s --check-prefix=INFINITE
// INFINITE: 0 {{.*}}  nan {{.*}} FAIL: 5 elements are not finite, so there is nothing to compare; the first is [0], which is inf, where a difference is nan{{$}}
// RUN: %python %S/Inputs/make_arrays.py %t 'roots=np.array([1, 4, -1, -2], "f4")' 'zeros=np.array([[1, 4], [0, 2]], "f4")' \
// RUN:   'pole=np.array([2, -1], "f4")'
// RUN: not fad-runner %s --entry=root --arg=%t/roots.npy --check-gradients | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: 0 {{.*}}  nan {{.*}} FAIL: 2 elements are not finite, so there is nothing to compare; the first is [2], which is nan, where a difference is nan{{$}}
func.func @root(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.sqrt %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A gradient that is NaN where the function is constant.
// RUN: not fad-runner %s --entry=nothing --arg=%t/zeros.npy --policy=bp --check-gradients | FileCheck %s --check-prefix=NOTHING
// NOTHING: 0 {{.*}}  nan {{.*}} FAIL: 1 elements are not finite, so there is nothing to compare; the first is [1, 0], which is nan, where a difference is 0{{$}}
func.func @nothing(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %a = arith.mulf %x, %x : tensor<2x2xf32>
  %b = math.sqrt %a : tensor<2x2xf32>
  %c = arith.mulf %b, %zero : tensor<2x2xf32>
  return %c : tensor<2x2xf32>
}

// A finite gradient where the function is NaN, so that there are no differences.
// RUN: not fad-runner %s --entry=logarithm --arg=%t/pole.npy --check-gradients | FileCheck %s --check-prefix=POLE
// POLE: 0 {{ *}}tensor<2xf32>  nan {{.*}} FAIL: result 0 is nan at [1], so there are no differences to compare with{{$}}
func.func @logarithm(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.log %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// It is so on one side.
// RUN: not fad-runner %s --entry=power --arg=%t/zeros.npy --check-gradients | FileCheck %s --check-prefix=SIDE
// SIDE: 0 {{ *}}tensor<2x2xf32>  nan {{.*}} FAIL: differences at [1, 0] are nan, where the gradient is 0, so there is nothing to compare with{{$}}
// RUN: not fad-runner %s --entry=power --arg=0 --size=9 --check-gradients | FileCheck %s --check-prefix=SIGNS
// SIGNS: 0 {{ *}}tensor<9x9xf32>  nan {{.*}} FAIL: differences in a direction of random signs are nan, so there is nothing to compare with{{$}}
func.func @power(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %exponent = arith.constant 1.5 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.splat %exponent[%m, %n] : tensor<?x?xf32>
  %r = math.powf %x, %e : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// f16 overflows on the way where f64 does not.
// RUN: fad-runner %s --entry=overflow --arg=2 --check-gradients | FileCheck %s --check-prefix=NARROW
// NARROW: 0 {{ *}}tensor<4xf16> {{.*}} ok
// RUN: not fad-runner %s --entry=overflow --arg=12 --check-gradients | FileCheck %s --check-prefix=OVERFLOW
// OVERFLOW: 0 {{ *}}tensor<4xf16> {{.*}} FAIL: 4 elements are not finite but are so in f64; the first is [0], which is {{inf|nan}}, and 1 in f64{{$}}
func.func @overflow(%x: tensor<4xf16>) -> tensor<4xf16> {
  %one = arith.constant dense<1.0> : tensor<4xf16>
  %a = math.exp %x : tensor<4xf16>
  %b = arith.mulf %a, %x : tensor<4xf16>
  %c = arith.divf %b, %a : tensor<4xf16>
  return %c : tensor<4xf16>
}

// f32 loses all digits where f64 does not.
// RUN: not fad-runner %s --entry=cancel --arg=1 --check-gradients | FileCheck %s --check-prefix=CANCEL
// CANCEL: 0 {{ *}}tensor<4xf32> {{.*e-[0-9]+ +[0-9].[0-9]e}}-0{{[1-4]  2e-05  FAIL}}
func.func @cancel(%x: tensor<4xf32>) -> tensor<4xf32> {
  %large = arith.constant dense<1.0e5> : tensor<4xf32>
  %a = arith.addf %x, %large : tensor<4xf32>
  %b = arith.subf %a, %large : tensor<4xf32>
  %c = arith.mulf %b, %b : tensor<4xf32>
  %d = math.sin %c : tensor<4xf32>
  %e = arith.addf %d, %large : tensor<4xf32>
  %f = arith.subf %e, %large : tensor<4xf32>
  %g = arith.mulf %f, %f : tensor<4xf32>
  return %g : tensor<4xf32>
}

// The gradient with respect to an argument without influence is exactly 0.
// RUN: fad-runner %s --entry=constant --check-gradients | FileCheck %s --check-prefix=CONSTANT
// CONSTANT: 0 {{ *}}tensor<100xf32>  0.0e+00      0.0e+00  2e-05  ok
// CONSTANT: 1 {{ *}}tensor<3xf32> {{ *}}0.0e+00      0.0e+00  2e-05  ok
func.func @constant(%x: tensor<100xf32>, %y: tensor<3xf32>) -> tensor<100xf32> {
  %z = math.floor %x : tensor<100xf32>
  return %z : tensor<100xf32>
}

// RUN: not fad-runner %s --entry=bits --check-gradients 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: check-gradients.mlir:[[#@LINE+2]]:11: error: 'arith.bitcast' op reads or makes the bits of 'f32' as 'i32', which f64 does not have
func.func @bits(%x: tensor<3xf32>, %s: f32) -> tensor<3xf32> {
  %bits = arith.bitcast %s : f32 to i32
  %float = arith.sitofp %bits : i32 to f32
  %scale = tensor.splat %float : tensor<3xf32>
  %y = arith.mulf %x, %scale : tensor<3xf32>
  return %y : tensor<3xf32>
}

// The least precise type on the way decides: the product is one of bf16.
// RUN: fad-runner %s --entry=mixed --policy=auto --check-gradients | FileCheck %s --check-prefix=MIXED
// RUN: fad-runner %s --entry=mixed --policy=bp --check-gradients | FileCheck %s --check-prefix=MIXED
// MIXED: 0 {{ *}}tensor<4x8xf32> {{.*e-[0-9]+ +[0-9].[0-9]e}}-0{{[2-4]  1e-01  ok}}
// MIXED: 1 {{ *}}tensor<8x3xf32> {{.*}} 1e-01  ok
// MIXED: 2 {{ *}}tensor<4xf32> {{.*}} 2e-05  ok
// MIXED: 3 {{ *}}tensor<4xf64> {{.*}} 2e-05  ok
func.func @mixed(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %y: tensor<4xf32>, %z: tensor<4xf64>)
    -> (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf64>) {
  %a = arith.truncf %x : tensor<4x8xf32> to tensor<4x8xbf16>
  %b = arith.truncf %w : tensor<8x3xf32> to tensor<8x3xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x3xbf16>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
  %t = math.tanh %m : tensor<4x3xf32>
  // Other gradients are not rounded to it.
  %s = math.sin %y : tensor<4xf32>
  %n = arith.truncf %z : tensor<4xf64> to tensor<4xf32>
  %g = math.exp %n : tensor<4xf32>
  %h = arith.extf %g : tensor<4xf32> to tensor<4xf64>
  return %t, %s, %h : tensor<4x3xf32>, tensor<4xf32>, tensor<4xf64>
}

// An argument of a narrow type is what it is in f64; only its gradient is rounded.
// RUN: fad-runner %s --entry=narrow_argument --check-gradients | FileCheck %s --check-prefix=NARROW-ARGUMENT
// NARROW-ARGUMENT: 0 {{ *}}tensor<4x2xbf16> {{.*}} 1e-01  ok
// NARROW-ARGUMENT: 1 {{ *}}tensor<8xf32> {{.*}} 2e-05  ok
func.func @narrow_argument(%x: tensor<4x2xbf16>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %v = tensor.collapse_shape %x [[0, 1]] : tensor<4x2xbf16> into tensor<8xbf16>
  %a = arith.extf %v : tensor<8xbf16> to tensor<8xf32>
  %b = arith.mulf %w, %w : tensor<8xf32>
  %c = arith.mulf %a, %b : tensor<8xf32>
  return %c : tensor<8xf32>
}

// A function that is called.
// RUN: fad-runner %s --entry=caller --check-gradients | FileCheck %s --check-prefix=CALLER
// CALLER: 0 {{ *}}tensor<4xf32> {{.*}} 2e-02  ok
func.func private @rounded(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.truncf %x : tensor<4xf32> to tensor<4xf16>
  %b = arith.extf %a : tensor<4xf16> to tensor<4xf32>
  return %b : tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = call @rounded(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = math.exp %a : tensor<4xf32>
  return %b : tensor<4xf32>
}
