// RUN: fad-opt %s | fad-opt | FileCheck %s
// RUN: fad-opt %s -mlir-print-op-generic | fad-opt | FileCheck %s

// CHECK-LABEL: func.func @masks(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4x9xi8>)
func.func @masks(%x: tensor<4x9xi8>) -> tensor<4x9xi8> {
  // CHECK: %[[P:.*]] = fad.pack %[[X]] bits 1 : tensor<4x9xi8> -> tensor<5xi8>
  %p = fad.pack %x bits 1 : tensor<4x9xi8> -> tensor<5xi8>
  // CHECK: fad.unpack %[[P]] bits 1 : tensor<5xi8> -> tensor<4x9xi8>
  %u = fad.unpack %p bits 1 : tensor<5xi8> -> tensor<4x9xi8>
  return %u : tensor<4x9xi8>
}

// CHECK-LABEL: func.func @sizes(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x3x?xi8>, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index)
func.func @sizes(%x: tensor<?x3x?xi8>, %m: index, %n: index) -> tensor<?x3x?xi8> {
  // CHECK: %[[P:.*]] = fad.pack %[[X]] bits 4 : tensor<?x3x?xi8> -> tensor<?xi8>
  %p = fad.pack %x bits 4 : tensor<?x3x?xi8> -> tensor<?xi8>
  // CHECK: fad.unpack %[[P]] bits 4 sizes(%[[M]], %[[N]]) : tensor<?xi8> -> tensor<?x3x?xi8>
  %u = fad.unpack %p bits 4 sizes(%m, %n) : tensor<?xi8> -> tensor<?x3x?xi8>
  return %u : tensor<?x3x?xi8>
}

// One number, and none.
// CHECK-LABEL: func.func @few(
func.func @few(%x: tensor<i8>, %y: tensor<0x4xi8>) -> (tensor<1xi8>, tensor<0xi8>) {
  // CHECK: fad.pack %{{.*}} bits 2 : tensor<i8> -> tensor<1xi8>
  %p = fad.pack %x bits 2 : tensor<i8> -> tensor<1xi8>
  // CHECK: fad.pack %{{.*}} bits 1 : tensor<0x4xi8> -> tensor<0xi8>
  %q = fad.pack %y bits 1 : tensor<0x4xi8> -> tensor<0xi8>
  return %p, %q : tensor<1xi8>, tensor<0xi8>
}

// Numbers that do not fill bytes.
// CHECK-LABEL: func.func @across(
func.func @across(%x: tensor<3x3xi8>) -> tensor<3x3xi8> {
  // CHECK: %[[P:.*]] = fad.pack %{{.*}} bits 3 : tensor<3x3xi8> -> tensor<4xi8>
  %p = fad.pack %x bits 3 : tensor<3x3xi8> -> tensor<4xi8>
  // CHECK: fad.unpack %[[P]] bits 3 : tensor<4xi8> -> tensor<3x3xi8>
  %u = fad.unpack %p bits 3 : tensor<4xi8> -> tensor<3x3xi8>
  return %u : tensor<3x3xi8>
}
