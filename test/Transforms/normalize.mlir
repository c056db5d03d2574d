// RUN: fad-opt %s --pass-pipeline='builtin.module(func.func(fad-normalize))' --split-input-file | FileCheck %s

// Every row is reduced to its maximum, then to the sum of its exponentials.

// CHECK-LABEL: func @softmax(
// CHECK-SAME:    %[[X:.*]]: tensor<2x?xf32>
// CHECK-NOT:     linalg.softmax
// CHECK:         %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK:           arith.maxnumf
// CHECK:         %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[MAX]] :
// CHECK:           math.exp
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[EXP]] :
// CHECK:           arith.addf
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[EXP]], %[[SUM]] :
// CHECK:           arith.divf
// CHECK:         return %[[Y]]
func.func @softmax(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?xf32>
  %e = tensor.empty(%n) : tensor<2x?xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<2x?xf32>) outs(%e : tensor<2x?xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// -----

// CHECK-LABEL: func @generate(
// CHECK-SAME:    %[[X:.*]]: tensor<3x2xf32>, %[[N:.*]]: index
// CHECK:         %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x2xf32>
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} outs(%[[E]] :
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[R:.*]] = arith.remui %[[I]]
// CHECK:           tensor.extract %[[X]][%[[R]], %[[J]]]
// CHECK:         return %[[Y]]
func.func @generate(%x: tensor<3x2xf32>, %n: index) -> tensor<?x2xf32> {
  %0 = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %c3 = arith.constant 3 : index
    %r = arith.remui %i, %c3 : index
    %e = tensor.extract %x[%r, %j] : tensor<3x2xf32>
    tensor.yield %e : f32
  } : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

// A negative border is a slice.

