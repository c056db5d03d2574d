// Buffers, as memrefs in arguments, results and inside of the function.

// RUN: fad-opt %s --fad-nest --split-input-file --verify-diagnostics

// expected-error @below {{@argument has no argument that is a ranked tensor of f16, bf16, f32 or f64, so there is nothing to differentiate with respect to; fad takes tensors, not memrefs: give it the program as it is before bufferization}}
func.func @argument(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// expected-error @below {{cannot differentiate @result: no result is f16, bf16, f32 or f64, or a ranked tensor of them; fad takes tensors, not memrefs: give it the program as it is before bufferization}}
func.func @result(%x: tensor<4xf32>) -> memref<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  %m = bufferization.to_buffer %y : tensor<4xf32> to memref<4xf32>
  return %m : memref<4xf32>
}

// -----

// expected-error @below {{@scalar has no argument that is a ranked tensor of f16, bf16, f32 or f64, so there is nothing to differentiate with respect to; list scalars in 'wrt'}}
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}

// -----

// The written value reaches the result through a buffer.
func.func @fill(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = memref.alloc() : memref<4xf32>
  %c0 = arith.constant 0 : index
  %e = tensor.extract %x[%c0] : tensor<4xf32>
  // expected-error @below {{'linalg.fill' op has a memref on the path that is differentiated; fad takes tensors, not memrefs: give it the program as it is before bufferization}}
  linalg.fill ins(%e : f32) outs(%m : memref<4xf32>)
  %t = bufferization.to_tensor %m restrict writable : memref<4xf32> to tensor<4xf32>
  %y = math.exp %t : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @structured(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'bufferization.to_buffer' op has a memref on the path that is differentiated; fad takes tensors}}
  %m = bufferization.to_buffer %x : tensor<4xf32> to memref<4xf32>
  %n = memref.alloc() : memref<4xf32>
  // By now, it is a linalg.generic.
  // expected-error @below {{'linalg.generic' op has a memref on the path that is differentiated; fad takes tensors}}
  linalg.exp ins(%m : memref<4xf32>) outs(%n : memref<4xf32>)
  %t = bufferization.to_tensor %n restrict : memref<4xf32> to tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %m = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %v = tensor.extract %x[%i] : tensor<4xf32>
    // expected-error @below {{'memref.store' op has side effects on the path that is differentiated; remove it or move it out of the function; fad takes tensors, not memrefs}}
    memref.store %v, %m[%i] : memref<4xf32>
  }
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

// A value that does not depend on an argument may come from a buffer.
memref.global "private" constant @w : memref<4xf32> = dense<2.0>
func.func @constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = memref.get_global @w : memref<4xf32>
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %y = arith.mulf %t, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
