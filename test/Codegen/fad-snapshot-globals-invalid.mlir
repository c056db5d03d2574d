// RUN: fad-opt %s --fad-snapshot-globals --verify-diagnostics

// expected-error @below {{'ml_program.global' op is of type 'i64', which has no lowering; make it a ranked tensor}}
ml_program.global private mutable @count(0 : i64) : i64
func.func @f() -> i64 {
  %0 = ml_program.global_load @count : i64
  return %0 : i64
}
