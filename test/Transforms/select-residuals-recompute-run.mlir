// Two masks that are drawn one after the other from one state, which a call in
// between advances; backward draws both again.

// RUN: fad-runner %s --entry=masks --size=6 --check-gradients --policy=bp | FileCheck %s
// RUN: fad-runner %s --entry=masks --size=6 --check-gradients --policy=recompute | FileCheck %s
// RUN: fad-runner %s --entry=masks --size=6 --check-gradients --policy=fad | FileCheck %s
// RUN: fad-runner %s --entry=masks --size=0 --check-gradients | FileCheck %s
// CHECK-NOT: FAIL
// CHECK:     0 {{.*}} ok

// Both seeds cross, and nothing of the masks.
// RUN: fad-memory-report %s --entry=masks --size=6 | FileCheck %s --check-prefix=REPORT
// REPORT-NOT: {{[0-9]}} tensor<?xi1>
// REPORT:     bp {{ *}}8 i64
// REPORT:     bp {{ *}}8 i64
// REPORT-NOT: {{[0-9]}} tensor<?xi1>
// REPORT:     recompute {{ *}}8 i64
// REPORT:     recompute {{ *}}8 i64
// REPORT-NOT: {{[0-9]}} tensor<?xi1>
// REPORT:     fad {{ *}}8 i64
// REPORT:     fad {{ *}}8 i64
// REPORT-NOT: {{[0-9]}} tensor<?xi1>
// REPORT:     total

// The state goes through memory once, and auto keeps one seed for all masks.
// RUN: fad-opt %s --fad-nest=entry=masks | FileCheck %s --check-prefix=NEST
// NEST:      func.func @masks_forward({{.*}}) -> (tensor<?xf32>, i64 {fad.residual}, tensor<?xf32> {fad.residual})
// NEST-COUNT-1: ml_program.global_load @state
// NEST-NOT:  ml_program.global_load @state
// NEST-COUNT-1: ml_program.global_store @state
// NEST-NOT:  ml_program
// NEST:      func.func @masks_backward(%[[SEED:.*]]: i64 {fad.residual},
// NEST-DAG:    arith.muli %[[SEED]],
// NEST-DAG:    arith.muli %[[SEED]],
// NEST-NOT:  ml_program

#id = affine_map<(d0) -> (d0)>
ml_program.global private mutable @state(dense<5> : tensor<i64>) : tensor<i64>

func.func private @draw(%n: index) -> tensor<?xi1> {
  %factor = arith.constant 3935559000370003845 : i64
  %old = ml_program.global_load @state : tensor<i64>
  %seed = tensor.extract %old[] : tensor<i64>
  %new = arith.muli %seed, %factor : i64
  %next = tensor.insert %new into %old[] : tensor<i64>
  ml_program.global_store @state = %next : tensor<i64>
  %e = tensor.empty(%n) : tensor<?xi1>
  %mask = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xi1>) {
  ^bb0(%out: i1):
    %c0 = arith.constant 0 : i64
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i64
    %a = arith.addi %k, %new : i64
    %b = arith.muli %a, %factor : i64
    %keep = arith.cmpi sgt, %b, %c0 : i64
    linalg.yield %keep : i1
  } -> tensor<?xi1>
  return %mask : tensor<?xi1>
}

func.func @masks(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %first = func.call @draw(%n) : (index) -> tensor<?xi1>
  %a = arith.uitofp %first : tensor<?xi1> to tensor<?xf32>
  %b = arith.mulf %x, %a : tensor<?xf32>
  %c = math.exp %b : tensor<?xf32>
  %second = func.call @draw(%n) : (index) -> tensor<?xi1>
  %d = arith.uitofp %second : tensor<?xi1> to tensor<?xf32>
  %e = arith.mulf %c, %d : tensor<?xf32>
  return %e : tensor<?xf32>
}
