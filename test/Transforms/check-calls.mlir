// RUN: fad-opt %s --fad-check-calls=limit=11 | FileCheck %s
// RUN: not fad-opt %s --fad-check-calls=limit=10 2>&1 | FileCheck %s --check-prefix=LIMIT

// A call counts with what is inlined into the function that it calls: @h calls the
// two operations of @g twice, which makes four, and @f the seven that @h then is. A
// function that calls itself is not inlined, nor is one that has no body.

func.func private @g(%x: f32) -> f32 {
  %y = math.sin %x : f32
  return %y : f32
}

func.func private @h(%x: f32) -> f32 {
  %y = func.call @g(%x) : (f32) -> f32
  %z = func.call @g(%y) : (f32) -> f32
  return %z : f32
}

// CHECK-LABEL: func.func @f(
// CHECK-NEXT:    call @h(
func.func @f(%x: f32) -> f32 {
  // LIMIT: check-calls.mlir:[[@LINE+1]]:8: error: inlining would add 7 operations for this call, and 11 for all calls up to it, where 10 is the most; call functions less often, or in a loop
  %y = func.call @h(%x) : (f32) -> f32
  return %y : f32
}

func.func private @unknown(f32) -> f32

func.func @again(%x: f32) -> f32 {
  %y = func.call @again(%x) : (f32) -> f32
  %z = func.call @unknown(%y) : (f32) -> f32
  return %z : f32
}
