// RUN: %python %S/Inputs/check_to_cpu.py fad-opt %llvm_tools_dir %mlir_lib_dir %cxx %s

//===----------------------------------------------------------------------===//
// Who owns which buffer
//===----------------------------------------------------------------------===//

func.func @same_twice(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %y = math.sqrt %x : tensor<?xf32>
  return %y, %y : tensor<?xf32>, tensor<?xf32>
}

func.func @argument_twice(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  return %x, %x : tensor<?xf32>, tensor<?xf32>
}

func.func @value_and_view(%x: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<?xf32>) {
  %y = math.sqrt %x : tensor<2x?xf32>
  %0 = tensor.collapse_shape %y [[0, 1]] : tensor<2x?xf32> into tensor<?xf32>
  return %y, %0 : tensor<2x?xf32>, tensor<?xf32>
}

func.func @slice_of_argument(%x: tensor<4x?xf32>) -> tensor<2x?xf32> {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<4x?xf32>
  %0 = tensor.extract_slice %x[1, 0] [2, %d] [2, 1] : tensor<4x?xf32> to tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

func.func @constant() -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0, %0 : tensor<2xf32>, tensor<2xf32>
}

// The result may be either argument.
func.func @choose(%x: tensor<?xf32>, %y: tensor<?xf32>, %first: i1) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = scf.if %first -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %y : tensor<?xf32>
  }
  return %0, %y : tensor<?xf32>, tensor<?xf32>
}

