// RUN: fad-opt %s --pass-pipeline="builtin.module(func.func(fad-fuse-elementwise))" \
// RUN:   --split-input-file --remarks-filter=fad-fuse-elementwise -o /dev/null 2>&1 | \
// RUN:   FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:
// RUN: fad-opt %s --pass-pipeline="builtin.module(func.func(fad-fuse-elementwise))" \
// RUN:   --split-input-file | FileCheck %s

// The first function's values, fused in the pipeline, against numpy.
// RUN: sed '/^\/\/ -----/,$d' %s > %t.mlir
// RUN: %python %S/../fad-runner/Inputs/make_arrays.py %t 'x=rng.normal(size=(3, 4)).astype("f4")' \
// RUN:   'mean=rng.normal(size=4).astype("f4")' 'scale=rng.normal(size=4).astype("f4")'
// RUN: fad-runner %t.mlir --out=%t --arg=%t/x.npy --arg=%t/mean.npy --arg=%t/scale.npy
// RUN: %python %S/../fad-runner/Inputs/check_arrays.py %t 'close(out0, (x - mean) * scale * 3 + 4, 1e-6)'

#id = affine_map<(d0, d1) -> (d0, d1)>
#channel = affine_map<(d0, d1) -> (d1)>

// The mean and the scale of a channel are read as they are, in one loop.
// CHECK-DAG: #[[ID:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[CHANNEL:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @normalize
// CHECK-SAME:  %[[X:.+]]: tensor<3x4xf32>, %[[MEAN:.+]]: tensor<4xf32>, %[[SCALE:.+]]: tensor<4xf32>
// CHECK:       %[[RESULT:.+]] = linalg.generic
// CHECK-SAME:    indexing_maps = [#[[ID]], #[[CHANNEL]], #[[CHANNEL]], #[[ID]]]
// CHECK-SAME:    ins(%[[X]], %[[MEAN]], %[[SCALE]] :
// CHECK:         arith.subf
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK-NOT:   linalg.generic
// CHECK:       return %[[RESULT]]
// REMARK: fuse-elementwise.mlir:[[#@LINE+1]]:1: remark: [Passed] Fused | Category:fad-fuse-elementwise | Function=normalize | Producers=2
func.func @normalize(%x: tensor<3x4xf32>, %mean: tensor<4xf32>,
                     %scale: tensor<4xf32>) -> tensor<3x4xf32> {
  %empty = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #channel, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<3x4xf32>, tensor<4xf32>) outs(%empty : tensor<3x4xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %d = arith.subf %a, %m : f32
    linalg.yield %d : f32
  } -> tensor<3x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #channel, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%0, %scale : tensor<3x4xf32>, tensor<4xf32>) outs(%empty : tensor<3x4xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %p = arith.mulf %a, %s : f32
    linalg.yield %p : f32
  } -> tensor<3x4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<3x4xf32>) outs(%empty : tensor<3x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %three = arith.constant 3.0 : f32
    %four = arith.constant 4.0 : f32
    %p = arith.mulf %a, %three : f32
    %s = arith.addf %p, %four : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Another reader needs the producer's result anyway.
// CHECK-LABEL: func @two_readers
// CHECK-COUNT-2: linalg.generic
func.func @two_readers(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<?xf32>) outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// The exponentials of a row would be computed for each row.
// CHECK-LABEL: func @broadcast
// CHECK-COUNT-2: linalg.generic
func.func @broadcast(%x: tensor<4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%y, %0 : tensor<3x4xf32>, tensor<4xf32>) outs(%y : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Both products would live on to the sum, in place of their difference.
// CHECK-LABEL: func @memory
// CHECK:       %[[DIFFERENCE:.+]] = linalg.generic
// CHECK:         arith.subf
// CHECK:       call @other
// CHECK:       linalg.generic
// CHECK-SAME:    ins(%[[DIFFERENCE]],
func.func private @other() -> tensor<8xf32>
func.func private @product() -> tensor<8xf32>
func.func @memory() -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %x = call @product() : () -> tensor<8xf32>
  %y = call @product() : () -> tensor<8xf32>
  // REMARK: fuse-elementwise.mlir:[[#@LINE+1]]:8: remark: [Missed] NotFused | Category:fad-fuse-elementwise | Function=memory | Because="more memory would be in use up to its reader"
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<8xf32>
  %z = call @other() : () -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%0, %z : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// f32 would live on in place of f16.
// CHECK-LABEL: func @narrow
// CHECK-COUNT-2: linalg.generic
func.func private @product() -> tensor<8xf32>
func.func private @other() -> tensor<8xf16>
// REMARK: remark: [Missed] NotFused | {{.*}}Function=narrow
func.func @narrow() -> tensor<8xf16> {
  %empty = tensor.empty() : tensor<8xf16>
  %x = call @product() : () -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf16>) {
  ^bb0(%a: f32, %out: f16):
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8xf16>
  %z = call @other() : () -> tensor<8xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%0, %z : tensor<8xf16>, tensor<8xf16>) outs(%empty : tensor<8xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %s = arith.addf %a, %b : f16
    linalg.yield %s : f16
  } -> tensor<8xf16>
  return %1 : tensor<8xf16>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Indices are as wide as i64.
// CHECK-LABEL: func @indices
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func @to_indices
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func private @places() -> tensor<8xindex>
func.func private @other() -> tensor<8xf32>
// REMARK: remark: [Missed] NotFused | {{.*}}Function=indices
func.func @indices(%x: tensor<8xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %p = call @places() : () -> tensor<8xindex>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%p : tensor<8xindex>) outs(%empty : tensor<8xf32>) {
  ^bb0(%i: index, %out: f32):
    %e = tensor.extract %x[%i] : tensor<8xf32>
    linalg.yield %e : f32
  } -> tensor<8xf32>
  %z = call @other() : () -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%0, %z : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
// REMARK: remark: [Passed] Fused | {{.*}}Function=to_indices | Producers=1
func.func @to_indices() -> tensor<8xindex> {
  %places = tensor.empty() : tensor<8xindex>
  %p = call @places() : () -> tensor<8xindex>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%p : tensor<8xindex>) outs(%places : tensor<8xindex>) {
  ^bb0(%i: index, %out: index):
    %t = arith.addi %i, %i : index
    linalg.yield %t : index
  } -> tensor<8xindex>
  %q = call @places() : () -> tensor<8xindex>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%0, %q : tensor<8xindex>, tensor<8xindex>) outs(%places : tensor<8xindex>) {
  ^bb0(%a: index, %b: index, %out: index):
    %s = arith.muli %a, %b : index
    linalg.yield %s : index
  } -> tensor<8xindex>
  return %1 : tensor<8xindex>
}
