// Bytecode keeps everything that text keeps: what comes back prints the same.
//
// RUN: fad-opt %S/ops.mlir -o %t.text.mlir
// RUN: fad-opt %S/ops.mlir -emit-bytecode -o %t.mlirbc
// RUN: fad-opt %t.mlirbc -o %t.back.mlir
// RUN: diff %t.text.mlir %t.back.mlir
//
// RUN: fad-opt %S/attributes.mlir -o %t.text.mlir
// RUN: fad-opt %S/attributes.mlir -emit-bytecode -o %t.mlirbc
// RUN: fad-opt %t.mlirbc -o %t.back.mlir
// RUN: diff %t.text.mlir %t.back.mlir
//
// RUN: fad-opt %S/scatter_add.mlir -o %t.text.mlir
// RUN: fad-opt %S/scatter_add.mlir -emit-bytecode -o %t.mlirbc
// RUN: fad-opt %t.mlirbc -o %t.back.mlir
// RUN: diff %t.text.mlir %t.back.mlir
