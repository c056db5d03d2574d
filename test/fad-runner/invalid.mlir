// Command lines and files that cannot be run: a message that says what is
// missing and what to do, exit status 1, and no file.

// DEFINE: %{run} = not fad-runner %s
// DEFINE: %{check} = 2>&1 | FileCheck %s --check-prefix

// RUN: %{run} %{check}=ENTRIES
// ENTRIES: invalid.mlir:{{.*}} error: the module has 5 public functions; choose one with 'entry': @f, @unranked, @buffer, @complex, @external
// RUN: %{run} --entry=g %{check}=NAME
// NAME: error: there is no function @g with a body; name one of @f, @unranked, @buffer, @complex, @external

// RUN: %{run} --entry=f %{check}=SIZE
// SIZE: invalid.mlir:[[#@LINE+76]]:14: error: argument 0: its type tensor<?xf32> has dynamic sizes; give them all with --size=N, or the tensor as a .npy file
// RUN: %{run} --entry=f --size=-1 %{check}=NEGATIVE
// NEGATIVE: for the --size option: '-1' value invalid for {{u(ll|l)ong}} argument!
// RUN: %{run} --entry=f --size=9999999999999999999 %{check}=LARGE
// LARGE: error: --size=9999999999999999999 is too large
// RUN: %{run} --entry=f --size=9000000000000000000 %{check}=OVERFLOW
// OVERFLOW: error: argument 0: there is no memory for a tensor<9000000000000000000xf32>
// RUN: %{run} --entry=f --size=1000000000000000 %{check}=MEMORY
// MEMORY: error: argument 0: there is no memory for a tensor<1000000000000000xf32>

// RUN: %{run} --entry=f --arg=x %{check}=SPEC
// SPEC: invalid.mlir:[[#@LINE+65]]:14: error: argument 0: 'x' is none of a .npy file, random:SEED and a number
// RUN: %{run} --entry=f --arg= %{check}=EMPTY
// EMPTY: error: argument 0: '' is none of a .npy file, random:SEED and a number
// RUN: %{run} --entry=f --arg=random:x %{check}=SEED
// SEED: error: argument 0: 'random:x' has no seed; write random:7
// RUN: %{run} --entry=f --size=1 --arg=1 --arg=1.5 %{check}=INTEGER
// INTEGER: invalid.mlir:[[#@LINE+59]]:33: error: argument 1: 1.5 is not a value of type i8
// RUN: %{run} --entry=f --size=1 --arg=1 --arg=128 %{check}=RANGE
// RANGE: error: argument 1: 128 is not a value of type i8
// RUN: %{run} --entry=f --size=1 --arg=1 --arg=1 --arg=2 %{check}=BOOL
// BOOL: error: argument 2: 2 is not a value of type i1
// RUN: %{run} --entry=f --arg=1 --arg=1 --arg=1 --arg=1 %{check}=MANY
// MANY: error: @f has 3 arguments, but --arg is given 4 times

// RUN: %{run} --entry=f --policy=best %{check}=POLICY
// POLICY: for the --policy option: 'best' is none of its values: bp, recompute, fad, auto
// RUN: %{run} --entry=f --size=1 --wrt=0 %{check}=WRT
// WRT: error: --wrt is for gradients; add --policy
// RUN: %{run} --entry=f --size=1 --cotangent=0 %{check}=COTANGENT
// COTANGENT: error: --cotangent is for gradients; add --policy
// RUN: %{run} --entry=f --size=1 --policy=fad --wrt=3 %{check}=NOARG
// NOARG: error: cannot differentiate with respect to argument 3: @f has 3 arguments
// RUN: %{run} --entry=f --size=1 --policy=fad --wrt=1 %{check}=INTARG
// INTARG: error: cannot differentiate with respect to argument 1 of type 'tensor<?xi8>'
// RUN: %{run} --entry=f --size=1 --policy=fad --wrt=x %{check}=LIST
// LIST: for the --wrt option: 'x' is no integer
// RUN: %{run} --entry=f --size=1 --policy=fad --cotangent=1 --cotangent=1 %{check}=COTANGENTS
// COTANGENTS: error: @f has 1 differentiated results, but --cotangent is given 2 times

// RUN: %{run} --entry=unranked --policy=fad %{check}=UNRANKED
// UNRANKED: invalid.mlir:[[#@LINE+39]]:21: error: argument 0 has the type 'tensor<*xf32>', which cannot be passed; pass ranked tensors or scalars of i1, i8, i16, i32, i64, index, f16, bf16, f32 or f64
// RUN: %{run} --entry=buffer %{check}=BUFFER
// BUFFER: error: argument 0 has the type 'memref<2xf32>', which cannot be passed; pass ranked tensors or scalars of i1, i8, i16, i32, i64, index, f16, bf16, f32 or f64; fad takes tensors, not memrefs: give it the program as it is before bufferization
// RUN: %{run} --entry=complex %{check}=COMPLEX
// COMPLEX: error: result 0 has the type 'complex<f32>', which cannot be passed
// RUN: %{run} --entry=external %{check}=EXTERNAL
// EXTERNAL: invalid.mlir:[[#@LINE+44]]:1: error: @elsewhere is called by @external and has no body; define it in the same file

