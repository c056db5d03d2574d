// RUN: fad-opt %s --fad-to-linalg | FileCheck %s

// Numbers are put into rows that fill a byte, with zeros at the end, and each
// row is summed up.
// CHECK-LABEL: func.func @pack(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4x9xi8>)
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1]] : tensor<4x9xi8> into tensor<36xi8>
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[FLAT]] low[0] high[4]
// CHECK:         %[[ROWS:.*]] = tensor.expand_shape %[[PADDED]] {{\[}}[0, 1]] output_shape [5, 8] : tensor<40xi8> into tensor<5x8xi8>
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction"]
// CHECK-SAME:      ins(%[[ROWS]] : tensor<5x8xi8>)
// CHECK:           arith.shli
// CHECK:           arith.ori
// CHECK-NOT:     fad.pack
func.func @pack(%x: tensor<4x9xi8>) -> tensor<5xi8> {
  %p = fad.pack %x bits 1 : tensor<4x9xi8> -> tensor<5xi8>
  return %p : tensor<5xi8>
}

// Where the numbers fill their bytes, nothing is added.
// CHECK-LABEL: func.func @full(
// CHECK-NOT:     tensor.pad
// CHECK:         tensor.expand_shape %{{.*}} output_shape [3, 2] : tensor<6xi8> into tensor<3x2xi8>
func.func @full(%x: tensor<6xi8>) -> tensor<3xi8> {
  %p = fad.pack %x bits 4 : tensor<6xi8> -> tensor<3xi8>
  return %p : tensor<3xi8>
}

// Each number reads its byte, so that the operation fuses with its reader.
// CHECK-LABEL: func.func @unpack(
// CHECK-SAME:    %[[B:[^:]*]]: tensor<?xi8>, %[[N:[^:]*]]: index)
// CHECK:         %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x3xi8>
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel"]
// CHECK-SAME:      outs(%[[E]] : tensor<?x3xi8>)
// CHECK:           %[[BYTE:.*]] = tensor.extract %[[B]]
// CHECK:           arith.shrui %[[BYTE]]
// CHECK:           arith.andi
// CHECK-NOT:     fad.unpack
func.func @unpack(%b: tensor<?xi8>, %n: index) -> tensor<?x3xi8> {
  %u = fad.unpack %b bits 2 sizes(%n) : tensor<?xi8> -> tensor<?x3xi8>
  return %u : tensor<?x3xi8>
}
