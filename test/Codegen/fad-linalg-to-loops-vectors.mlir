// RUN: fad-opt %s -fad-linalg-to-loops=vector-bits=256 --remarks-filter=fad-linalg-to-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:
// RUN: fad-opt %s -fad-linalg-to-loops=vector-bits=0 --remarks-filter=fad-linalg-to-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNASKED --allow-empty
// RUN: fad-opt %s -fad-linalg-to-loops=vector-bits=256 -canonicalize -cse | FileCheck %s
// RUN: fad-opt %s -fad-linalg-to-loops=vector-bits=0 -canonicalize -cse | FileCheck %s --check-prefix=SCALAR
// Executed in test/python/core/vector_loops.py.

// SCALAR-NOT: vector

#id1 = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#column = affine_map<(d0, d1) -> (d0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-DAG: #[[UNROLL_CONSTANT:.*]] = #llvm.loop_unroll<runtimeDisable = true>
// CHECK-DAG: #[[UNROLL_NEVER:.*]] = #llvm.loop_unroll<disable = true>
// CHECK-DAG: #[[CONSTANT:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL_CONSTANT]]>
// CHECK-DAG: #[[NEVER:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL_NEVER]]>

// Vectors, and then what is left one by one. LLVM leaves these loops as they are, or copies the
// steps of a short one whose number it knows.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>)
// CHECK-DAG:     %[[LANES:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         scf.parallel
// CHECK:           scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[LANES]] {
// CHECK:             %[[LOADED:.*]] = vector.load %{{.*}} : {{.*}}, vector<8xf32>
// CHECK:             %[[SUM:.*]] = arith.addf %[[LOADED]], %[[LOADED]] : vector<8xf32>
// CHECK:             vector.store %[[SUM]], %{{.*}} : {{.*}}, vector<8xf32>
// CHECK-NEXT:      } {loop_annotation = #[[CONSTANT]]}
// CHECK:           scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[ONE]] {
// CHECK:             memref.load
// CHECK:             arith.addf %{{.*}} : f32
// CHECK:             memref.store
// CHECK-NEXT:      } {loop_annotation = #[[NEVER]]}
func.func @dynamic(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
    ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Short rows are one after the other; nothing is left.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: memref<8x3xf32>
// CHECK:         %[[FLAT:.*]] = memref.collapse_shape %[[X]] {{\[}}[0, 1]] : memref<8x3xf32> into memref<24xf32>
// CHECK-COUNT-1: scf.for
// CHECK-NOT:     scf.for
// CHECK:           vector.load
func.func @rows(%x: memref<8x3xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : memref<8x3xf32>) {
  ^bb0(%a: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// No elements, nothing to do.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    return
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @empty(%x: memref<3x0x?xf32>) {
  linalg.generic {indexing_maps = [#id3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%x : memref<3x0x?xf32>) {
  ^bb0(%a: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// A row and a column of operands: the one is loaded, the other spread.
// CHECK-LABEL: func.func @broadcasts(
// CHECK-SAME:    %[[ROW:[^:]*]]: memref<32xf32>, %[[COLUMN:[^:]*]]: memref<5xf32>,
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-DAG:         %[[R:.*]] = vector.load
// CHECK-DAG:         %[[C:.*]] = vector.broadcast %{{.*}} : {{.*}} to vector<8xf32>
// CHECK:             %[[PRODUCT:.*]] = arith.mulf %[[R]], %[[C]] : vector<8xf32>
// CHECK:             vector.store %[[PRODUCT]]
// CHECK-NEXT:      } {loop_annotation = #[[CONSTANT]]}
// CHECK-NEXT:    } {loop_annotation = #[[NEVER]]}
func.func @broadcasts(%row: memref<32xf32>, %column: memref<5xf32>, %y: memref<5x32xf32>) {
  linalg.generic {indexing_maps = [#row, #column, #id], iterator_types = ["parallel", "parallel"]}
    ins(%row, %column : memref<32xf32>, memref<5xf32>) outs(%y : memref<5x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// LLVM copies no steps of much arithmetic.
// CHECK-LABEL: func.func @fourth_power_and_more(
// CHECK:         scf.for
// CHECK:           vector.store
// CHECK-NEXT:    } {loop_annotation = #[[NEVER]]}
func.func @fourth_power_and_more(%x: memref<64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
    ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %1, %0 : f32
    %3 = arith.addf %2, %a : f32
    linalg.yield %3 : f32
  }
  return
}

// As many lanes as the widest number allows.
// CHECK-LABEL: func.func @mixed(
// CHECK:         vector.load %{{.*}} : {{.*}}, vector<8xbf16>
// CHECK:         arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
func.func @mixed(%x: memref<64xbf16>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
    ins(%x : memref<64xbf16>) outs(%y : memref<64xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  }
  return
}
// Nothing but bf16: twice as many, of which the even ones and the odd ones are
// computed apart; then as many as are in one vector of f32.
// CHECK-LABEL: func.func @pairs(
// CHECK:         %[[LOADED:.*]] = vector.load %{{.*}} : {{.*}}, vector<16xbf16>
// CHECK:         %[[EVEN:.*]], %[[ODD:.*]] = vector.deinterleave %[[LOADED]] : vector<16xbf16> -> vector<8xbf16>
// CHECK-DAG:     %[[WIDE_EVEN:.*]] = arith.extf %[[EVEN]] : vector<8xbf16> to vector<8xf32>
// CHECK-DAG:     %[[WIDE_ODD:.*]] = arith.extf %[[ODD]] : vector<8xbf16> to vector<8xf32>
// CHECK-DAG:     arith.mulf %[[WIDE_EVEN]], %[[THREE:.*]] : vector<8xf32>
// CHECK-DAG:     arith.mulf %[[WIDE_ODD]], %[[THREE]] : vector<8xf32>
// CHECK:         %[[JOINED:.*]] = vector.interleave %{{.*}}, %{{.*}} : vector<8xbf16> -> vector<16xbf16>
// CHECK:         vector.store %[[JOINED]]
// CHECK:         vector.load %{{.*}} : {{.*}}, vector<8xbf16>
// CHECK-NOT:     interleave
// CHECK:         memref.load
func.func @pairs(%x: memref<?xbf16>, %y: memref<?xbf16>) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
    ins(%x : memref<?xbf16>) outs(%y : memref<?xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %three = arith.constant 3.0 : f32
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %three : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  }
  return
}

// CHECK-LABEL: func.func @wide(
// CHECK:         vector.load %{{.*}} : {{.*}}, vector<4xf64>
func.func @wide(%x: memref<64xf64>) {
  linalg.generic {indexing_maps = [#id1], iterator_types = ["parallel"]} outs(%x : memref<64xf64>) {
  ^bb0(%a: f64):
    %0 = arith.negf %a : f64
    linalg.yield %0 : f64
  }
  return
}

// Bits take bytes in memory, operands that lie the other way are no vectors, and
// five elements are not enough.
// CHECK-LABEL: func.func @scalar(
// CHECK-NOT:     vector
// CHECK:         return
// REMARK: vectors.mlir:[[#@LINE+5]]:3: remark: [Missed] NotVectorized | Category:fad-linalg-to-loops | Function=scalar | Because="an operand has elements of less than a byte"
// REMARK: vectors.mlir:[[#@LINE+10]]:3: remark: [Missed] NotVectorized | {{.*}}Because="neighboring elements of an operand do not lie together"
// REMARK: vectors.mlir:[[#@LINE+14]]:3: remark: [Missed] NotVectorized | {{.*}}Because="a vector has more elements than the innermost loop, or one"
// REMARK: vectors.mlir:[[#@LINE+18]]:3: remark: [Missed] NotVectorized | {{.*}}Because="neighboring elements of an operand do not lie together"
func.func @scalar(%x: memref<64xi1>, %y: memref<64x64xf32>, %z: memref<64x64xf32>, %w: memref<5xf32>, %s: memref<64xf32, strided<[2]>>) {
  linalg.generic {indexing_maps = [#id1], iterator_types = ["parallel"]} outs(%x : memref<64xi1>) {
  ^bb0(%a: i1):
    %true = arith.constant true
    %0 = arith.xori %a, %true : i1
    linalg.yield %0 : i1
  }
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
    ins(%y : memref<64x64xf32>) outs(%z : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#id1], iterator_types = ["parallel"]} outs(%w : memref<5xf32>) {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id1], iterator_types = ["parallel"]} outs(%s : memref<64xf32, strided<[2]>>) {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// A reduction of rows: the sum is in a register, in f32, and may be reassociated.
// CHECK-LABEL: func.func @sums(
// CHECK:         %[[OLD:.*]] = memref.load %[[Y:.*]][%[[I:.*]]] : memref<{{.*}}xf16
// CHECK:         %[[FIRST:.*]] = arith.extf %[[OLD]] : f16 to f32
// CHECK:         %[[SUM:.*]] = scf.for %[[J:.*]] = {{.*}} iter_args(%[[S:.*]] = %[[FIRST]]) -> (f32) {
// CHECK:           %[[A:.*]] = memref.load %{{.*}}[%[[I]], %[[J]]] : memref<{{.*}}xf16
// CHECK:           %[[B:.*]] = arith.negf %[[A]] : f16
// CHECK:           %[[WIDE:.*]] = arith.extf %[[B]] : f16 to f32
// CHECK:           %[[NEW:.*]] = arith.addf %[[S]], %[[WIDE]] fastmath<reassoc> : f32
// CHECK:           scf.yield %[[NEW]] : f32
// CHECK:         %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK:         memref.store %[[ROUNDED]], %[[Y]][%[[I]]]
func.func @sums(%x: memref<?x?xf16>, %y: memref<?xf16>) {
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<?x?xf16>) outs(%y : memref<?xf16>) {
  ^bb0(%a: f16, %s: f16):
    %0 = arith.negf %a : f16
    %1 = arith.addf %s, %0 : f16
    linalg.yield %1 : f16
  }
  return
}

// The flags of the program stay. A place may be computed, and a number given.
// CHECK-LABEL: func.func @flags(
// CHECK:         scf.for %[[J:.*]] = {{.*}} iter_args(
// CHECK:           %[[PLACE:.*]] = affine.apply #{{.*}}(%{{.*}}, %{{.*}})
// CHECK:           memref.load %{{.*}}[%[[PLACE]]] : memref<67xf32
// CHECK:           memref.load %{{.*}}[%[[J]]] : memref<4xf32
// CHECK:           arith.maxnumf %{{.*}}, %{{.*}} fastmath<reassoc,nnan,ninf,nsz> : f32
func.func @flags(%x: memref<67xf32>, %w: memref<4xf32>, %c: f32, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, #row, affine_map<(d0, d1) -> ()>, #column],
                  iterator_types = ["parallel", "reduction"]}
    ins(%x, %w, %c : memref<67xf32>, memref<4xf32>, f32) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %d : f32
    %2 = arith.maxnumf %s, %1 fastmath<nnan,ninf,nsz> : f32
    linalg.yield %2 : f32
  }
  return
}

// Dimensions of size 1 are none: the others are contiguous, and joined.
// CHECK-LABEL: func.func @unit_dims(
// CHECK-SAME:    %[[X:.*]]: memref<1x16x1x1xf32>, %[[S:.*]]: memref<1x1xf32>, %[[Y:.*]]: memref<2x16x3x5xf32>)
// CHECK-DAG:     memref.collapse_shape %[[X]] {{\[}}[0, 1, 2, 3]] : memref<1x16x1x1xf32> into memref<16xf32>
// CHECK-DAG:     memref.collapse_shape %[[S]] [] : memref<1x1xf32> into memref<f32>
// CHECK-DAG:     memref.collapse_shape %[[Y]] {{\[}}[0], [1], [2, 3]] : memref<2x16x3x5xf32> into memref<2x16x15xf32>
// CHECK:         arith.addf %{{.*}}, %{{.*}} : vector<8xf32>
func.func @unit_dims(%x: memref<1x16x1x1xf32>, %s: memref<1x1xf32>, %y: memref<2x16x3x5xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (0, d1, 0, 0)>, affine_map<(d0, d1, d2, d3) -> (0, 0)>,
                                   affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%x, %s : memref<1x16x1x1xf32>, memref<1x1xf32>) outs(%y : memref<2x16x3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    linalg.yield %1 : f32
  }
  return
}

// A place in a larger dimension, and one of strides, stay.
// CHECK-LABEL: func.func @first(
// CHECK-NOT:     memref.collapse_shape
// CHECK:         return
// REMARK: remark: [Missed] NotVectorized | {{.*}}Function=first | Because="neighboring elements of an operand do not lie together"
// UNASKED-NOT: remark:
func.func @first(%x: memref<3x16xf32>, %s: memref<1x16xf32, strided<[32, 2]>>, %y: memref<5x16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (0, d1)>, affine_map<(d0, d1) -> (0, d1)>, #id],
                  iterator_types = ["parallel", "parallel"]}
    ins(%x, %s : memref<3x16xf32>, memref<1x16xf32, strided<[32, 2]>>) outs(%y : memref<5x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// Sums of channels: positions are joined, and threads share the channels, of which one
// has 8 * 49 summands.
// CHECK-LABEL: func.func @channels(
// CHECK-SAME:    %[[X:.*]]: memref<8x256x7x7xf32>, %[[Y:.*]]: memref<1x256x1x1xf32>)
// CHECK-DAG:     %[[TILE:.*]] = arith.constant 41 : index
// CHECK-DAG:     %[[ROW:.*]] = arith.constant 49 : index
// CHECK-DAG:     memref.collapse_shape %[[X]] {{\[}}[0], [1], [2, 3]] : memref<8x256x7x7xf32> into memref<8x256x49xf32>
// CHECK-DAG:     memref.collapse_shape %[[Y]] {{\[}}[0, 1, 2, 3]] : memref<1x256x1x1xf32> into memref<256xf32>
// CHECK:         scf.parallel {{.*}} step (%[[TILE]])
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[ROW]] step %{{.*}} iter_args
// CHECK:             arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
func.func @channels(%x: memref<8x256x7x7xf32>, %y: memref<1x256x1x1xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (0, d1, 0, 0)>],
                  iterator_types = ["reduction", "parallel", "reduction", "reduction"]}
    ins(%x : memref<8x256x7x7xf32>) outs(%y : memref<1x256x1x1xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.addf %s, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// What is read again for other results is tiled as a contraction is.
// CHECK-LABEL: func.func @products(
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[COLUMNS:.*]] = arith.constant 512 : index
// CHECK:         scf.parallel {{.*}} step (%[[ROWS]], %[[COLUMNS]])
func.func @products(%x: memref<64x768xf32>, %w: memref<1024x768xf32>, %y: memref<64x1024xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : memref<64x768xf32>, memref<1024x768xf32>) outs(%y : memref<64x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A reduction of columns is elementwise along a row.
// CHECK-LABEL: func.func @columns(
// CHECK:         %[[NEW:.*]] = arith.maximumf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK:         vector.store %[[NEW]]
func.func @columns(%x: memref<?x64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["reduction", "parallel"]}
    ins(%x : memref<?x64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %1 = arith.maximumf %s, %a : f32
    linalg.yield %1 : f32
  }
  return
}

// Named operations are elementwise, too.
// CHECK-LABEL: func.func @named(
// CHECK:         arith.addf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK:         math.exp %{{.*}} : vector<8xf32>
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} -> (f32)
func.func @named(%x: memref<64xf32>, %y: memref<64xf32>, %s: memref<f32>) {
  linalg.add ins(%x, %y : memref<64xf32>, memref<64xf32>) outs(%y : memref<64xf32>)
  linalg.map { math.exp } ins(%y : memref<64xf32>) outs(%x : memref<64xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<64xf32>) outs(%s : memref<f32>) dimensions = [0]
  return
}

// Differences keep their order, and so does a sum that another result takes.
// CHECK-LABEL: func.func @kept(
// CHECK:         arith.subf %{{[^ ]*}}, %{{[^ ]*}} : f32
// CHECK:         arith.addf %{{[^ ]*}}, %{{[^ ]*}} : f32
// CHECK:         arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
func.func @kept(%x: memref<?x64xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<?x64xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %1 = arith.subf %a, %s : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#id, #column, #column], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<?x64xf32>) outs(%y, %z : memref<?xf32>, memref<?xf32>) {
  ^bb0(%a: f32, %s: f32, %t: f32):
    %1 = arith.addf %a, %s : f32
    %2 = arith.mulf %1, %t : f32
    linalg.yield %1, %2 : f32, f32
  }
  return
}

// A large result of little work goes past the cache, where the buffer is aligned;
// other threads see it before what follows.
// CHECK-LABEL: func.func @stream(
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant 4194304 : index
// CHECK-DAG:     %[[MASK:.*]] = arith.constant 31 : index
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         %[[IS_LARGE:.*]] = arith.cmpi sge, %{{.*}}, %[[LEAST]] : index
// CHECK:         %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[Z:.*]] :
// CHECK:         %[[REST:.*]] = arith.andi %[[ADDRESS]], %[[MASK]] : index
// CHECK:         %[[IS_ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %[[ZERO]] : index
// CHECK:         %[[STREAMS:.*]] = arith.andi %[[IS_LARGE]], %[[IS_ALIGNED]] : i1
// CHECK:         scf.parallel
// CHECK:           scf.if %[[STREAMS]] {
// CHECK:             scf.for
// CHECK:               vector.store %{{.*}} {alignment = 32 : i64, nontemporal = true}
// CHECK:             llvm.fence seq_cst
// CHECK:           } else {
// CHECK:               vector.store
// CHECK-NOT:         nontemporal
// CHECK-NOT:         fence
// CHECK:         return
func.func @stream(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]}
    ins(%x, %y : memref<?xf32>, memref<?xf32>) outs(%z : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// Neither what is small, nor a function, nor what is written over what is read, nor
// what is part of a buffer.
// CHECK-LABEL: func.func @no_stream(
// CHECK-NOT:     nontemporal
// CHECK:         return
func.func @no_stream(%x: memref<?xf32>, %s: memref<64xf32>, %t: memref<64xf32>, %z: memref<?xf32>,
                     %u: memref<?xf32, strided<[1], offset: 4>>) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
    ins(%s : memref<64xf32>) outs(%t : memref<64xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
    ins(%x : memref<?xf32>) outs(%z : memref<?xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id1], iterator_types = ["parallel"]} outs(%z : memref<?xf32>) {
  ^bb0(%c: f32):
    %0 = arith.negf %c : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
    ins(%z : memref<?xf32>) outs(%u : memref<?xf32, strided<[1], offset: 4>>) {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// What a loop reads element by element is fetched 8 KiB ahead, in both loops over
// vectors; a number that is read again and again, and results, are not.
// CHECK-LABEL: func.func @prefetch(
// CHECK-DAG:     %[[AHEAD:.*]] = arith.constant 4096 : index
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           %[[NEXT:.*]] = arith.addi %[[I]], %[[AHEAD]] : index
// CHECK:           memref.prefetch %{{.*}}[%[[NEXT]]], read, locality<3>, data : memref<{{.*}}bf16
// CHECK-NOT:       memref.prefetch
// CHECK:           vector.store
// CHECK:         scf.for
// CHECK-NOT:       memref.prefetch
// CHECK:           vector.store
// CHECK:         scf.for
// CHECK-NOT:       memref.prefetch
// CHECK:         return
func.func @prefetch(%x: memref<?xbf16>, %factor: memref<bf16>, %z: memref<?xbf16>) {
  linalg.generic {indexing_maps = [#id1, affine_map<(d0) -> ()>, #id1], iterator_types = ["parallel"]}
    ins(%x, %factor : memref<?xbf16>, memref<bf16>) outs(%z : memref<?xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = math.exp %0 : f32
    %3 = arith.mulf %2, %1 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  }
  return
}

// Nor is what ends before that, nor the next row.
// CHECK-LABEL: func.func @no_prefetch(
// CHECK-NOT:     memref.prefetch
// CHECK:         return
func.func @no_prefetch(%x: memref<2048xf32>, %y: memref<2048xf32>, %rows: memref<?x?xf32>,
                       %columns: memref<?xf32>, %z: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
    ins(%x : memref<2048xf32>) outs(%y : memref<2048xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
    ins(%rows, %columns : memref<?x?xf32>, memref<?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// The body reads an element at a computed place.
// REMARK: vectors.mlir:[[#@LINE+2]]:3: remark: [Missed] NotVectorized | {{.*}}Function=gather | Because="its body has more than scalar arithmetic"
func.func @gather(%x: memref<64xf32>, %p: memref<64xi32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
    ins(%p : memref<64xi32>) outs(%y : memref<64xf32>) {
  ^bb0(%i: i32, %b: f32):
    %0 = arith.index_cast %i : i32 to index
    %1 = memref.load %x[%0] : memref<64xf32>
    linalg.yield %1 : f32
  }
  return
}
