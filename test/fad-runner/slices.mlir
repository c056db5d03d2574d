// Slices without elements, and strides where nothing is stepped over: results and
// gradients.

// RUN: %python %S/Inputs/make_arrays.py %t 'none=np.ones(0)' 'four=np.arange(4.0)' 'none2=np.ones((0, 3))' \
// RUN:   'rows=np.arange(8.0).reshape(2, 4)' 'tiles=np.arange(12.0).reshape(1, 2, 2, 3)' 'wide=np.zeros((2, 4))'
// DEFINE: %{run} = fad-runner %s --policy=auto --check-gradients --entry

// RUN: %{run}=concat --arg=%t/four.npy | FileCheck %s --check-prefix=CONCAT
// CONCAT:      out0: tensor<4xf64> = [0, 0.841471, 0.9092974, 0.14112]
// CONCAT-NEXT: grad0: tensor<4xf64> = [1, 0.5403023, -0.4161468, -0.9899925]
// CONCAT-NEXT: grad1: tensor<0xf64> = []
// CONCAT-NOT:  FAIL
func.func @concat(%x: tensor<4xf64>, %y: tensor<0xf64>) -> tensor<4xf64> {
  %r = tensor.concat dim(0) %x, %y : (tensor<4xf64>, tensor<0xf64>) -> tensor<4xf64>
  %s = math.sin %r : tensor<4xf64>
  return %s : tensor<4xf64>
}

// Sizes that are known at run time.
// RUN: %{run}=concat_dynamic --arg=%t/none.npy --arg=%t/four.npy | FileCheck %s --check-prefix=CONCAT-NONE
// RUN: %{run}=concat_dynamic --arg=%t/four.npy --arg=%t/none.npy | FileCheck %s --check-prefix=CONCAT-END
// CONCAT-NONE:      out0: tensor<4xf64> = [0, 0.841471, 0.9092974, 0.14112]
// CONCAT-NONE-NEXT: grad0: tensor<0xf64> = []
// CONCAT-NONE-NEXT: grad1: tensor<4xf64> = [1, 0.5403023, -0.4161468, -0.9899925]
// CONCAT-END:       grad0: tensor<4xf64> = [1, 0.5403023, -0.4161468, -0.9899925]
// CONCAT-END-NEXT:  grad1: tensor<0xf64> = []
func.func @concat_dynamic(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %r = tensor.concat dim(0) %x, %y : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %s = math.sin %r : tensor<?xf64>
  return %s : tensor<?xf64>
}

// Or follow from others.
// RUN: %{run}=concat_whole --arg=%t/four.npy --arg=%t/none.npy | FileCheck %s --check-prefix=CONCAT-END
// RUN: not %{run}=concat_whole --arg=%t/four.npy --arg=%t/four.npy 2>&1 | FileCheck %s --check-prefix=CONCAT-MORE
// CONCAT-MORE: slices.mlir:[[#@LINE+2]]:8: error: the result has another size than the operands together
func.func @concat_whole(%x: tensor<4xf64>, %y: tensor<?xf64>) -> tensor<4xf64> {
  %r = tensor.concat dim(0) %x, %y : (tensor<4xf64>, tensor<?xf64>) -> tensor<4xf64>
  %s = math.sin %r : tensor<4xf64>
  return %s : tensor<4xf64>
}

// RUN: %{run}=pad | FileCheck %s --check-prefix=PAD
// PAD:      out0: tensor<2xf64> = [0.9092974, 0.9092974]
// PAD-NEXT: out1: tensor<3xf64> = [0, 2, 4]
// PAD-NEXT: grad0: tensor<0xf64> = []
func.func @pad(%x: tensor<0xf64>) -> (tensor<2xf64>, tensor<3xf64>) {
  %c = arith.constant 2.0 : f64
  %r = tensor.pad %x low[2] high[0] {
  ^bb0(%i: index):
    tensor.yield %c : f64
  } : tensor<0xf64> to tensor<2xf64>
  %s = math.sin %r : tensor<2xf64>
  %t = tensor.pad %x low[0] high[3] {
  ^bb0(%i: index):
    %n = arith.index_cast %i : index to i64
    %f = arith.sitofp %n : i64 to f64
    %g = arith.mulf %f, %c : f64
    tensor.yield %g : f64
  } : tensor<0xf64> to tensor<3xf64>
  return %s, %t : tensor<2xf64>, tensor<3xf64>
}

