// RUN: split-file %s %t
// RUN: fad-opt %t/left-out.mlir --fad-nest | FileCheck %s --check-prefix=LEFT-OUT
// RUN: fad-opt %t/left-out.mlir --fad-nest="recompute=nothing" --remarks-filter-missed=fad-residuals -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not fad-opt %t/left-out.mlir --fad-nest="policy=bp" 2>&1 | FileCheck %s --check-prefix=TAPE
// RUN: not fad-opt %t/no-rule.mlir --fad-select-least 2>&1 | FileCheck %s --check-prefix=NO-RULE
// RUN: not fad-opt %t/chain.mlir --fad-select-least=entry=g 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not fad-opt %t/chain.mlir --fad-select-least=wrt=1 2>&1 | FileCheck %s --check-prefix=WRT
// RUN: not fad-opt %t/chain.mlir --fad-select-least=assumed-size=0 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not fad-opt %t/chain.mlir --fad-select-least=residual-budget=8 2>&1 | FileCheck %s --check-prefix=BUDGET

// A joint function that cannot be made is left out: that the sizes are equal is seen
// only where equal operations are made one before the program is partitioned.
// LEFT-OUT-LABEL: func.func @left_out_forward(
// LEFT-OUT-LABEL: func.func @left_out_backward(
// REMARK-NOT: error:
// REMARK:     left-out.mlir:10:10: remark: [Missed] LeftOut | {{.*}}Because="'test_rules.no_rule' op has no derivative rule
// TAPE: left-out.mlir:10:10: error: 'test_rules.no_rule' op has no derivative rule

//--- left-out.mlir
func.func @left_out(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %same = tensor.dim %x, %c0 : tensor<?xf32>
  %equal = arith.cmpi eq, %size, %same : index
  %r = scf.if %equal -> tensor<?xf32> {
    %y = math.exp %x : tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  } else {
    %y = test_rules.no_rule %x : tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  %z = math.sin %r : tensor<?xf32>
  return %z : tensor<?xf32>
}

// Where there is none, each error is there once.
// NO-RULE:     no-rule.mlir:2:8: error: 'test_rules.no_rule' op has no derivative rule; rewrite it in terms of operations that have one, or implement fad::DerivativeOpInterface for it
// NO-RULE-NOT: error

//--- no-rule.mlir
func.func @no_rule(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = test_rules.no_rule %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// ENTRY:     error: there is no function @g with a body; name one of @chain
// ENTRY-NOT: error
// WRT:       chain.mlir:1:1: error: cannot differentiate with respect to argument 1: @chain has 1 arguments
// WRT-NOT:   error
// SIZE:      chain.mlir:1:1: error: assumed-size is 0; give a size of at least 1
// SIZE-NOT:  error
// BUDGET:    chain.mlir:1:1: error: no choice of residuals takes 8 bytes or fewer: the least is 16 bytes with recompute=elementwise; raise the budget, or let backward compute more again
// BUDGET-NOT: error

//--- chain.mlir
func.func @chain(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  %y = math.sin %sum : tensor<4xf32>
  return %y : tensor<4xf32>
}
