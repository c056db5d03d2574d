// Gradients of gradients, through what adjoints are made of, against differences.
// check-fad-nightly has more programs.

// DEFINE: %{check} = %python %S/second_order.py %fad_tools_dir %s
// RUN: rm -rf %t
// RUN: %{check} convolution %t
// RUN: %if nightly %{ %{check} pooling %t %}
// RUN: %if nightly %{ %{check} softmax %t --size=3 %}
// RUN: %{check} product %t --size=3
// RUN: %if nightly %{ %{check} rows %t --arg=random:1 --arg=2 %}
// RUN: %{check} loop %t --arg=3 --size=2
// RUN: %{check} loop %t --arg=0 --size=2
// RUN: %if nightly %{ %{check} branch %t --arg=0 %}
// RUN: %{check} branch %t --arg=1
// RUN: %{check} until %t --arg=0.7
// RUN: %{check} pieces %t

func.func @convolution(%x: tensor<1x2x7xf64>, %w: tensor<3x2x2xf64>, %b: tensor<1x3x3xf64>) -> tensor<1x3x3xf64> {
  %y = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<2> : tensor<1xi64>}
      ins(%x, %w : tensor<1x2x7xf64>, tensor<3x2x2xf64>) outs(%b : tensor<1x3x3xf64>) -> tensor<1x3x3xf64>
  %t = math.tanh %y : tensor<1x3x3xf64>
  return %t : tensor<1x3x3xf64>
}

func.func @pooling(%x: tensor<1x5x2xf64>, %init: tensor<1x4x2xf64>) -> tensor<1x4x2xf64> {
  %s = math.sin %x : tensor<1x5x2xf64>
  %k = tensor.empty() : tensor<2xf64>
  %y = linalg.pooling_nwc_max ins(%s, %k : tensor<1x5x2xf64>, tensor<2xf64>) outs(%init : tensor<1x4x2xf64>) -> tensor<1x4x2xf64>
  %z = arith.mulf %y, %y : tensor<1x4x2xf64>
  return %z : tensor<1x4x2xf64>
}

func.func @softmax(%x: tensor<?x4xf64>) -> tensor<?x4xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf64>
  %e = tensor.empty(%n) : tensor<?x4xf64>
  %s = linalg.softmax dimension(1) ins(%x : tensor<?x4xf64>) outs(%e : tensor<?x4xf64>) -> tensor<?x4xf64>
  return %s : tensor<?x4xf64>
}

func.func @product(%x: tensor<?x3xf64>, %init: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.reduce { arith.mulf } ins(%x : tensor<?x3xf64>) outs(%init : tensor<?xf64>) dimensions = [1]
  return %r : tensor<?xf64>
}

// The adjoint is fad.scatter_add; all rows are the same.
#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @rows(%table: tensor<5x3xf64>, %ids: tensor<4xi64>) -> tensor<4x3xf64> {
  %e = tensor.empty() : tensor<4x3xf64>
  %r = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi64>) outs(%e : tensor<4x3xf64>) {
  ^bb0(%id: i64, %out: f64):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %element = tensor.extract %table[%i, %j] : tensor<5x3xf64>
    %s = math.sin %element : f64
    linalg.yield %s : f64
  } -> tensor<4x3xf64>
  return %r : tensor<4x3xf64>
}

func.func @loop(%n: index, %x: tensor<?xf64>, %w: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf64> {
    %m = arith.mulf %a, %w : tensor<?xf64>
    %s = math.sin %m : tensor<?xf64>
    scf.yield %s : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

func.func @branch(%c: i1, %x: tensor<3xf64>, %w: tensor<3xf64>) -> tensor<3xf64> {
  %r = scf.if %c -> tensor<3xf64> {
    %m = arith.mulf %x, %w : tensor<3xf64>
    %e = math.exp %m : tensor<3xf64>
    scf.yield %e : tensor<3xf64>
  } else {
    %s = math.cos %w : tensor<3xf64>
    scf.yield %s : tensor<3xf64>
  }
  return %r : tensor<3xf64>
}

func.func @pieces(%x: tensor<2x3xf64>, %y: tensor<1x3xf64>) -> tensor<5x5xf64> {
  %zero = arith.constant 0.0 : f64
  %c = tensor.concat dim(0) %x, %y, %x : (tensor<2x3xf64>, tensor<1x3xf64>, tensor<2x3xf64>) -> tensor<5x3xf64>
  %t = math.tanh %c : tensor<5x3xf64>
  %p = tensor.pad %t low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f64
  } : tensor<5x3xf64> to tensor<5x5xf64>
  return %p : tensor<5x5xf64>
}

// What a loop of unknown length counts is counted once.
func.func @until(%x: tensor<2xf64>) -> tensor<2xf64> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 0.2 : f64
  %factor = math.sin %x : tensor<2xf64>
  %r = scf.while (%a = %x) : (tensor<2xf64>) -> tensor<2xf64> {
    %first = tensor.extract %a[%c0] : tensor<2xf64>
    %more = arith.cmpf ogt, %first, %limit : f64
    scf.condition(%more) %a : tensor<2xf64>
  } do {
  ^bb0(%a: tensor<2xf64>):
    %m = arith.mulf %a, %factor : tensor<2xf64>
    scf.yield %m : tensor<2xf64>
  }
  return %r : tensor<2xf64>
}
