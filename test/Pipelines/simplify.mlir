// RUN: fad-opt %s --fad-simplify | FileCheck %s --check-prefixes=CHECK,ONCE
// RUN: fad-opt %s --fad-simplify=merge-first | FileCheck %s --check-prefixes=CHECK,FIRST

// Equal operations are merged, and constants are folded.
// CHECK-LABEL: func @merged
// CHECK-SAME:    (%[[X:[^:]*]]: f32)
// CHECK-NEXT:    %[[EXP:.*]] = math.exp %[[X]]
// CHECK-NEXT:    %[[SUM:.*]] = arith.addf %[[EXP]], %[[EXP]]
// CHECK-NEXT:    return %[[SUM]]
func.func @merged(%x: f32) -> f32 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %less = arith.cmpi slt, %zero, %one : i64
  %a = math.exp %x : f32
  %b = math.exp %x : f32
  %c = arith.select %less, %b, %x : f32
  %sum = arith.addf %a, %c : f32
  return %sum : f32
}

// An operation whose operands become equal by merging is folded if that comes first.
// CHECK-LABEL: func @equal
// CHECK-SAME:    (%[[X:[^:]*]]: i64
// ONCE:          %[[A:.*]] = arith.muli
// ONCE-NEXT:     %[[B:.*]] = arith.subi %[[A]], %[[A]]
// ONCE-NEXT:     return %[[B]]
// FIRST-NEXT:    %[[ZERO:.*]] = arith.constant 0
// FIRST-NEXT:    return %[[ZERO]]
func.func @equal(%x: i64, %y: i64) -> i64 {
  %a = arith.muli %x, %y : i64
  %b = arith.muli %x, %y : i64
  %c = arith.subi %a, %b : i64
  return %c : i64
}
