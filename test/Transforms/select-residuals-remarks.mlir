// What is kept and what is computed again, as remarks at the source.

// RUN: fad-opt %s --fad-nest="entry=layers policy=fad" --remarks-filter=fad-residuals -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAD
// RUN: fad-opt %s --fad-nest="entry=layers policy=auto" --remarks-filter=fad-residuals -o /dev/null 2>&1 | FileCheck %s --check-prefix=AUTO
// RUN: fad-opt %s --fad-nest="entry=total policy=auto" --remarks-filter-missed=fad-residuals -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: fad-opt %s --fad-nest="entry=total policy=auto recompute=reductions" --remarks-filter-missed=fad-residuals -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALLOWED --allow-empty
// RUN: fad-opt %s --fad-nest="entry=layers policy=auto" --remarks-filter=fad-residuals --remark-format=yaml --remarks-output-file=%t.yaml -o %t.with
// RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml

// Remarks change nothing.
// RUN: fad-opt %s --fad-nest="entry=layers policy=auto" -o %t.without
// RUN: cmp %t.with %t.without

// How many there are of each kind. Only the cut has candidates.
// FAD-DAG: remark: [Analysis] Selected | Category:fad-residuals | Function=layers_joint | Derivatives=1, Free=3, Recomputed=0, Refused=0, Rule=fad, Sizes=0, Values=1
// AUTO-DAG: remarks.mlir:[[#@LINE+22]]:1: remark: [Analysis] Selected | Category:fad-residuals | Function=layers_joint | Candidates={{[1-9][0-9]*}}, Derivatives=0, Edges={{[1-9][0-9]*}}, Free=3, Recomputed=2, Refused=1, Sizes=0, Values=1

// FAD-DAG: remarks.mlir:[[#@LINE+28]]:8: remark: [Passed] Kept | Category:fad-residuals | Function=layers_joint | Because="instead of 32*d0 bytes of linalg.matmul at {{.*}}remarks.mlir:[[#@LINE+26]]:8", Bytes=32*d0, For=fad.elementwise, Reason="derivative of a region", Type=tensor<?x8xf32>
// FAD-DAG: remarks.mlir:[[#@LINE+27]]:8: remark: [Passed] Kept | {{.*}} Bytes=32*d0, For=linalg.matmul, Reason="read by an adjoint", Type=tensor<?x8xf32>
// FAD-DAG: remarks.mlir:[[#@LINE+18]]:40: remark: [Analysis] Free | {{.*}} Bytes=0, {{.*}}Type=tensor<8x8xf32>
// FAD-NOT: [Passed] Recomputed

// AUTO-DAG: remarks.mlir:[[#@LINE+21]]:8: remark: [Missed] Refused | Category:fad-residuals | Function=layers_joint | Because="linalg.matmul is not computed again: a contraction", Bytes=32*d0, For="linalg.matmul, fad.elementwise", Reason="source of a region", Type=tensor<?x8xf32>
// AUTO-DAG: remarks.mlir:[[#@LINE+22]]:8: remark: [Passed] Recomputed | Category:fad-residuals | Function=layers_joint | Bytes=32*d0, Operation=fad.elementwise, Time=

// MISSED: remark: [Missed] Refused | {{.*}}Because="linalg.generic is not computed again: that takes recompute=reductions", Bytes=4*d0
// MISSED-NOT: Passed
// ALLOWED-NOT: Refused

// YAML: --- !Missed
// YAML-NEXT: Pass: {{ *}}fad-residuals
// YAML-NEXT: Name: {{ *}}Refused
// YAML:      Function: {{ *}}layers_joint
// YAML-NEXT: Args:
// YAML-NEXT: - Reason: {{ *}}source of a region
// YAML:      - Because: {{ *}}'linalg.matmul is not computed again: a contraction'

func.func @layers(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>)
    outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  %c = math.cos %h : tensor<?x8xf32>
  %a = math.sin %c : tensor<?x8xf32>
  %y = linalg.matmul ins(%a, %v : tensor<?x8xf32>, tensor<8x8xf32>)
    outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// The sine of the sum of each row scales the row.
func.func @total(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %column = tensor.empty(%rows) : tensor<?xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%column : tensor<?xf32>) -> tensor<?xf32>
  %sums = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<?x8xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %scale = math.sin %sums : tensor<?xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %scale : tensor<?x8xf32>, tensor<?xf32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %product = arith.mulf %in, %factor : f32
    linalg.yield %product : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
