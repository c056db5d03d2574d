// RUN: fad-opt %s --fad-promote --split-input-file --verify-diagnostics

func.func @bits(%x: f32, %t: tensor<2xi16>, %v: vector<2xf32>) -> (i32, tensor<2xbf16>, vector<4xi16>) {
  // expected-error@+1 {{'arith.bitcast' op reads or makes the bits of 'f32' as 'i32', which f64 does not have; express the operation in arithmetic to compute it in f64}}
  %0 = arith.bitcast %x : f32 to i32
  // expected-error@+1 {{'tensor.bitcast' op reads or makes the bits of 'tensor<2xi16>' as 'tensor<2xbf16>'}}
  %1 = tensor.bitcast %t : tensor<2xi16> to tensor<2xbf16>
  // expected-error@+1 {{'vector.bitcast' op reads or makes the bits of 'vector<2xf32>' as 'vector<4xi16>'}}
  %2 = vector.bitcast %v : vector<2xf32> to vector<4xi16>
  return %0, %1, %2 : i32, tensor<2xbf16>, vector<4xi16>
}

// -----

// expected-error@+1 {{'func.func' op has no body that could be computed in f64; give it one, or inline its calls}}
func.func private @elsewhere(f32) -> i32

// -----

func.func @resource() -> tensor<4xf32> {
  // expected-error@+1 {{'arith.constant' op has a constant of type 'tensor<4xf32>' whose resource 'short' has 8 bytes, which is not what that type takes; add the data to the dialect_resources of the file}}
  %0 = arith.constant dense_resource<short> : tensor<4xf32>
  // expected-error@+1 {{'arith.constant' op has a constant of type 'tensor<2xf32>' whose resource 'none' has 0 bytes}}
  %1 = arith.constant dense_resource<none> : tensor<2xf32>
  return %0 : tensor<4xf32>
}
{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F00000040"
    }
  }
#-}

// -----

func.func @sparse() -> tensor<4xf32> {
  // expected-error@+1 {{'arith.constant' op has a constant of type 'tensor<4xf32>' that fad-promote cannot compute in f64; write it as dense<...>}}
  %0 = arith.constant sparse<[[1]], [2.0]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @complex() -> tensor<1xcomplex<f32>> {
  // expected-error@+1 {{'arith.constant' op has a constant of type 'tensor<1xcomplex<f32>>' that fad-promote cannot compute in f64}}
  %0 = arith.constant dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>
  return %0 : tensor<1xcomplex<f32>>
}
