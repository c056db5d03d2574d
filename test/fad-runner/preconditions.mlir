// Arguments that do not suit the function are an error at the operation that
// they do not suit, not a read beyond the end of a tensor.

// RUN: %python %S/Inputs/make_arrays.py %t 'a3=np.ones(3, "f4")' 'a4=np.ones(4, "f4")' \
// RUN:   'm34=np.ones((3, 4), "f4")' 'm45=np.ones((4, 5), "f4")' 'm53=np.ones((5, 3), "f4")' \
// RUN:   'good=np.array([0, 3])' 'bad=np.array([0, 4])' 'a0=np.ones(0, "f4")' 'a8=np.arange(8, dtype="f4")' 'i1=np.array([[7], [2]])' \
// RUN:   'a3r=np.arange(3, dtype="f4")' 'a4r=np.arange(4, dtype="f4")' 'm31=np.ones((3, 1), "f4")'

// RUN: not fad-runner %s --entry=add --arg=%t/a3.npy --arg=%t/a4.npy 2>&1 | FileCheck %s --check-prefix=ADD
// ADD: preconditions.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: dimension #0 of input/output operand #1 is incompatible with inferred dimension size
func.func @add(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = arith.addf %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}

// RUN: fad-runner %s --entry=matmul --arg=%t/m34.npy --arg=%t/m45.npy | FileCheck %s --check-prefix=GOOD
// GOOD: out0: tensor<3x5xf32> min 4 max 4
// RUN: not fad-runner %s --entry=matmul --arg=%t/m34.npy --arg=%t/m53.npy 2>&1 | FileCheck %s --check-prefix=MATMUL
// RUN: not fad-runner %s --entry=matmul --policy=fad --arg=%t/m34.npy --arg=%t/m53.npy 2>&1 | FileCheck %s --check-prefix=MATMUL
// MATMUL: preconditions.mlir:[[#@LINE+9]]:8: error: these sizes do not fit together: dimension #0 of input/output operand #1 is incompatible
func.func @matmul(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %w, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%fill : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// In a function that is called, on values that are not arguments.
// RUN: fad-runner %s --entry=caller --size=4 | FileCheck %s --check-prefix=CALLED
// CALLED: out0: tensor<4xf32>
// RUN: not fad-runner %s --entry=caller --size=5 2>&1 | FileCheck %s --check-prefix=CAST
// CAST: preconditions.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: size mismatch of dim 0
func.func private @callee(%x: tensor<?xf32>) -> tensor<4xf32> {
  %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @caller(%x: tensor<?xf32>) -> tensor<4xf32> {
  %e = math.exp %x : tensor<?xf32>
  %y = call @callee(%e) : (tensor<?xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Assertions of the program: PyTorch's exporter leaves such behind. They do not
// stand in the way of gradients either.
// RUN: fad-runner %s --entry=assert --size=3 --policy=fad | FileCheck %s --check-prefix=HOLDS
// HOLDS: grad0: tensor<3xf32> = [2, 2, 2]
// RUN: not fad-runner %s --entry=assert --size=4 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: preconditions.mlir:[[#@LINE+6]]:3: error: assertion failed: mismatched size for broadcast
func.func @assert(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %ok = arith.cmpi eq, %size, %c3 : index
  cf.assert %ok, "mismatched size for broadcast"
  %y = arith.addf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// One that depends on elements.
// RUN: fad-runner %s --entry=gather --arg=1 --arg=%t/good.npy | FileCheck %s --check-prefix=INSIDE
// INSIDE: out0: tensor<2xf32> = [1, 1]
// RUN: not fad-runner %s --entry=gather --arg=1 --arg=%t/bad.npy 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: preconditions.mlir:[[#@LINE+12]]:5: error: assertion failed: index must be smaller than dim size
func.func @gather(%table: tensor<4xf32>, %indices: tensor<?xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %size = tensor.dim %indices, %c0 : tensor<?xi64>
  %empty = tensor.empty(%size) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%indices : tensor<?xi64>) outs(%empty : tensor<?xf32>) {
  ^bb0(%in: i64, %out: f32):
    %index = arith.index_cast %in : i64 to index
    %ok = arith.cmpi ult, %index, %c4 : index
    cf.assert %ok, "index must be smaller than dim size"
    %element = tensor.extract %table[%index] : tensor<4xf32>
    linalg.yield %element : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// And an element that is not there, without one.
// RUN: not fad-runner %s --entry=extract --arg=1 --arg=4 2>&1 | FileCheck %s --check-prefix=EXTRACT
// EXTRACT: preconditions.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: out-of-bounds access
func.func @extract(%x: tensor<4xf32>, %index: index) -> f32 {
  %y = tensor.extract %x[%index] : tensor<4xf32>
  return %y : f32
}

// Sizes that only look as though they might not fit.
// RUN: fad-runner %s --entry=maps --arg=%t/m34.npy --arg=%t/a4.npy | FileCheck %s --check-prefix=MAPS
// RUN: fad-runner %s --entry=maps --size=0 | FileCheck %s --check-prefix=EMPTY
// MAPS:  out0: tensor<3x4xf32> min 3 max 3
// EMPTY: out0: tensor<0x0xf32> = []
func.func @maps(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %c1 = arith.constant 1 : index
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (0, 0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %one : tensor<?x?xf32>, tensor<?xf32>, tensor<1x1xf32>) outs(%x : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %ab = arith.addf %a, %b : f32
    %abc = arith.addf %ab, %c : f32
    linalg.yield %abc : f32
  } -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// Integer division that the processor would trap on.
// RUN: fad-runner %s --entry=divide --size=2 --arg=7 --arg=-2 | FileCheck %s --check-prefix=QUOTIENT
// QUOTIENT: out0: tensor<2xi32> = [-3, -3]
// RUN: not fad-runner %s --entry=divide --size=2 --arg=7 --arg=0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: preconditions.mlir:[[#@LINE+4]]:8: error: division by zero
// RUN: not fad-runner %s --entry=divide --size=2 --arg=-2147483648 --arg=-1 2>&1 | FileCheck %s --check-prefix=QUOTIENTS
// QUOTIENTS: preconditions.mlir:[[#@LINE+2]]:8: error: the quotient is too large for its type
func.func @divide(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %z = arith.divsi %x, %y : tensor<?xi32>
  return %z : tensor<?xi32>
}

// RUN: not fad-runner %s --entry=too_many --arg=1000 --arg=36028797018963968 2>&1 | FileCheck %s --check-prefix=TOO-MANY
// TOO-MANY: preconditions.mlir:[[#@LINE+2]]:8: error: a tensor has too many elements
func.func @too_many(%m: index, %n: index) -> tensor<?x?x4xf32> {
  %0 = tensor.empty(%m, %n) : tensor<?x?x4xf32>
  return %0 : tensor<?x?x4xf32>
}

// RUN: not fad-runner %s --entry=negative --arg=-3 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: preconditions.mlir:[[#@LINE+2]]:8: error: a size is negative
func.func @negative(%size: index) -> tensor<?xf32> {
  %x = tensor.empty(%size) : tensor<?xf32>
  return %x : tensor<?xf32>
}

// RUN: fad-runner %s --entry=expand --size=8 | FileCheck %s --check-prefix=EXPAND
// EXPAND: out0: tensor<2x4xf32>
// RUN: not fad-runner %s --entry=expand --size=10 2>&1 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: preconditions.mlir:[[#@LINE+6]]:8: error: the sizes of the result have another product than the size that they expand
func.func @expand(%x: tensor<?xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %rows = arith.ceildivui %size, %c4 : index
  %y = tensor.expand_shape %x [[0, 1]] output_shape [%rows, 4] : tensor<?xf32> into tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// Slices: where they lie, and how large they are.
// RUN: fad-runner %s --entry=slice --arg=%t/a8.npy --arg=2 --arg=3 | FileCheck %s --check-prefix=SLICE
// SLICE: out0: tensor<3xf32> = [2, 3, 4]
// RUN: not fad-runner %s --entry=slice --arg=%t/a8.npy --arg=2 --arg=-1 2>&1 | FileCheck %s --check-prefix=SLICE-SIZE
// SLICE-SIZE: preconditions.mlir:[[#@LINE+2]]:8: error: a size is negative
func.func @slice(%x: tensor<?xf32>, %offset: index, %size: index) -> tensor<?xf32> {
  %y = tensor.extract_slice %x[%offset] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

// RUN: fad-runner %s --entry=insert --arg=%t/a3.npy --arg=%t/a8.npy --arg=5 --arg=3 --arg=1 | FileCheck %s --check-prefix=INSERT
// INSERT: out0: tensor<8xf32> = [0, 1, 2, 3, 4, 1, 1, 1]
// RUN: fad-runner %s --entry=insert --arg=%t/a3.npy --arg=%t/a8.npy --arg=7 --arg=3 --arg=-3 | FileCheck %s --check-prefix=INSERT-BACK
// INSERT-BACK: out0: tensor<8xf32> = [0, 1, 2, 3, 1, 5, 6, 1]
// RUN: not fad-runner %s --entry=insert --arg=%t/a3.npy --arg=%t/a8.npy --arg=5 --arg=2 --arg=1 2>&1 | FileCheck %s --check-prefix=INSERT-SIZE
// RUN: not fad-runner %s --entry=insert --arg=%t/a3.npy --arg=%t/a8.npy --arg=0 --arg=-1 --arg=1 2>&1 | FileCheck %s --check-prefix=INSERT-SIZE
// INSERT-SIZE: preconditions.mlir:[[#@LINE+7]]:8: error: the slice has another size than what is inserted
// RUN: not fad-runner %s --entry=insert --arg=%t/a3.npy --arg=%t/a8.npy --arg=6 --arg=3 --arg=1 2>&1 | FileCheck %s --check-prefix=INSERT-PLACE
// RUN: not fad-runner %s --entry=insert --arg=%t/a3.npy --arg=%t/a8.npy --arg=-1 --arg=3 --arg=1 2>&1 | FileCheck %s --check-prefix=INSERT-PLACE
// RUN: not fad-runner %s --entry=insert --arg=%t/a3.npy --arg=%t/a8.npy --arg=0 --arg=3 --arg=4 2>&1 | FileCheck %s --check-prefix=INSERT-PLACE
// RUN: not fad-runner %s --entry=insert --arg=%t/a3.npy --arg=%t/a8.npy --arg=1 --arg=3 --arg=-1 2>&1 | FileCheck %s --check-prefix=INSERT-PLACE
// INSERT-PLACE: preconditions.mlir:[[#@LINE+2]]:8: error: the slice is not inside of the tensor
func.func @insert(%y: tensor<?xf32>, %x: tensor<?xf32>, %offset: index, %size: index, %stride: index) -> tensor<?xf32> {
  %z = tensor.insert_slice %y into %x[%offset] [%size] [%stride] : tensor<?xf32> into tensor<?xf32>
  return %z : tensor<?xf32>
}

// A row, and nothing at the end.
// RUN: fad-runner %s --entry=insert_row --arg=%t/a4.npy --arg=%t/m34.npy --arg=2 | FileCheck %s --check-prefix=ROW
// ROW: out0: tensor<3x4xf32>
// RUN: not fad-runner %s --entry=insert_row --arg=%t/a4.npy --arg=%t/m34.npy --arg=3 2>&1 | FileCheck %s --check-prefix=ROW-PLACE
// ROW-PLACE: preconditions.mlir:[[#@LINE+6]]:8: error: the slice is not inside of the tensor
// RUN: not fad-runner %s --entry=insert_row --arg=%t/a3.npy --arg=%t/m34.npy --arg=2 2>&1 | FileCheck %s --check-prefix=ROW-SIZE
// ROW-SIZE: preconditions.mlir:[[#@LINE+4]]:8: error: the slice has another size than what is inserted
func.func @insert_row(%row: tensor<?xf32>, %x: tensor<?x?xf32>, %at: index) -> tensor<?x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %z = tensor.insert_slice %row into %x[%at, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
// RUN: fad-runner %s --entry=insert_nothing --arg=%t/a0.npy --arg=%t/a8.npy --arg=8 | FileCheck %s --check-prefix=NOTHING
// NOTHING: out0: tensor<8xf32> = [0, 1, 2, 3, 4, 5, 6, 7]
func.func @insert_nothing(%y: tensor<?xf32>, %x: tensor<?xf32>, %at: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %z = tensor.insert_slice %y into %x[%at] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %z : tensor<?xf32>
}

// RUN: fad-runner %s --entry=pad --arg=%t/a4.npy --arg=2 --arg=0 | FileCheck %s --check-prefix=PAD
// PAD: out0: tensor<6xf32> = [0, 0, 1, 1, 1, 1]
// RUN: not fad-runner %s --entry=pad --arg=%t/a4.npy --arg=-2 --arg=0 2>&1 | FileCheck %s --check-prefix=PAD-NEGATIVE
// RUN: not fad-runner %s --entry=pad --arg=%t/a4.npy --arg=0 --arg=-6 2>&1 | FileCheck %s --check-prefix=PAD-NEGATIVE
// PAD-NEGATIVE: preconditions.mlir:[[#@LINE+3]]:8: error: a size of padding is negative; use tensor.extract_slice to leave elements out
func.func @pad(%x: tensor<?xf32>, %low: index, %high: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[%low] high[%high] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}
// RUN: fad-runner %s --entry=pad_to_9 --size=8 | FileCheck %s --check-prefix=PAD-STATIC
// PAD-STATIC: out0: tensor<9xf32>
// RUN: not fad-runner %s --entry=pad_to_9 --size=3 2>&1 | FileCheck %s --check-prefix=PAD-RESULT
// PAD-RESULT: preconditions.mlir:[[#@LINE+3]]:8: error: the result has another size than the padded operand
func.func @pad_to_9(%x: tensor<?xf32>) -> tensor<9xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<9xf32>
  return %y : tensor<9xf32>
}

// RUN: fad-runner %s --entry=concat --arg=%t/m34.npy --arg=%t/m34.npy | FileCheck %s --check-prefix=CONCAT
// CONCAT: out0: tensor<6x4xf32>
// RUN: not fad-runner %s --entry=concat --arg=%t/m34.npy --arg=%t/m45.npy 2>&1 | FileCheck %s --check-prefix=CONCAT-SIZES
// CONCAT-SIZES: preconditions.mlir:[[#@LINE+2]]:8: error: the operands have different sizes
func.func @concat(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = tensor.concat dim(0) %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// Sizes that wrap: what is allocated would be small, and what is written is not.
// RUN: not fad-runner %s --entry=pad --arg=%t/a4.npy --arg=9223372036854775807 --arg=9223372036854775807 2>&1 | FileCheck %s --check-prefix=PAD-WRAPS
// RUN: not fad-runner %s --entry=pad --arg=%t/a4.npy --arg=9223372036854775804 --arg=0 2>&1 | FileCheck %s --check-prefix=PAD-WRAPS
// RUN: not fad-runner %s --entry=pad --arg=%t/a4.npy --arg=0 --arg=576460752303423484 2>&1 | FileCheck %s --check-prefix=PAD-WRAPS
// PAD-WRAPS: preconditions.mlir:[[#@LINE-32]]:8: error: a tensor has too many elements
// RUN: not fad-runner %s --entry=pad_rows --arg=%t/m34.npy --arg=0 --arg=576460752303423480 2>&1 | FileCheck %s --check-prefix=PAD-ROWS
// RUN: not fad-runner %s --entry=pad_rows --arg=%t/m34.npy --arg=4294967296 --arg=4294967296 2>&1 | FileCheck %s --check-prefix=PAD-ROWS
// PAD-ROWS: preconditions.mlir:[[#@LINE+3]]:8: error: a tensor has too many elements
func.func @pad_rows(%x: tensor<?x?xf32>, %rows: index, %columns: index) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[%rows, 0] high[0, %columns] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Also where there are no elements, and what is computed from the sizes has some.
// RUN: fad-runner %s --entry=rows --arg=2 --arg=1 | FileCheck %s --check-prefix=ROWS
// ROWS: out0: tensor<4xf32> = [1, 1, 1, 1]
// RUN: not fad-runner %s --entry=rows --arg=288230376151711744 --arg=1 2>&1 | FileCheck %s --check-prefix=ROWS-WRAP
// ROWS-WRAP: preconditions.mlir:[[#@LINE+4]]:8: error: a tensor has too many elements
func.func @rows(%n: index, %x: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.splat %x[%n] : tensor<?x0xf32>
  %q = tensor.concat dim(0) %r, %r : (tensor<?x0xf32>, tensor<?x0xf32>) -> tensor<?x0xf32>
  %m = tensor.dim %q, %c0 : tensor<?x0xf32>
  %s = tensor.splat %x[%m] : tensor<?xf32>
  return %s : tensor<?xf32>
}

// RUN: not fad-runner %s --entry=collapse --arg=4294967296 --arg=1 2>&1 | FileCheck %s --check-prefix=COLLAPSE
// COLLAPSE: preconditions.mlir:[[#@LINE+3]]:8: error: a tensor has too many elements
func.func @collapse(%n: index, %x: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.splat %x[%n, %n, %c0] : tensor<?x?x?xf32>
  %q = tensor.collapse_shape %r [[0, 1, 2]] : tensor<?x?x?xf32> into tensor<?xf32>
  return %q : tensor<?xf32>
}

// Slices the last index of which wraps into the tensor.
// RUN: fad-runner %s --entry=steps --arg=%t/a8.npy --arg=1 --arg=3 --arg=3 | FileCheck %s --check-prefix=STEPS
// STEPS: out0: tensor<3xf32> = [1, 4, 7]
// RUN: fad-runner %s --entry=steps --arg=%t/a8.npy --arg=7 --arg=3 --arg=-3 | FileCheck %s --check-prefix=STEPS-BACK
// STEPS-BACK: out0: tensor<3xf32> = [7, 4, 1]
// RUN: fad-runner %s --entry=steps --arg=%t/a8.npy --arg=5 --arg=3 --arg=0 | FileCheck %s --check-prefix=STEPS-NONE
// STEPS-NONE: out0: tensor<3xf32> = [5, 5, 5]
// RUN: fad-runner %s --entry=steps --arg=%t/a8.npy --arg=8 --arg=0 --arg=1 | FileCheck %s --check-prefix=STEPS-ZERO
// STEPS-ZERO: out0: tensor<0xf32> = []
// RUN: not fad-runner %s --entry=steps --arg=%t/a8.npy --arg=1 --arg=3 --arg=-9223372036854775808 2>&1 | FileCheck %s --check-prefix=STEPS-WRAP
// RUN: not fad-runner %s --entry=steps --arg=%t/a8.npy --arg=1 --arg=5 --arg=4611686018427387904 2>&1 | FileCheck %s --check-prefix=STEPS-WRAP
// RUN: not fad-runner %s --entry=steps --arg=%t/a8.npy --arg=2 --arg=3 --arg=3 2>&1 | FileCheck %s --check-prefix=STEPS-WRAP
// RUN: not fad-runner %s --entry=steps --arg=%t/a8.npy --arg=5 --arg=3 --arg=-3 2>&1 | FileCheck %s --check-prefix=STEPS-WRAP
// RUN: not fad-runner %s --entry=steps --arg=%t/a8.npy --arg=8 --arg=1 --arg=1 2>&1 | FileCheck %s --check-prefix=STEPS-WRAP
// STEPS-WRAP: preconditions.mlir:[[#@LINE+2]]:8: error: the slice is not inside of the tensor
func.func @steps(%x: tensor<?xf32>, %offset: index, %size: index, %stride: index) -> tensor<?xf32> {
  %y = tensor.extract_slice %x[%offset] [%size] [%stride] : tensor<?xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}
// RUN: not fad-runner %s --entry=insert --arg=%t/a3.npy --arg=%t/a8.npy --arg=1 --arg=3 --arg=-9223372036854775808 2>&1 | FileCheck %s --check-prefix=INSERT-WRAP
// INSERT-WRAP: error: the slice is not inside of the tensor

// Operations that are written as others: what these need is checked.
// RUN: fad-runner %s --entry=softmax --size=3 --arg=1 | FileCheck %s --check-prefix=SOFTMAX
// SOFTMAX: out0: tensor<3xf32> = [0.3333333, 0.3333333, 0.3333333]
// RUN: not fad-runner %s --entry=softmax --arg=%t/a3.npy --arg=%t/a4.npy 2>&1 | FileCheck %s --check-prefix=SOFTMAX-SIZES
// SOFTMAX-SIZES: preconditions.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together
func.func @softmax(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = linalg.softmax dimension(0) ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
// RUN: fad-runner %s --entry=take --arg=%t/a8.npy --arg=%t/i1.npy | FileCheck %s --check-prefix=TAKE
// TAKE: out0: tensor<2x1xf32> = [7, 2]
// RUN: not fad-runner %s --entry=take --arg=%t/a4.npy --arg=%t/i1.npy 2>&1 | FileCheck %s --check-prefix=TAKE-OUTSIDE
// TAKE-OUTSIDE: preconditions.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: out-of-bounds access
func.func @take(%x: tensor<?xf32>, %i: tensor<2x1xindex>) -> tensor<2x1xf32> {
  %y = tensor.gather %x[%i] gather_dims([0]) : (tensor<?xf32>, tensor<2x1xindex>) -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// Indices that are outside in between the first iteration and the last, or only
// where loops differ.
// RUN: fad-runner %s --entry=cycle --arg=%t/a8.npy --size=9 | FileCheck %s --check-prefix=CYCLE
// CYCLE: out0: tensor<9xf32> min 0 max 7
// RUN: fad-runner %s --entry=cycle --arg=%t/a3.npy --size=3 | FileCheck %s --check-prefix=CYCLE-PART
// CYCLE-PART: out0: tensor<3xf32> = [1, 1, 1]
// RUN: not fad-runner %s --entry=cycle --arg=%t/a4.npy --size=9 2>&1 | FileCheck %s --check-prefix=CYCLE-OUTSIDE
// CYCLE-OUTSIDE: preconditions.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: an index of operand #0 is outside of dimension #0
func.func @cycle(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 mod 8)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}
// RUN: fad-runner %s --entry=band --arg=%t/a8.npy | FileCheck %s --check-prefix=BAND
// BAND: out0: tensor<2x4xf32> = [3, 2, 1, 0, 5, 4, 3, 2]
// RUN: not fad-runner %s --entry=band --arg=%t/a4.npy 2>&1 | FileCheck %s --check-prefix=BAND-OUTSIDE
// BAND-OUTSIDE: preconditions.mlir:[[#@LINE+3]]:8: error: these sizes do not fit together
func.func @band(%x: tensor<?xf32>) -> tensor<2x4xf32> {
  %y = tensor.empty() : tensor<2x4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 - d1 + 3)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<2x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
// RUN: not fad-runner %s --entry=differences --arg=%t/a4.npy 2>&1 | FileCheck %s --check-prefix=DIFFERENCES
// DIFFERENCES: preconditions.mlir:[[#@LINE+3]]:8: error: these sizes do not fit together: an index of operand #0 is outside of dimension #0
func.func @differences(%x: tensor<4xf32>) -> tensor<4x4xf32> {
  %y = tensor.empty() : tensor<4x4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 - d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// A loop that occurs twice in an index, and a remainder that skips numbers: all
// iterations are tried.
// RUN: fad-runner %s --entry=halves --policy=auto --check-gradients --arg=%t/a8.npy --size=15 | FileCheck %s --check-prefix=HALVES
// HALVES: out0: tensor<15xf32> min 0 max 7
// HALVES: ok
// RUN: not fad-runner %s --entry=halves --arg=%t/a8.npy --size=16 2>&1 | FileCheck %s --check-prefix=HALVES-OUTSIDE
// HALVES-OUTSIDE: preconditions.mlir:[[#@LINE+4]]:8: error: these sizes do not fit together: dimension #0 of input/output operand #0 is incompatible with inferred dimension size{{$}}
// RUN: fad-runner %s --entry=halves --arg=%t/a0.npy --size=0 | FileCheck %s --check-prefix=HALVES-NONE
// HALVES-NONE: out0: tensor<0xf32> = []
func.func @halves(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 - d0 floordiv 2)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}
// RUN: fad-runner %s --entry=odd --policy=auto --check-gradients --arg=%t/a4r.npy --size=3 | FileCheck %s --check-prefix=ODD
// ODD: out0: tensor<3xf32> = [1, 3, 1]
// ODD: ok
// RUN: fad-runner %s --entry=odd --arg=%t/a3r.npy --size=1 | FileCheck %s --check-prefix=ODD-ONE
// ODD-ONE: out0: tensor<1xf32> = [1]
// RUN: not fad-runner %s --entry=odd --arg=%t/a3r.npy --size=3 2>&1 | FileCheck %s --check-prefix=ODD-OUTSIDE
// ODD-OUTSIDE: preconditions.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: an index of operand #0 is outside of dimension #0{{$}}
func.func @odd(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> ((d0 * 2) mod 4 + 1)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}
// Below 0 between the first iteration and the last, where two loops meet.
// RUN: fad-runner %s --entry=meet --arg=%t/a4r.npy --arg=%t/m31.npy | FileCheck %s --check-prefix=MEET
// MEET: out0: tensor<3x1xf32> = [0, 1, 0]
// RUN: not fad-runner %s --entry=meet --arg=%t/a4r.npy --arg=%t/m34.npy 2>&1 | FileCheck %s --check-prefix=MEET-OUTSIDE
// MEET-OUTSIDE: preconditions.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: an index of operand #0 is outside of dimension #0{{$}}
func.func @meet(%x: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ((d0 + d1) mod 2 - d1 mod 3)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// An index that is outside between two iterations in which it wraps to 0.
// RUN: fad-runner %s --entry=wrap --arg=%t/a4r.npy --size=1 | FileCheck %s --check-prefix=ONCE
// ONCE: out0: tensor<1xf32> = [0]
// RUN: not fad-runner %s --entry=wrap --arg=%t/a4r.npy --size=5 2>&1 | FileCheck %s --check-prefix=WRAP
// WRAP: preconditions.mlir:[[#@LINE+2]]:8: error: these sizes do not fit together: an index of operand #0 is outside of dimension #0{{$}}
func.func @wrap(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 * 4611686018427387904)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// A loop that would not end.
// RUN: fad-runner %s --entry=loop --arg=1.0 --arg=2 | FileCheck %s --check-prefix=LOOP
// LOOP: out0: tensor<f32> = 4
// RUN: not fad-runner %s --entry=loop --arg=1.0 --arg=0 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not fad-runner %s --entry=loop --arg=1.0 --arg=-1 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: preconditions.mlir:[[#@LINE+4]]:8: error: the step of the loop is not positive
func.func @loop(%x: f32, %step: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %step iter_args(%v = %x) -> f32 {
    %w = arith.addf %v, %v : f32
    scf.yield %w : f32
  }
  return %y : f32
}

// Nothing is computed that no condition reads: no machine has memory for the matrix.
// RUN: not fad-runner %s --entry=look_up --arg=1 --arg=300000 2>&1 | FileCheck %s --check-prefix=LOOK-UP
// LOOK-UP: preconditions.mlir:[[#@LINE+17]]:5: error: assertion failed: the index is too large
func.func @look_up(%x: tensor<300000xf32>, %indices: tensor<4xi64>) -> tensor<4xf32> {
  %matrix = tensor.empty() : tensor<300000x300000x300000xf32>
  %sums = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (j)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %x : tensor<300000xf32>, tensor<300000xf32>) outs(%matrix : tensor<300000x300000x300000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<300000x300000x300000xf32>
  %few = tensor.empty() : tensor<4xf32>
  %found = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%indices : tensor<4xi64>) outs(%few : tensor<4xf32>) {
  ^bb0(%index: i64, %o: f32):
    %size = arith.constant 300000 : i64
    %fits = arith.cmpi slt, %index, %size : i64
    cf.assert %fits, "the index is too large"
    %at = arith.index_cast %index : i64 to index
    %value = tensor.extract %sums[%at, %at, %at] : tensor<300000x300000x300000xf32>
    linalg.yield %value : f32
  } -> tensor<4xf32>
  return %found : tensor<4xf32>
}
