// Functions that the function calls are inlined, with control flow and
// operations of the dialect in them.

// RUN: fad-opt %s --fad-nest=entry=layers | FileCheck %s
// RUN: fad-runner %s --entry=layers --check-gradients --policy=bp
// RUN: fad-runner %s --entry=layers --check-gradients --policy=recompute
// RUN: fad-runner %s --entry=layers --check-gradients --policy=fad
// RUN: not fad-opt %s --fad-nest=entry=recursive 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RUN: not fad-opt %s --fad-nest=entry=external 2>&1 | FileCheck %s --check-prefix=EXTERNAL --implicit-check-not=error:
// RUN: not fad-opt %s --fad-differentiate=entry=layers 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not fad-opt %s --fad-nest=entry=indirect 2>&1 | FileCheck %s --check-prefix=INDIRECT

// CHECK-LABEL: func.func @layers_forward(
// CHECK-NOT:     call
// CHECK:         fad.gelu
// CHECK:         scf.if
// CHECK-LABEL: func.func @layers_backward(
// CHECK-NOT:     call
// CHECK:         return

// ALONE: nest-calls.mlir:[[#@LINE+2]]:8: error: 'func.call' op calls @layer on the path that is differentiated; inline the call (fad-nest and --inline do, unless the function calls itself: write a recursion as scf.for)
func.func @layers(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %y = call @layer(%x, %w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %z = call @layer(%y, %w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %z : tensor<3xf32>
}

func.func private @layer(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %y = fad.elementwise ins(%x, %w : tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    fad.yield %p : f32
  }
  %z = call @activation(%y) : (tensor<3xf32>) -> tensor<3xf32>
  return %z : tensor<3xf32>
}

func.func private @activation(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %first = tensor.extract %x[%c0] : tensor<3xf32>
  %positive = arith.cmpf ogt, %first, %zero : f32
  %r = scf.if %positive -> tensor<3xf32> {
    %y = fad.gelu %x : tensor<3xf32>
    scf.yield %y : tensor<3xf32>
  } else {
    %y = math.sin %x : tensor<3xf32>
    scf.yield %y : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

// RECURSIVE: error: 'func.call' op calls @again on the path that is differentiated; inline the call
func.func @recursive(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = call @again(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func private @again(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = call @again(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// EXTERNAL: nest-calls.mlir:[[#@LINE+3]]:8: error: 'func.call' op calls @elsewhere on the path that is differentiated; it has no body: define it in this module, or call it outside of the function
func.func private @elsewhere(tensor<3xf32>) -> tensor<3xf32>
func.func @external(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = call @elsewhere(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// INDIRECT: error: 'func.call_indirect' op calls a function that is not known on the path that is differentiated; call it by its name
func.func @indirect(%f: (tensor<3xf32>) -> tensor<3xf32>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %y = call_indirect %f(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
