// RUN: not fad-memory-report %s 2>&1 | FileCheck %s --check-prefix=WHICH
// RUN: not fad-memory-report %s --entry=h 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not fad-memory-report %s --entry=integers 2>&1 | FileCheck %s --check-prefix=INTEGERS
// RUN: not fad-memory-report %s --entry=nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not fad-memory-report %s --entry=integers --policy=all 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not fad-memory-report %s --entry=integers --size=-1 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not fad-memory-report %s --entry=integers --format=xml 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not fad-memory-report %s --entry=sine --results=1 2>&1 | FileCheck %s --check-prefix=RESULTS
// RUN: not fad-memory-report %s --entry=sine --wrt=0,0 2>&1 | FileCheck %s --check-prefix=WRT
// RUN: not fad-memory-report %t.does-not-exist 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not fad-memory-report %s --entry=sine -o %t.no-folder/x 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not fad-memory-report %s --entry=sine --memory-budget=11gigs 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: not fad-memory-report %s --entry=sine --memory-budget=GB 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not fad-memory-report %s --entry=sine --memory-budget=0.0001KB 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not fad-memory-report %s --entry=sine --memory-budget=99999999TB 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not fad-memory-report %s --entry=sine --memory-budget=1GB --batch=0 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not fad-memory-report %s --entry=sine --optimizer=lamb 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// RUN: not fad-memory-report %s --entry=wide --memory-budget=1GB 2>&1 | FileCheck %s --check-prefix=WIDTH
// RUN: not fad-memory-report %s --entry=sine --format=dot --policy=bp --policy=fad 2>&1 | FileCheck %s --check-prefix=PICTURE
// RUN: not fad-memory-report %s --entry=sine --policy=fad --recompute=all 2>&1 | FileCheck %s --check-prefix=RECOMPUTE
// RUN: not fad-memory-report %s --entry=sine --policy=bp --policy=fad --derivative-bits=3 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not fad-memory-report %s --entry=sine --residual-budget=much 2>&1 | FileCheck %s --check-prefix=KEEP
// RUN: not fad-memory-report %s --entry=product --residual-budget=0 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not fad-memory-report %s --entry=sine --assumed-size=0 2>&1 | FileCheck %s --check-prefix=ASSUMED
// RUN: not fad-memory-report %s --entry=sine --batch=2 2>&1 | FileCheck %s --check-prefix=SAMPLES
// RUN: not fad-memory-report %s --entry=sine --format=curve --policy=fad 2>&1 | FileCheck %s --check-prefix=CURVE
// RUN: not fad-memory-report %s --entry=sine --format=curve --residual-budget=1KB 2>&1 | FileCheck %s --check-prefix=POINT
// RUN: not fad-memory-report %s --entry=sine --format=dot --optimizer=adam 2>&1 | FileCheck %s --check-prefix=STATE
// RUN: not fad-memory-report %s --entry=sine --format=json --group 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not fad-memory-report %s --entry=vast 2>&1 | FileCheck %s --check-prefix=VAST
// RUN: echo 'func.func @f(' | not fad-memory-report - 2>&1 | FileCheck %s --check-prefix=SYNTAX

// WHICH: error: the module has 6 public functions; choose one with 'entry': @integers, @nothing, @sine, @wide, @product, @vast
// ENTRY: error: there is no function @h with a body; name one of @integers, @nothing, @sine, @wide, @product, @vast
// POLICY: for the --policy option: 'all' is none of its values: bp, recompute, fad, auto
// SIZE: for the --size option: '-1' value invalid
// FORMAT: for the --format option: 'xml' is none of its values: table, json, curve, dot
// RESULTS: error: cannot differentiate result 1: @sine has 1 results
// WRT: error: argument 0 is listed twice in 'wrt'
// BUDGET: error: --memory-budget is '11gigs', which is no number of bytes; the units are B, KB, MB, GB, TB, KiB, MiB, GiB and TiB
// NUMBER: error: --memory-budget is 'GB', which is no number of bytes; the units are B, KB, MB, GB, TB, KiB, MiB, GiB and TiB
// PART: error: --memory-budget is '0.0001KB', which is less than a byte
// LARGE: error: --memory-budget is '99999999TB', which is more than fits in 63 bits
// BATCH: error: --batch is 0; give a number of samples of at least 1
// OPTIMIZER: for the --optimizer option: 'lamb' is none of its values: none, sgd, momentum, adam
// PICTURE: error: a picture is of one policy; give one --policy
// RECOMPUTE: error: --recompute is for --policy=auto
// BITS: error: --derivative-bits is for --policy=auto
// KEEP: for the --residual-budget option: the value is 'much', which is no number of bytes; the units are B, KB, MB, GB, TB, KiB, MiB, GiB and TiB
// ASSUMED: error: assumed-size is 0; give a size of at least 1
// SAMPLES: error: --batch is for the largest batch; add --memory-budget
// CURVE: error: the curve is of the policy auto; leave out --policy
// POINT: error: the curve is of all budgets; leave out --residual-budget
// STATE: error: --optimizer is for --format=table and --format=json
// GROUP: error: --group is for --format=table and --format=dot
// INPUT: error: cannot open input file '{{.*}}.does-not-exist': No such file or directory
// OUTPUT: error: cannot open output file '{{.*}}.no-folder/x': No such file or directory
// SYNTAX: <stdin>:1:14: error: expected

// INTEGERS: memory-report-invalid.mlir:[[#@LINE+1]]:1: error: @integers has no argument that is a ranked tensor of f16, bf16, f32 or f64
func.func @integers(%x: tensor<2xi32>) -> tensor<2xi32> {
  return %x : tensor<2xi32>
}

// NOTHING: memory-report-invalid.mlir:[[#@LINE+1]]:1: error: cannot differentiate @nothing{{.*}}: no result is f16, bf16, f32 or f64, or a ranked tensor of them
func.func @nothing(%x: tensor<2xf32>) {
  return
}

func.func @sine(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = math.sin %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// WIDTH: error: cannot tell the largest batch: the size of dimension 1 of argument 0 is not known; give it with 'size'
func.func @wide(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = math.sin %x : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// LEAST: memory-report-invalid.mlir:[[#@LINE+1]]:1: error: no choice of residuals takes 0 bytes or fewer: the least is 64 bytes with recompute=elementwise; raise the budget, or let backward compute more again
func.func @product(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = math.sin %y : tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// VAST: error: a training step takes 2^64 bytes or more; give smaller sizes
func.func @vast(%x: tensor<576460752303423487xf64>) -> tensor<576460752303423487xf64> {
  %y = math.exp %x : tensor<576460752303423487xf64>
  %z = math.sin %y : tensor<576460752303423487xf64>
  %u = math.sin %z : tensor<576460752303423487xf64>
  return %u : tensor<576460752303423487xf64>
}
