// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s

// The derivative of an operation carries the flags of that operation, no others.

func.func @flags(%x: f32, %y: f32) -> f32 {
  %a = math.exp %x fastmath<contract,afn> : f32
  %b = arith.mulf %a, %y fastmath<nnan> : f32
  %z = math.sin %b : f32
  return %z : f32
}

// CHECK-LABEL: func.func @flags_d0(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK: %[[EXP:.+]] = math.exp %[[X]] fastmath<contract,afn> : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[EXP]], %[[Y]] fastmath<nnan> : f32
// CHECK-NEXT: %[[COS:.+]] = math.cos %[[PROD1]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[COS]], %[[PROD1]] : f32
// CHECK-NEXT: return %[[PROD2]] : f32

// CHECK-LABEL: func.func @flags_d1(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK: %[[EXP:.+]] = math.exp %[[X]] fastmath<contract,afn> : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[EXP]], %[[Y]] fastmath<nnan> : f32
// CHECK-NEXT: %[[COS:.+]] = math.cos %[[PROD1]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[COS]], %[[EXP]] : f32
// CHECK-NEXT: return %[[PROD2]] : f32