// The text overwrites its argument; the caller's array stays.
func.func @destination(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func private @callee(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = math.sqrt %x : tensor<?xf32>
  return %0, %x : tensor<?xf32>, tensor<?xf32>
}

func.func @call(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0:2 = func.call @callee(%x) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}

func.func @no_results(%x: tensor<?xf32>) {
  %0 = math.sqrt %x : tensor<?xf32>
  return
}

// x, doubled `n` times.
func.func @loop(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<?xf32> {
    %1 = arith.addf %y, %y : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// Columns of which the number is known at run time, and which start with the first: the
// rows of the slice have gaps, and those of the result have none.
func.func @columns(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %y = arith.negf %x : tensor<?x?xf32>
  %0 = tensor.extract_slice %y[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @columns_of_static(%x: tensor<4x5xf32>, %n: index) -> tensor<4x?xf32> {
  %y = arith.negf %x : tensor<4x5xf32>
  %0 = tensor.extract_slice %y[0, 0] [4, %n] [1, 1] : tensor<4x5xf32> to tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

func.func @columns_and_source(%x: tensor<?x?xf32>, %m: index, %n: index) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %y = arith.negf %x : tensor<?x?xf32>
  %0 = tensor.extract_slice %y[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %0, %y : tensor<?x?xf32>, tensor<?x?xf32>
}

// Every `s`th row.
func.func @columns_of_steps(%x: tensor<?x?xf32>, %m: index, %n: index, %s: index) -> tensor<?x?xf32> {
  %y = arith.negf %x : tensor<?x?xf32>
  %0 = tensor.extract_slice %y[0, 0] [%m, %n] [%s, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @columns_of_plane(%x: tensor<?x?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %y = arith.negf %x : tensor<?x?x?xf32>
  %0 = tensor.extract_slice %y[0, 0, 0] [%m, 1, %n] [1, 1, 1] : tensor<?x?x?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Some columns of `x`, from the `n`th iteration on some of `y`.
func.func @columns_from_loop(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %m: index, %n: index, %trips: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.negf %x : tensor<?x?xf32>
  %b = arith.negf %y : tensor<?x?xf32>
  %0 = tensor.extract_slice %a[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %1 = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %0) -> tensor<?x?xf32> {
    %2 = tensor.extract_slice %b[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    scf.yield %2 : tensor<?x?xf32>
  }
  return %1 : tensor<?x?xf32>
}

func.func @columns_from_branch(%x: tensor<?x?xf32>, %m: index, %n: index, %first: i1) -> tensor<?x?xf32> {
  %y = arith.negf %x : tensor<?x?xf32>
  %0 = scf.if %first -> tensor<?x?xf32> {
    %1 = tensor.extract_slice %y[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    scf.yield %1 : tensor<?x?xf32>
  } else {
    %1 = tensor.extract_slice %y[1, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    scf.yield %1 : tensor<?x?xf32>
  }
  return %0 : tensor<?x?xf32>
}

// Whole rows, which have no gaps.
func.func @first_rows(%x: tensor<?x?xf32>, %m: index) -> tensor<?x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %y = arith.negf %x : tensor<?x?xf32>
  %0 = tensor.extract_slice %y[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func private @negate(%x: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {no_inline} {
  %0 = arith.negf %x : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @call_with_columns(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %y = arith.negf %x : tensor<?x?xf32>
  %0 = tensor.extract_slice %y[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %1 = call @negate(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// The callee writes to the columns, and the caller returns all of the tensor.
func.func private @double_in_place(%x: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {no_inline} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} outs(%x : tensor<?x?xf32>) {
  ^bb0(%a: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @call_that_writes(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %y = arith.negf %x : tensor<?x?xf32>
  %0 = tensor.extract_slice %y[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %1 = call @double_in_place(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = tensor.insert_slice %1 into %y[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// One column less with each call.
func.func @narrow(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %y = arith.negf %x : tensor<?x?xf32>
  %0 = tensor.extract_slice %y[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %ends = arith.cmpi ule, %n, %c1 : index
  %1 = scf.if %ends -> tensor<?x?xf32> {
    scf.yield %0 : tensor<?x?xf32>
  } else {
    %next = arith.subi %n, %c1 : index
    %2 = func.call @narrow(%0, %next) : (tensor<?x?xf32>, index) -> tensor<?x?xf32>
    scf.yield %2 : tensor<?x?xf32>
  }
  return %1 : tensor<?x?xf32>
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

func.func @vector(%x: tensor<?xf32>, %s: f32) -> tensor<?xf32> {
  %0 = fad.elementwise ins(%x, %s : tensor<?xf32>, f32) -> tensor<?xf32> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    fad.yield %1 : f32
  }
  return %0 : tensor<?xf32>
}

func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %0 = arith.addf %x, %x : tensor<f32>
  return %0 : tensor<f32>
}

func.func @matrix(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi1>) {
  %0 = arith.subf %x, %y : tensor<?x?xf32>
  %1 = arith.cmpf olt, %x, %y : tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xi1>
}

func.func @static_rows(%x: tensor<3x40000xf32>) -> tensor<3x40000xf32> {
  %0 = arith.addf %x, %x : tensor<3x40000xf32>
  return %0 : tensor<3x40000xf32>
}

func.func @broadcast(%x: tensor<?x1xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x1xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.subf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @transpose(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %0 = linalg.transpose ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
  return %0 : tensor<?x?xf32>
}

func.func @rotate(%x: tensor<5x?x7xf32>) -> tensor<?x7x5xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<5x?x7xf32>
  %e = tensor.empty(%n) : tensor<?x7x5xf32>
  %0 = linalg.transpose ins(%x : tensor<5x?x7xf32>) outs(%e : tensor<?x7x5xf32>) permutation = [1, 2, 0]
  return %0 : tensor<?x7x5xf32>
}

func.func @index(%x: tensor<?x?xf32>) -> tensor<?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xi64>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x?xi64>) {
  ^bb0(%a: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %1 = arith.muli %i, %n : index
    %2 = arith.addi %1, %j : index
    %3 = arith.index_cast %2 : index to i64
    linalg.yield %3 : i64
  } -> tensor<?x?xi64>
  return %0 : tensor<?x?xi64>
}

func.func @pad_insert(%x: tensor<?xf32>, %y: tensor<2xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  %1 = tensor.insert_slice %y into %0[0] [2] [1] : tensor<2xf32> into tensor<?xf32>
  return %1 : tensor<?xf32>
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @matmul_nt(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @matmul_tn(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(k, j, i) -> (k, i)>, affine_map<(k, j, i) -> (k, j)>, affine_map<(k, j, i) -> (i, j)>],
      iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @batch_matmul(%a: tensor<2x?x?xf32>, %b: tensor<2x?x?xf32>, %c: tensor<2x?x?xf32>) -> tensor<2x?x?xf32> {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x?x?xf32>, tensor<2x?x?xf32>) outs(%c : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}

func.func @matvec(%a: tensor<?x?xf32>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.matvec ins(%a, %x : tensor<?x?xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @vecmat(%x: tensor<?xf32>, %a: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.vecmat ins(%x, %a : tensor<?xf32>, tensor<?x?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @dot(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = linalg.dot ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%z : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @sum_rows(%x: tensor<?x?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) dimensions = [0]
  return %0 : tensor<?xf32>
}

func.func @sum_columns(%x: tensor<?x?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  return %0 : tensor<?xf32>
}

func.func @convolution(%x: tensor<1x1x?x?xf32>, %k: tensor<2x1x3x3xf32>, %z: tensor<1x2x?x?xf32>) -> tensor<1x2x?x?xf32> {
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<1x1x?x?xf32>, tensor<2x1x3x3xf32>) outs(%z : tensor<1x2x?x?xf32>) -> tensor<1x2x?x?xf32>
  return %0 : tensor<1x2x?x?xf32>
}
