// RUN: fad-translate --fad-to-plan --split-input-file --verify-diagnostics %s

// A constant tensor has no name in the graph, and is no number.

func.func @constant(%x: tensor<2xf32> {fad.nodes = ["x"]}) -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // expected-error @below {{the plan of a joint graph has no form for an operand that is a constant tensor, an empty one, or the destination of a linalg.generic}}
  %y = fad.elementwise ins(%x, %c : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fad.yield %s : f32
  }
  return %y : tensor<2xf32>
}

// -----

#t = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @transposed(%x: tensor<2x3xf32> {fad.nodes = ["x"]}) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  // expected-error @below {{the plan of a joint graph has no form for an operand with the dimensions in another order}}
  %y = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

func.func @destination(%x: tensor<2xf32> {fad.nodes = ["x"]}) -> tensor<2xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%x : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    // expected-error @below {{the plan of a joint graph has no form for an operand that is a constant tensor, an empty one, or the destination of a linalg.generic}}
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @empty() -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  // expected-error @below {{the plan of a joint graph has no form for an operand that is a constant tensor, an empty one, or the destination of a linalg.generic}}
  return %e : tensor<2xf32>
}

// -----

func.func @product(%x: tensor<2x2xf32> {fad.nodes = ["x"]}) -> tensor<2x2xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  // expected-error @below {{the plan of a joint graph has no form for 'linalg.matmul'}}
  %y = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// expected-error @below {{a plan is that of one joint function; leave out the other functions}}
module {
  func.func @a() {
    return
  }
  func.func @b() {
    return
  }
}
