// RUN: fad-opt %s --fad-inline-calls | FileCheck %s

// Calls are inlined, what nobody can call is erased, and a global becomes a value.
// CHECK-NOT:   func private
// CHECK-LABEL: func @f
// CHECK-SAME:    (%[[X:[^:]*]]: f32)
// CHECK:         %[[EXP:.*]] = math.exp %[[X]]
// CHECK:         %[[SEED:.*]] = ml_program.global_load @seed
// CHECK-NOT:     ml_program.global_load
// CHECK:         arith.addi %[[SEED]]
// CHECK:         ml_program.global_store @seed
// CHECK-NOT:     ml_program.global_store
// CHECK:         return %[[EXP]]
ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>

func.func private @unused(%x: f32) -> f32 {
  return %x : f32
}

func.func private @next() {
  %one = arith.constant dense<1> : tensor<i64>
  %old = ml_program.global_load @seed : tensor<i64>
  %new = arith.addi %old, %one : tensor<i64>
  ml_program.global_store @seed = %new : tensor<i64>
  return
}

func.func private @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

func.func @f(%x: f32) -> f32 {
  %y = call @exp(%x) : (f32) -> f32
  call @next() : () -> ()
  call @next() : () -> ()
  return %y : f32
}
