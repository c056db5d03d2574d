// What a loop or a switch hands on twice is two values, also where upstream's
// bufferization takes it for one buffer.

// RUN: fad-runner %s --entry=loop --arg=0 --arg=0.5 --arg=0.25 | FileCheck %s --check-prefix=ZERO
// RUN: fad-runner %s --entry=loop --arg=2 --arg=0.5 --arg=0.25 | FileCheck %s --check-prefix=TWO
// RUN: fad-runner %s --entry=switch --arg=2 --arg=0.5 --arg=0.25 | FileCheck %s --check-prefix=CASE
// RUN: fad-runner %s --entry=switch --arg=7 --arg=0.5 --arg=0.25 | FileCheck %s --check-prefix=DEFAULT

// e^0.5 - 0.25 = 1.398721, and then y = e^y - y twice.
// ZERO: out0: tensor<2xf64> = [1.398721, 1.398721]
// TWO:  out0: tensor<2xf64> = [11.5211, 11.5211]
func.func @loop(%n: index, %x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.while (%i = %c0, %a = %x, %b = %y) : (index, tensor<2xf64>, tensor<2xf64>)
      -> (index, tensor<2xf64>, tensor<2xf64>) {
    %e = math.exp %a : tensor<2xf64>
    %d = arith.subf %e, %b : tensor<2xf64>
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %d, %b : index, tensor<2xf64>, tensor<2xf64>
  } do {
  ^bb0(%i: index, %a: tensor<2xf64>, %b: tensor<2xf64>):
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %a, %a : index, tensor<2xf64>, tensor<2xf64>
  }
  return %r#1 : tensor<2xf64>
}

// CASE:    out0: tensor<2xf64> = [0.5, 0.5]
// CASE:    out1: tensor<2xf64> = [1.284025, 1.284025]
// CASE:    out2: tensor<2xf64> = [0.25, 0.25]
// DEFAULT: out0: tensor<2xf64> = [1.648721, 1.648721]
// DEFAULT: out1: tensor<2xf64> = [5.200326, 5.200326]
// DEFAULT: out2: tensor<2xf64> = [0.25, 0.25]
func.func @switch(%n: index, %x: tensor<2xf64>, %y: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %r:2 = scf.index_switch %n -> tensor<2xf64>, tensor<2xf64>
  case 2 {
    scf.yield %x, %y : tensor<2xf64>, tensor<2xf64>
  }
  default {
    %e = math.exp %x : tensor<2xf64>
    scf.yield %e, %e : tensor<2xf64>, tensor<2xf64>
  }
  %f = math.exp %r#1 : tensor<2xf64>
  return %r#0, %f, %y : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}
