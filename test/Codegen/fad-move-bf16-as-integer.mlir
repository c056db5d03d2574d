// RUN: fad-opt %s -fad-move-bf16-as-integer | FileCheck %s
// Executed in test/Codegen/fad-math-to-libm-run.mlir and wherever there is bf16.

// CHECK-LABEL: llvm.func @choose(
// CHECK-SAME:    %[[C:[^:]*]]: i1, %[[P:[^:]*]]: !llvm.ptr, %[[S:[^:]*]]: bf16)
// CHECK-DAG:     %[[B:.*]] = llvm.bitcast %[[S]] : bf16 to i16
// CHECK-DAG:     %[[K:.*]] = llvm.mlir.constant(16320 : i16) : i16
// CHECK-DAG:     %[[X:.*]] = llvm.load %[[P]] : !llvm.ptr -> i16
// CHECK:         %[[Y:.*]] = llvm.select %[[C]], %[[X]], %[[K]] : i1, i16
// CHECK:         llvm.cond_br %[[C]], ^bb1(%[[Y]] : i16), ^bb1(%[[B]] : i16)
// CHECK:       ^bb1(%[[Z:.*]]: i16):
// CHECK:         llvm.store %[[Z]], %[[P]] : i16, !llvm.ptr
llvm.func @choose(%c: i1, %p: !llvm.ptr, %s: bf16) {
  %k = llvm.mlir.constant(1.500000e+00 : bf16) : bf16
  %x = llvm.load %p : !llvm.ptr -> bf16
  %y = llvm.select %c, %x, %k : i1, bf16
  llvm.cond_br %c, ^bb1(%y : bf16), ^bb1(%s : bf16)
^bb1(%z: bf16):
  llvm.store %z, %p : bf16, !llvm.ptr
  llvm.return
}

// Operands and results of computations and calls stay numbers of floating point.
// CHECK-LABEL: llvm.func @compute(
// CHECK-SAME:    %[[P:[^:]*]]: !llvm.ptr) -> bf16
// CHECK:         %[[X:.*]] = llvm.load %[[P]] : !llvm.ptr -> vector<4xi16>
// CHECK:         %[[F:.*]] = llvm.bitcast %[[X]] : vector<4xi16> to vector<4xbf16>
// CHECK:         %[[E:.*]] = llvm.fpext %[[F]] : vector<4xbf16> to vector<4xf64>
// CHECK:         %[[T:.*]] = llvm.fptrunc %[[E]] : vector<4xf64> to vector<4xbf16>
// CHECK:         %[[I:.*]] = llvm.bitcast %[[T]] : vector<4xbf16> to vector<4xi16>
// CHECK:         %[[K:.*]] = llvm.mlir.constant(dense<16320> : vector<4xi16>) : vector<4xi16>
// CHECK:         %[[S:.*]] = llvm.shufflevector %[[I]], %[[K]] [0, 4, 1, 5] : vector<4xi16>
// CHECK:         llvm.store %[[S]], %[[P]] : vector<4xi16>, !llvm.ptr
// CHECK:         %[[R:.*]] = llvm.extractelement %[[S]][%{{.*}} : i64] : vector<4xi16>
// CHECK:         %[[A:.*]] = llvm.bitcast %[[R]] : i16 to bf16
// CHECK:         %[[D:.*]] = llvm.call @outside(%[[A]]) : (bf16) -> bf16
// CHECK:         %[[DI:.*]] = llvm.bitcast %[[D]] : bf16 to i16
// CHECK:         %[[DF:.*]] = llvm.bitcast %[[DI]] : i16 to bf16
// CHECK:         llvm.return %[[DF]] : bf16
llvm.func @outside(bf16) -> bf16
llvm.func @compute(%p: !llvm.ptr) -> bf16 {
  %x = llvm.load %p : !llvm.ptr -> vector<4xbf16>
  %e = llvm.fpext %x : vector<4xbf16> to vector<4xf64>
  %t = llvm.fptrunc %e : vector<4xf64> to vector<4xbf16>
  %k = llvm.mlir.constant(dense<1.500000e+00> : vector<4xbf16>) : vector<4xbf16>
  %s = llvm.shufflevector %t, %k [0, 4, 1, 5] : vector<4xbf16>
  llvm.store %s, %p : vector<4xbf16>, !llvm.ptr
  %i = llvm.mlir.constant(1 : i64) : i64
  %r = llvm.extractelement %s[%i : i64] : vector<4xbf16>
  %d = llvm.call @outside(%r) : (bf16) -> bf16
  llvm.return %d : bf16
}

// Nor are there integers in a structure.
// CHECK-LABEL: llvm.func @structure(
// CHECK:         llvm.mlir.poison : !llvm.struct<(bf16, i64)>
// CHECK:         %[[F:.*]] = llvm.bitcast %{{.*}} : i16 to bf16
// CHECK:         llvm.insertvalue %[[F]], %{{.*}}[0] : !llvm.struct<(bf16, i64)>
llvm.func @structure(%p: !llvm.ptr) -> !llvm.struct<(bf16, i64)> {
  %s = llvm.mlir.poison : !llvm.struct<(bf16, i64)>
  %x = llvm.load %p : !llvm.ptr -> bf16
  %r = llvm.insertvalue %x, %s[0] : !llvm.struct<(bf16, i64)>
  llvm.return %r : !llvm.struct<(bf16, i64)>
}

// Branches within a region are like those of the function.
// CHECK-LABEL: llvm.func @region(
// CHECK:         omp.parallel {
// CHECK:           %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK:           llvm.cond_br %{{.*}}, ^bb1(%[[X]] : i16), ^bb1(%{{.*}} : i16)
// CHECK:         ^bb1(%[[Y:.*]]: i16):
// CHECK:           llvm.store %[[Y]], %{{.*}} : i16, !llvm.ptr
llvm.func @region(%p: !llvm.ptr, %c: i1) {
  omp.parallel {
    %k = llvm.mlir.constant(1.500000e+00 : bf16) : bf16
    %x = llvm.load %p : !llvm.ptr -> bf16
    llvm.cond_br %c, ^bb1(%x : bf16), ^bb1(%k : bf16)
  ^bb1(%y: bf16):
    llvm.store %y, %p : bf16, !llvm.ptr
    omp.terminator
  }
  llvm.return
}

// Types that hold some are left as they are.
// CHECK-LABEL: llvm.func @aggregate(
// CHECK:         llvm.br ^bb1(%{{.*}} : !llvm.array<2 x vector<4xbf16>>)
llvm.func @aggregate(%p: !llvm.ptr) -> !llvm.array<2 x vector<4xbf16>> {
  %x = llvm.load %p : !llvm.ptr -> !llvm.array<2 x vector<4xbf16>>
  llvm.br ^bb1(%x : !llvm.array<2 x vector<4xbf16>>)
^bb1(%y: !llvm.array<2 x vector<4xbf16>>):
  llvm.return %y : !llvm.array<2 x vector<4xbf16>>
}