// RUN: %{run}=pad_dynamic --arg=%t/none2.npy | FileCheck %s --check-prefix=PAD-DYNAMIC
// PAD-DYNAMIC:      out0: tensor<1x4xf64> = [0.841471, 0.841471, 0.841471, 0.841471]
// PAD-DYNAMIC-NEXT: grad0: tensor<0x3xf64> = []
func.func @pad_dynamic(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c = arith.constant 1.0 : f64
  %r = tensor.pad %x low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f64
  } : tensor<?x?xf64> to tensor<?x?xf64>
  %s = math.sin %r : tensor<?x?xf64>
  return %s : tensor<?x?xf64>
}

// RUN: %{run}=unit_strides --arg=random:1 --arg=1 | FileCheck %s --check-prefix=STRIDES
// STRIDES:       out0: tensor<1x2xf64> = [-1, -2]
// STRIDES-NEXT:  out1: tensor<2x3x2xf64>
// STRIDES-COUNT-2: ok
func.func @unit_strides(%x: tensor<2x3x2xf64>, %y: tensor<1x2xf64>) -> (tensor<1x2xf64>, tensor<2x3x2xf64>) {
  %c = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[7.0, 8.0], [-1.0, -2.0], [9.0, 10.0]]]>
      : tensor<2x3x2xf64>
  %m = arith.mulf %x, %c : tensor<2x3x2xf64>
  %e = tensor.extract_slice %c[1, 1, 0] [1, 1, 2] [3, 2, 1] : tensor<2x3x2xf64> to tensor<1x2xf64>
  %s = math.sin %m : tensor<2x3x2xf64>
  %z = math.exp %y : tensor<1x2xf64>
  %r = tensor.insert_slice %z into %s[1, 1, 0] [1, 1, 2] [3, 2, 1] : tensor<1x2xf64> into tensor<2x3x2xf64>
  %t = tensor.extract_slice %s[0, 0, 1] [1, 2, 1] [3, 1, 2] : tensor<2x3x2xf64> to tensor<1x2xf64>
  %u = arith.mulf %t, %z : tensor<1x2xf64>
  %v = tensor.insert_slice %u into %r[0, 0, 1] [1, 2, 1] [5, 2, 7] : tensor<1x2xf64> into tensor<2x3x2xf64>
  return %e, %v : tensor<1x2xf64>, tensor<2x3x2xf64>
}

// A border that cuts off all that there is leaves the other border.
// RUN: %{run}=cut_all | FileCheck %s --check-prefix=CUT
// CUT:     out0: tensor<3xf64> = [0.5, 0.5, 0.5]
// CUT:     grad0: tensor<2xf64> = [0, 0]
// CUT-NOT: FAIL
func.func @cut_all(%x: tensor<2xf64>) -> tensor<3xf64> {
  %r = tensor.pad %x low[-2] high[3] {
  ^bb0(%i: index):
    %c = arith.constant 0.5 : f64
    tensor.yield %c : f64
  } : tensor<2xf64> to tensor<3xf64>
  return %r : tensor<3xf64>
}

// The constant of the border is in the region, and a border is negative.
// RUN: %{run}=pad_none --arg=%t/none2.npy | FileCheck %s --check-prefix=PAD-NONE
// PAD-NONE: out0: tensor<2x2xf64> = [0.5, 0.5, 0.5, 0.5]
// PAD-NONE-NOT: FAIL
func.func @pad_none(%x: tensor<0x?xf64>) -> tensor<2x?xf64> {
  %r = tensor.pad %x low[1, 0] high[1, -1] {
  ^bb0(%i: index, %j: index):
    %c = arith.constant 0.5 : f64
    tensor.yield %c : f64
  } : tensor<0x?xf64> to tensor<2x?xf64>
  return %r : tensor<2x?xf64>
}