// CHECK-LABEL: func @cut(
// CHECK-SAME:    %[[X:.*]]: tensor<?x3xf32>, %[[L:.*]]: index, %[[V:.*]]: f32
// CHECK:         %[[N:.*]] = tensor.dim %[[X]]
// CHECK:         %[[REST:.*]] = affine.apply {{.*}}()[%[[N]]]
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[X]][2, 0] [%[[REST]], 2] [1, 1]
// CHECK:         tensor.pad %[[S]] nofold low[0, 3] high[%[[L]], 0]
// CHECK:         %[[T:.*]] = tensor.extract_slice %[[X]][0, 1] [%{{.*}}, 2] [1, 1]
// CHECK:         %[[F:.*]] = linalg.fill ins(%[[V]] : f32)
// CHECK:         tensor.insert_slice %[[T]] into %[[F]][1, 0]
func.func @cut(%x: tensor<?x3xf32>, %l: index, %v: f32) -> (tensor<?x5xf32>, tensor<?x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x nofold low[-2, 3] high[%l, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x3xf32> to tensor<?x5xf32>
  %1 = tensor.pad %x low[1, -1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x3xf32> to tensor<?x2xf32>
  return %0, %1 : tensor<?x5xf32>, tensor<?x2xf32>
}

// -----

// What is in a region is where the region was.

// CHECK-LABEL: func @region(
// CHECK-SAME:    %[[X:.*]]: tensor<3xf32>
// CHECK-NEXT:    %[[S:.*]] = math.sin %[[X]]
// CHECK-NEXT:    %[[T:.*]] = math.cos %[[S]]
// CHECK-NEXT:    return %[[T]], %[[S]]
func.func @region(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %r:2 = scf.execute_region -> (tensor<3xf32>, tensor<3xf32>) no_inline {
    %s = scf.execute_region -> tensor<3xf32> {
      %sin = math.sin %x : tensor<3xf32>
      scf.yield %sin : tensor<3xf32>
    }
    %t = math.cos %s : tensor<3xf32>
    scf.yield %t, %s : tensor<3xf32>, tensor<3xf32>
  }
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xf32>
}

// -----

// A border that is computed is filled in, one that is constant stays.

// CHECK-LABEL: func @pad(
// CHECK-SAME:    %[[X:.*]]: tensor<2x2xf32>, %[[V:.*]]: f32
// CHECK:         %[[F:.*]] = linalg.fill ins(%[[V]] : f32)
// CHECK:         tensor.insert_slice %[[X]] into %[[F]][1, 0] [2, 2] [1, 1]
// CHECK:         tensor.pad %[[X]] low[1, 0] high[0, 2]
func.func @pad(%x: tensor<2x2xf32>, %v: f32) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<2x2xf32> to tensor<3x4xf32>
  %1 = tensor.pad %x low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x2xf32> to tensor<3x4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func @pack(
// CHECK-NOT:     pack
// CHECK:         tensor.expand_shape
// CHECK:         linalg.transpose
// CHECK:         linalg.transpose
// CHECK:         tensor.collapse_shape
// CHECK-NOT:     pack
// CHECK:         return
func.func @pack(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<3x2x2x2xf32>
  %0 = linalg.pack %x outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<4x6xf32> -> tensor<3x2x2x2xf32>
  %d = tensor.empty() : tensor<4x6xf32>
  %1 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %d : tensor<3x2x2x2xf32> -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// The number of tiles follows from the source, not from the destination, which the
// transposition is then compared with. Without a border, nothing is padded.
// CHECK-LABEL: func @pack_dynamic(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x4xf32>, %[[N:[^:]*]]: index
// CHECK:         %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x4x8xf32>
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK:         %[[TILES:.*]] = affine.apply {{.*}}%[[SIZE]]
// CHECK:         tensor.empty(%[[TILES]]) : tensor<?x4x8xf32>
// CHECK-NOT:     tensor.pad
// CHECK:         %[[EXPANDED:.*]] = tensor.expand_shape %[[X]]
// CHECK:         linalg.transpose ins(%[[EXPANDED]] : tensor<?x8x4xf32>) outs(%[[E]] : tensor<?x4x8xf32>)
func.func @pack_dynamic(%x: tensor<?x4xf32>, %n: index) -> tensor<?x4x8xf32> {
  %e = tensor.empty(%n) : tensor<?x4x8xf32>
  %0 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [8] into %e : tensor<?x4xf32> -> tensor<?x4x8xf32>
  return %0 : tensor<?x4x8xf32>
}

// -----

// A tile whose size is a value stays.
// CHECK-LABEL: func @pack_tile(
// CHECK:         linalg.pack
func.func @pack_tile(%x: tensor<?x4xf32>, %e: tensor<?x4x?xf32>, %m: index) -> tensor<?x4x?xf32> {
  %0 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [%m] into %e : tensor<?x4xf32> -> tensor<?x4x?xf32>
  return %0 : tensor<?x4x?xf32>
}

// -----

// CHECK-LABEL: func @materialize(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32>, %[[Y:[^:]*]]: tensor<?xf32>, %[[M:[^:]*]]: memref<4xf32>
// CHECK:         linalg.copy ins(%[[X]] : tensor<4xf32>) outs(%[[Y]] : tensor<?xf32>) -> tensor<?xf32>
// CHECK:         bufferization.materialize_in_destination %[[X]] in restrict writable %[[M]]
func.func @materialize(%x: tensor<4xf32>, %y: tensor<?xf32>, %m: memref<4xf32>) -> tensor<?xf32> {
  %0 = bufferization.materialize_in_destination %x in %y : (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %x in restrict writable %m : (tensor<4xf32>, memref<4xf32>) -> ()
  return %0 : tensor<?xf32>
}

// -----

// Whole slices along the dimensions that are not gathered.

// CHECK-LABEL: func @gather(
// CHECK-SAME:    %[[X:.*]]: tensor<3x4x?xf32>, %[[I:.*]]: tensor<?x7x1xi32>
// CHECK-DAG:     %[[B:.*]] = tensor.dim %[[I]]
// CHECK-DAG:     %[[S:.*]] = tensor.dim %[[X]]
// CHECK:         %[[E:.*]] = tensor.empty(%[[B]], %[[S]]) : tensor<?x7x3x1x?xf32>
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} outs(%[[E]] :
// CHECK-DAG:       %[[I0:.*]] = linalg.index 0
// CHECK-DAG:       %[[I1:.*]] = linalg.index 1
// CHECK-DAG:       %[[I2:.*]] = linalg.index 2
// CHECK-DAG:       %[[I4:.*]] = linalg.index 4
// CHECK:           %[[C0:.*]] = arith.constant 0 : index
// CHECK:           %[[AT:.*]] = tensor.extract %[[I]][%[[I0]], %[[I1]], %[[C0]]]
// CHECK:           %[[INDEX:.*]] = arith.index_cast %[[AT]] : i32 to index
// CHECK:           %[[V:.*]] = tensor.extract %[[X]][%[[I2]], %[[INDEX]], %[[I4]]]
// CHECK:           linalg.yield %[[V]]
// CHECK:         return %[[Y]]
func.func @gather(%x: tensor<3x4x?xf32>, %i: tensor<?x7x1xi32>) -> tensor<?x7x3x1x?xf32> {
  %0 = tensor.gather %x[%i] gather_dims([1]) : (tensor<3x4x?xf32>, tensor<?x7x1xi32>) -> tensor<?x7x3x1x?xf32>
  return %0 : tensor<?x7x3x1x?xf32>
}

// -----

// The result may leave out the gathered dimensions; their order is that of the
// coordinates.

// CHECK-LABEL: func @gather_reduced(
// CHECK-SAME:    %[[X:.*]]: tensor<3x4x5xf32>, %[[I:.*]]: tensor<6x2xindex>
// CHECK-DAG:       %[[I0:.*]] = linalg.index 0
// CHECK-DAG:       %[[I1:.*]] = linalg.index 1
// CHECK:           %[[A:.*]] = tensor.extract %[[I]][%[[I0]], %{{.*}}]
// CHECK:           %[[B:.*]] = tensor.extract %[[I]][%[[I0]], %{{.*}}]
// CHECK:           tensor.extract %[[X]][%[[A]], %[[I1]], %[[B]]]
func.func @gather_reduced(%x: tensor<3x4x5xf32>, %i: tensor<6x2xindex>) -> tensor<6x4xf32> {
  %0 = tensor.gather %x[%i] gather_dims([0, 2]) : (tensor<3x4x5xf32>, tensor<6x2xindex>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
