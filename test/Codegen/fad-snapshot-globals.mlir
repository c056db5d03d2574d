// RUN: fad-opt %s --fad-snapshot-globals | FileCheck %s
// RUN: fad-runner %s --entry=advance | FileCheck %s --check-prefix=STATE
// RUN: fad-runner %s --entry=constants | FileCheck %s --check-prefix=CONSTANTS

// What is loaded before a store keeps its value.

// CHECK-LABEL: func @advance(
// CHECK:         %[[OLD:.*]] = ml_program.global_load @state
// CHECK:         %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[OLD]]) : tensor<2xi64>
// CHECK:         %[[NEXT:.*]] = arith.addi %[[COPY]],
// CHECK:         %[[STORED:.*]] = bufferization.alloc_tensor() copy(%[[NEXT]])
// CHECK:         ml_program.global_store @state = %[[STORED]]
// CHECK:         %[[NEW:.*]] = ml_program.global_load @state
// CHECK:         %[[SECOND:.*]] = bufferization.alloc_tensor() copy(%[[NEW]])
// CHECK:         return %[[COPY]], %[[SECOND]]
// STATE: out0: tensor<2xi64> = [5, 7]
// STATE: out1: tensor<2xi64> = [6, 8]
ml_program.global private mutable @state(dense<[5, 7]> : tensor<2xi64>) : tensor<2xi64>
func.func @advance() -> (tensor<2xi64>, tensor<2xi64>) {
  %one = arith.constant dense<1> : tensor<2xi64>
  %old = ml_program.global_load @state : tensor<2xi64>
  %next = arith.addi %old, %one : tensor<2xi64>
  ml_program.global_store @state = %next : tensor<2xi64>
  %new = ml_program.global_load @state : tensor<2xi64>
  return %old, %new : tensor<2xi64>, tensor<2xi64>
}

// So does what is stored, be it constant or an argument.

// RUN: fad-runner %s --entry=store --arg=9 | FileCheck %s --check-prefix=STORE
// STORE: out0: tensor<2xi64> = [5, 6]
// STORE: out1: tensor<2xi64> = [9, 9]
func.func @store(%x: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>) {
  %values = arith.constant dense<[5, 6]> : tensor<2xi64>
  ml_program.global_store @state = %values : tensor<2xi64>
  %first = ml_program.global_load @state : tensor<2xi64>
  ml_program.global_store @state = %x : tensor<2xi64>
  %second = ml_program.global_load @state : tensor<2xi64>
  return %first, %second : tensor<2xi64>, tensor<2xi64>
}

// A global that nothing can store to is its value, by reference.

// CHECK-LABEL: func @constants(
// CHECK-DAG:     %[[A:.*]] = arith.constant dense<2.000000e+00> : tensor<3xf32>
// CHECK-DAG:     %[[B:.*]] = arith.constant dense_resource<weights> : tensor<2xf32>
// CHECK:         return %[[A]], %[[B]]
// CONSTANTS: out0: tensor<3xf32> = [2, 2, 2]
// CONSTANTS: out1: tensor<2xf32> = [1, 2]
ml_program.global private @two(dense<2.0> : tensor<3xf32>) : tensor<3xf32>
ml_program.global private @weights(dense_resource<weights> : tensor<2xf32>) : tensor<2xf32>
func.func @constants() -> (tensor<3xf32>, tensor<2xf32>) {
  %a = ml_program.global_load @two : tensor<3xf32>
  %b = ml_program.global_load_const @weights : tensor<2xf32>
  return %a, %b : tensor<3xf32>, tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}