// Dimensions of one element beside one that is stepped along, of which one is dropped.
// RUN: %{run}=step_and_drop --size=5 | FileCheck %s --check-prefix=STEP
// STEP:     out0: tensor<5x1x1xf64>
// STEP-NOT: FAIL
func.func @step_and_drop(%x: tensor<?x1x1xf64>, %y: tensor<3x1xf64>) -> (tensor<?x1x1xf64>, tensor<3xf64>) {
  %s = math.sin %y : tensor<3x1xf64>
  %r = tensor.insert_slice %s into %x[0, 0, 0] [3, 1, 1] [2, 1, 1] : tensor<3x1xf64> into tensor<?x1x1xf64>
  %e = tensor.extract_slice %x[0, 0, 0] [3, 1, 1] [2, 1, 1] : tensor<?x1x1xf64> to tensor<3xf64>
  %t = math.exp %e : tensor<3xf64>
  return %r, %t : tensor<?x1x1xf64>, tensor<3xf64>
}

// Columns of which the number is known at run time, as a gradient: cos(x).
// RUN: %{run}=concat_columns --arg=%t/rows.npy --arg=%t/rows.npy | FileCheck %s --check-prefix=COLUMNS
// COLUMNS:      grad0: tensor<2x4xf64> = [1, 0.5403023, -0.4161468, -0.9899925, -0.6536436, 0.2836622, 0.9601703, 0.7539023]
// COLUMNS-NEXT: grad1: tensor<2x4xf64> = [1, 0.5403023, -0.4161468, -0.9899925, -0.6536436, 0.2836622, 0.9601703, 0.7539023]
// COLUMNS-NOT:  FAIL
func.func @concat_columns(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c = tensor.concat dim(1) %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = math.sin %c : tensor<?x?xf64>
  return %s : tensor<?x?xf64>
}

// RUN: %{run}=pad_columns --arg=%t/rows.npy --arg=2 | FileCheck %s --check-prefix=PAD-COLUMNS
// PAD-COLUMNS:      out0: tensor<2x6xf64>
// PAD-COLUMNS-NEXT: grad0: tensor<2x4xf64> = [1, 0.5403023, -0.4161468, -0.9899925, -0.6536436, 0.2836622, 0.9601703, 0.7539023]
// PAD-COLUMNS-NOT:  FAIL
func.func @pad_columns(%x: tensor<?x?xf64>, %n: index) -> tensor<?x?xf64> {
  %z = arith.constant 0.0 : f64
  %s = tensor.pad %x low[0, 0] high[0, %n] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f64
  } : tensor<?x?xf64> to tensor<?x?xf64>
  %r = math.sin %s : tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// As a residual.
// DEFINE: %{policy} = bp
// DEFINE: %{columns} = fad-runner %s --policy=%{policy} --check-gradients --entry=columns \
// DEFINE:   --arg=%t/rows.npy --arg=3 | FileCheck %s --check-prefix=RESIDUAL
// RUN: %{columns}
// REDEFINE: %{policy} = recompute
// RUN: %{columns}
// REDEFINE: %{policy} = fad
// RUN: %{columns}
// REDEFINE: %{policy} = auto
// RUN: %{columns}
// RESIDUAL:      out0: tensor<2x3xf64> = [0.841471, 0.4107813, 0.893855, -0.9287679, -0.6876914, 0.9648662]
// RESIDUAL-NEXT: grad0: tensor<2x4xf64> = [0.5403023, -2.47835, 3.312929, 0, -20.23744, -107.7484, 105.9975, 0]
// RESIDUAL-NOT:  FAIL
func.func @columns(%x: tensor<?x?xf64>, %n: index) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %y = math.exp %x : tensor<?x?xf64>
  %s = tensor.extract_slice %y[0, 0] [%m, %n] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  %r = math.sin %s : tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// And as a result: the last tiles are cut off.
// RUN: %{run}=unpack_columns --arg=%t/tiles.npy --arg=%t/wide.npy | FileCheck %s --check-prefix=UNPACK
// UNPACK:     out0: tensor<2x4xf64> = [0, 1, 2, 6, 3, 4, 5, 9]
// UNPACK-NOT: FAIL
func.func @unpack_columns(%x: tensor<?x?x2x3xf64>, %d: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %d : tensor<?x?x2x3xf64> -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
