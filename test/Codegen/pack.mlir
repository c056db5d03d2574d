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

// Numbers that do not fill bytes: eight of them make a word, which is cut into
// as many bytes as a number has bits.
// CHECK-LABEL: func.func @pack_across(
// CHECK:         tensor.expand_shape %{{.*}} output_shape [2, 8] : tensor<16xi8> into tensor<2x8xi8>
// CHECK:         %[[WORDS:.*]] = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction"]
// CHECK:           arith.extui %{{.*}} : i8 to i64
// CHECK:         %[[BYTES:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[WORDS]] : tensor<2xi64>) outs(%{{.*}} : tensor<2x3xi8>)
// CHECK:           arith.trunci %{{.*}} : i64 to i8
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %[[BYTES]] {{\[}}[0, 1]] : tensor<2x3xi8> into tensor<6xi8>
// CHECK:         tensor.extract_slice %[[FLAT]][0] [4] [1] : tensor<6xi8> to tensor<4xi8>
// CHECK-NOT:     fad.pack
func.func @pack_across(%x: tensor<9xi8>) -> tensor<4xi8> {
  %p = fad.pack %x bits 3 : tensor<9xi8> -> tensor<4xi8>
  return %p : tensor<4xi8>
}

// Each is read from two bytes; after the last comes none.
// CHECK-LABEL: func.func @unpack_across(
// CHECK-SAME:    %[[B:[^:]*]]: tensor<4xi8>)
// CHECK:         linalg.generic
// CHECK:           arith.minui
// CHECK:           tensor.extract %[[B]]
// CHECK:           tensor.extract %[[B]]
// CHECK:           arith.shrui %{{.*}} : i16
// CHECK-NOT:     fad.unpack
func.func @unpack_across(%b: tensor<4xi8>) -> tensor<9xi8> {
  %u = fad.unpack %b bits 3 : tensor<4xi8> -> tensor<9xi8>
  return %u : tensor<9xi8>
}
