// RUN: fad-opt %s --fad-check-sizes --split-input-file --verify-diagnostics
// RUN: fad-opt %s --fad-to-cpu --split-input-file --verify-diagnostics
// RUN: fad-opt %s --fad-to-cuda --split-input-file --verify-diagnostics
// RUN: fad-opt %s --fad-to-iree --split-input-file --verify-diagnostics
// RUN: fad-opt %s --fad-to-nvvm --split-input-file --verify-diagnostics
// RUN: fad-opt %s --fad-nest --split-input-file --verify-diagnostics

// A product of 2^64.
func.func @product(%x: tensor<2xf32>) -> tensor<f32> {
  // expected-error @below {{'tensor<4294967296x4294967296xf32>' has 2^59 elements or more, which no memory holds; give it smaller sizes}}
  %e = tensor.empty() : tensor<4294967296x4294967296xf32>
  %c0 = arith.constant 0 : index
  %y = tensor.extract %e[%c0, %c0] : tensor<4294967296x4294967296xf32>
  %r = tensor.from_elements %y : tensor<f32>
  return %r : tensor<f32>
}

// -----

// Elements whose bytes are 4 in 64 bits.
func.func @bytes(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'tensor<4611686018427387905xf32>' has 2^59 elements or more}}
  %e = tensor.empty() : tensor<4611686018427387905xf32>
  // expected-error @below {{'tensor<4611686018427387905xf32>' has 2^59 elements or more}}
  %s = tensor.insert_slice %x into %e[0] [2] [1] : tensor<2xf32> into tensor<4611686018427387905xf32>
  %r = tensor.extract_slice %s[0] [2] [1] : tensor<4611686018427387905xf32> to tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// Arguments; sizes that are known, and none.
// expected-error @below {{'tensor<0x4294967296x?x134217728xf32>' has 2^59 elements or more}}
func.func @argument(%x: tensor<0x4294967296x?x134217728xf32>) -> tensor<f32> {
  %c = arith.constant dense<0.0> : tensor<f32>
  return %c : tensor<f32>
}

// -----

// A constant.
func.func @constant(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'tensor<4294967296x4294967296xf32>' has 2^59 elements or more}}
  %c = arith.constant dense<1.0> : tensor<4294967296x4294967296xf32>
  %c0 = arith.constant 0 : index
  %y = tensor.extract %c[%c0, %c0] : tensor<4294967296x4294967296xf32>
  %r = tensor.from_elements %y : tensor<f32>
  return %r : tensor<f32>
}

// -----

// The number that stands for what is not known.
func.func @least_number(%x: tensor<8xf32>) -> tensor<10xf32> {
  %c = arith.constant 0.0 : f32
  // expected-error @below {{'tensor.pad' op has a padding of -9223372036854775808, which no tensor is large enough for}}
  %r = tensor.pad %x low[-9223372036854775808] high[1] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<8xf32> to tensor<10xf32>
  return %r : tensor<10xf32>
}

// -----

func.func @mod_zero(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'linalg.generic' op divides by 0 in the indexing map of operand #0; give a divisor of at least 1}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 mod 0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

func.func @mod_negative(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'linalg.generic' op divides by -3 in the indexing map of operand #0; give a divisor of at least 1}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 mod -3)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

func.func @floordiv_zero(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'linalg.generic' op divides by 0 in the indexing map of operand #0; give a divisor of at least 1}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 - d0 floordiv 0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

func.func @ceildiv_zero(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'linalg.generic' op divides by 0 in the indexing map of operand #0; give a divisor of at least 1}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 ceildiv 0 + 1)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

func.func @mod_sum(%x: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{'linalg.generic' op divides by 0 in the indexing map of operand #0; give a divisor of at least 1}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ((d0 + d1) mod 0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// -----

func.func @apply(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  // expected-error@+1 {{'affine.apply' op divides by 0; give a divisor of at least 1}}
  %m = affine.apply affine_map<(d0) -> (d0 mod 0)>(%n)
  // expected-error@+1 {{'affine.min' op divides by -2; give a divisor of at least 1}}
  %k = affine.min affine_map<(d0) -> (d0, d0 floordiv -2)>(%m)
  %y = tensor.extract_slice %x[0] [%k] [1] : tensor<?xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @expansion(%x: tensor<8xf32>) -> tensor<1x4x2x1xf32> {
  // expected-error @below {{'tensor.expand_shape' op has the output shape [1, 4, 2, 2], which is not that of 'tensor<1x4x2x1xf32>'; give both the same sizes}}
  %y = tensor.expand_shape %x [[0, 1, 2, 3]] output_shape [1, 4, 2, 2] : tensor<8xf32> into tensor<1x4x2x1xf32>
  return %y : tensor<1x4x2x1xf32>
}