// RUN: not fad-runner %t.none %{check}=FILE
// FILE: error: cannot open input file '{{.*}}.none': No such file or directory
// RUN: echo 'func.func @f(' > %t.mlir
// RUN: not fad-runner %t.mlir %{check}=PARSE
// PARSE: {{.*}}.mlir:1:14: error: expected

// An output folder that cannot be is an error before anything is run.
// RUN: rm -rf %t.out && echo > %t.out
// RUN: %{run} --entry=f --size=1 --out=%t.out %{check}=OUT
// RUN: %{run} --entry=f --size=1 --out=%t.out/deeper %{check}=OUT
// OUT-NOT: out0:
// OUT:     error: cannot {{make the folder|write to}} '{{.*}}.out{{(/deeper)?}}': Not a directory
// OUT-NOT: out0:

// No file of a run that fails on the way.
// RUN: rm -rf %t.folder
// RUN: %{run} --entry=f --size=1 --out=%t.folder --policy=fad --cotangent=x %{check}=LATE
// LATE: error: the cotangent of result 0: 'x' is none of
// RUN: ls -A %t.folder | count 0

// Folders are made, and nothing but the results is left in them.
// RUN: fad-runner %s --entry=f --size=1 --out=%t.folder/a/b --policy=fad
// RUN: ls -A %t.folder/a/b | FileCheck %s --check-prefix=FILES
// FILES:      grad0.npy
// FILES-NEXT: out0.npy
// FILES-NOT:  {{.}}

func.func @f(%x: tensor<?xf32>, %n: tensor<?xi8>, %b: i1) -> tensor<?xf32> {
  %y = math.exp %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @unranked(%x: tensor<*xf32>) {
  return
}
func.func @buffer(%x: memref<2xf32>) {
  return
}
func.func @complex(%x: tensor<2xf32>) -> complex<f32> {
  %one = arith.constant 1.0 : f32
  %c = complex.create %one, %one : complex<f32>
  return %c : complex<f32>
}
func.func private @elsewhere(f32) -> f32
func.func @external(%x: f32) -> f32 {
  %y = call @elsewhere(%x) : (f32) -> f32
  return %y : f32
}

// RUN: %{run} --entry=f --size=1 --out= %{check}=NOFOLDER
// NOFOLDER: error: --out= names no folder

// A message does not print the operation, which may be the whole module.
// RUN: %{run} --entry=f --size=1 --policy=fad --wrt=3 %{check}=BRIEF --implicit-check-not=note:
// BRIEF: error: cannot differentiate with respect to argument 3

// A result that cannot be written keeps the others from being written.
// RUN: rm -rf %t.blocked && mkdir -p %t.blocked/grad0.npy
// RUN: %{run} --entry=f --size=1 --policy=fad --out=%t.blocked %{check}=BLOCKED
// RUN: ls -A %t.blocked | count 1
// BLOCKED: error: cannot write '{{.*}}.blocked/grad0.npy': Is a directory

// RUN: %{run} --entry=f --size=1 --results=0 %{check}=RESULTS
// RESULTS: error: --results is for gradients; add --policy
// RUN: %{run} --entry=f --size=1 --policy=fad --results=1 %{check}=NORESULT
// NORESULT: error: cannot differentiate result 1: @f has 1 results

// RUN: %{run} --entry=f --size=1 --policy=fad --recompute=all %{check}=RECOMPUTE
// RECOMPUTE: error: --recompute is for --policy=auto
// RUN: %{run} --entry=f --size=1 --recompute=all %{check}=PLAIN
// PLAIN: error: --recompute is for gradients; add --policy
// RUN: %{run} --entry=f --size=1 --policy=fad --derivative-bits=3 %{check}=BITS
// BITS: error: --derivative-bits is for --policy=auto
// RUN: %{run} --entry=f --size=1 --policy=auto --derivative-bits=12 %{check}=TOOMANY
// TOOMANY: error: derivative-bits is 12; give 1 to 8 bits, or 0 to keep derivatives exactly
// RUN: %{run} --entry=f --size=1 --policy=bp --derivative-from-output %{check}=BRANCH
// BRANCH: error: --derivative-from-output is for --policy=auto
// RUN: %{run} --entry=f --size=1 --policy=fad --residual-budget=1KB %{check}=KEEP
// KEEP: error: --residual-budget is for --policy=auto
// RUN: %{run} --entry=f --size=1 --policy=fad --assumed-size=8 %{check}=ASSUMED
// ASSUMED: error: --assumed-size is for --policy=auto
// RUN: %{run} --entry=f --size=1 --policy=auto --residual-budget=some %{check}=SOME
// SOME: for the --residual-budget option: the value is 'some', which is no number of bytes; the units are B, KB, MB, GB, TB, KiB, MiB, GiB and TiB
// RUN: %{run} --entry=f --size=1 --policy=auto --recompute=some %{check}=LEVEL
// LEVEL: for the --recompute option: 'some' is none of its values: nothing, elementwise, reductions, all, contractions
