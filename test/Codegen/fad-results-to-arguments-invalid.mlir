// RUN: fad-opt %s -fad-results-to-arguments -verify-diagnostics

func.func private @callee(memref<?xf32>) -> (f32, memref<?xf32>)

func.func @caller(%x: memref<?xf32>) -> memref<?xf32> {
  // expected-error @+1 {{result 1 of a call of @callee has the type 'memref<?xf32>', whose size the caller does not know before: inline the call, as --fad-inline-calls does, or give it a static size}}
  %0:2 = call @callee(%x) : (memref<?xf32>) -> (f32, memref<?xf32>)
  return %0#1 : memref<?xf32>
}
