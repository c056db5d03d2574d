// RUN: fad-opt %s -fad-results-to-arguments -verify-diagnostics

func.func private @callee(%x: memref<?xf32>) -> (f32, memref<?xf32>) {
  %0 = arith.constant 1.0 : f32
  return %0, %x : f32, memref<?xf32>
}

// The results of a function elsewhere stay.
func.func private @external(memref<?xf32>) -> memref<?xf32>
func.func @other(%x: memref<?xf32>) {
  %0 = call @external(%x) : (memref<?xf32>) -> memref<?xf32>
  return
}

func.func @caller(%x: memref<?xf32>) -> memref<?xf32> {
  // expected-error @+1 {{result 1 of a call of @callee has the type 'memref<?xf32>', whose size the caller does not know before: inline the call, as --fad-inline-calls does, or give it a static size}}
  %0:2 = call @callee(%x) : (memref<?xf32>) -> (f32, memref<?xf32>)
  return %0#1 : memref<?xf32>
}
