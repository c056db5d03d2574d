// On a GPU, whose compiler fuses operations, the bytes that kernels move count beside those of
// residuals.

// RUN: fad-opt %s --split-input-file --fad-select-residuals="target=gpu" | FileCheck %s
// RUN: fad-opt %s --split-input-file --fad-select-residuals="target=cpu" | FileCheck %s --check-prefix=CPU

// Of a weight of 32 bits, backward has a copy of 16 bits, which takes 128 bytes. A kernel that
// makes it again reads 256 bytes and writes 128: three for each. A selection that saves it and %b is
// proposed; %b takes two, and the copy is a third of what that saves.

// CHECK-LABEL: func.func @cast
// CHECK: %[[CAST:.*]] = fad.opaque "cast"
// CHECK: fad.residual %[[CAST]]
// CHECK-NOT: "cast"
// CHECK: return
// CPU-LABEL: func.func @cast
// CPU-NOT: fad.residual %{{.*}} : tensor<64xbf16>
// CPU: return
func.func @cast(%w: tensor<64xf32>, %a: tensor<64xf32>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["c", "b"], ["unknown"]]} {
  %c = fad.opaque "cast" elementwise (%w) {fad.nodes = ["c"]} : (tensor<64xf32>) -> tensor<64xbf16>
  %b = fad.opaque "wide" elementwise (%a) {fad.nodes = ["b"]} : (tensor<64xf32>) -> tensor<64xf32>
  %y = fad.opaque "product" keep (%c, %b) : (tensor<64xbf16>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "adjoint" keep (%g, %c, %b) : (tensor<64xf32>, tensor<64xbf16>, tensor<64xf32>) -> tensor<64xf32>
  return %y, %d : tensor<64xf32>, tensor<64xf32>
}

// -----

// Beyond three fifths of what a proposal saves, copies of weights are made again for their bytes: one
// of two.

// CHECK-LABEL: func.func @casts
// CHECK: %[[C:.*]] = fad.opaque "cast"
// CHECK: fad.opaque "cast"
// CHECK: fad.residual %{{.*}} : tensor<64xbf16>
// CHECK-NOT: fad.residual %{{.*}} : tensor<64xbf16>
// CHECK: fad.opaque "cast"
// CHECK-NOT: fad.opaque "cast"
// CHECK: return
func.func @casts(%w: tensor<64xf32>, %v: tensor<64xf32>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["b", "c"]]} {
  %b = fad.opaque "cast" elementwise (%w) {fad.nodes = ["b"]} : (tensor<64xf32>) -> tensor<64xbf16>
  %x = fad.opaque "product" keep (%b) : (tensor<64xbf16>) -> tensor<64xf32>
  %c = fad.opaque "cast" elementwise (%v) {fad.nodes = ["c"]} : (tensor<64xf32>) -> tensor<64xbf16>
  %y = fad.opaque "product" keep (%x, %c) : (tensor<64xf32>, tensor<64xbf16>) -> tensor<64xf32>
  %d = fad.opaque "adjoint" keep (%g, %c) : (tensor<64xf32>, tensor<64xbf16>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%d, %b) : (tensor<64xf32>, tensor<64xbf16>) -> tensor<64xf32>
  return %y, %e : tensor<64xf32>, tensor<64xf32>
}

// -----

// The kernel of %e reads %a and %b, and writes their product, too, for the adjoint: a byte for
// each that is not saved, though a selection that saves it is proposed.

// CHECK-LABEL: func.func @gate
// CHECK-DAG: %[[A:.*]] = fad.opaque "left"
// CHECK-DAG: %[[B:.*]] = fad.opaque "right"
// CHECK: %[[P:.*]] = fad.opaque "gate"
// CHECK-NOT: fad.residual %[[P]]
// CHECK: fad.opaque "gate"
// CHECK: return
func.func @gate(%x: tensor<64xf32>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["a", "b", "p"]]} {
  %a = fad.opaque "left" keep (%x) {fad.nodes = ["a"]} : (tensor<64xf32>) -> tensor<64xf32>
  %b = fad.opaque "right" keep (%x) {fad.nodes = ["b"]} : (tensor<64xf32>) -> tensor<64xf32>
  %p = fad.opaque "gate" elementwise (%a, %b) {fad.nodes = ["p"]} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %y = fad.opaque "down" keep (%p) : (tensor<64xf32>) -> tensor<64xf32>
  %h = fad.opaque "up" keep (%g) : (tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "slope" elementwise (%h, %a, %b) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %w = fad.opaque "adjoint" keep (%g, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "sum" keep (%e, %w) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y, %d : tensor<64xf32>, tensor<64xf32>
}

// -----

// The kernel of %e reads %x, and writes the norm, too, for the adjoint: a byte for each. The scale,
// which backward repeats before, delays both alike.

// CHECK-LABEL: func.func @delayed
// CHECK-NOT: fad.residual {{.*}}bf16
// CHECK: return
func.func @delayed(%x: tensor<64xf32>, %w: tensor<64xf32>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["n"]]} {
  %n = fad.opaque "norm" elementwise (%x) {fad.nodes = ["n"]} : (tensor<64xf32>) -> tensor<64xbf16>
  %c = fad.opaque "scale" elementwise (%w) : (tensor<64xf32>) -> tensor<64xf32>
  %y = fad.opaque "product" keep (%n, %c) : (tensor<64xbf16>, tensor<64xf32>) -> tensor<64xf32>
  %h = fad.opaque "up" keep (%g, %c) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "slope" elementwise (%h, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "adjoint" keep (%g, %n) : (tensor<64xf32>, tensor<64xbf16>) -> tensor<64xf32>
  %s = fad.opaque "sum" keep (%e, %d) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y, %s : tensor<64xf32>, tensor<64xf32>
}

// -----

// One kernel sums the rows and the columns of a large matrix, and two those of a small one. What is
// computed from three operands costs two bytes of traffic for each in one kernel, and four in two.

// CHECK-LABEL: func.func @large
// CHECK: %[[V:.*]] = fad.opaque "value"
// CHECK-NOT: fad.residual %[[V]]
// CHECK: return
func.func @large(%p: tensor<8192xf32>, %q: tensor<1024xf32>, %a: tensor<8192x1024xf32>, %b: tensor<8192x1024xf32>,
    %c: tensor<8192x1024xf32>, %g: tensor<8192xf32> {fad.cotangent = 0 : i64})
    -> (tensor<8192xf32>, tensor<8192xf32> {fad.gradient = 0 : i64}, tensor<1024xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["v"]]} {
  %v = fad.opaque "value" elementwise (%a, %b, %c) {fad.nodes = ["v"]} : (tensor<8192x1024xf32>, tensor<8192x1024xf32>, tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  %y = fad.opaque "product" keep (%v) : (tensor<8192x1024xf32>) -> tensor<8192xf32>
  %r = fad.opaque "rows" reduction (%v, %g) : (tensor<8192x1024xf32>, tensor<8192xf32>) -> tensor<8192xf32>
  %s = fad.opaque "columns" reduction (%v, %g) : (tensor<8192x1024xf32>, tensor<8192xf32>) -> tensor<1024xf32>
  return %y, %r, %s : tensor<8192xf32>, tensor<8192xf32>, tensor<1024xf32>
}

// CHECK-LABEL: func.func @small
// CHECK: %[[V:.*]] = fad.opaque "value"
// CHECK: fad.residual %[[V]]
// CHECK: return
func.func @small(%p: tensor<64xf32>, %q: tensor<32xf32>, %a: tensor<64x32xf32>, %b: tensor<64x32xf32>,
    %c: tensor<64x32xf32>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["v"]]} {
  %v = fad.opaque "value" elementwise (%a, %b, %c) {fad.nodes = ["v"]} : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = fad.opaque "product" keep (%v) : (tensor<64x32xf32>) -> tensor<64xf32>
  %r = fad.opaque "rows" reduction (%v, %g) : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64xf32>
  %s = fad.opaque "columns" reduction (%v, %g) : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<32xf32>
  return %y, %r, %s : tensor<64xf32>, tensor<64xf32>, tensor<32xf32>
}

// -----

// To save %x in a quarter of the bytes costs less than the kernel that widens it again. But there
// both are in memory at the peak, and the selection that is proposed takes less time, too.

// CHECK-LABEL: func.func @dominated
// CHECK: %[[V:.*]] = fad.opaque "widened"
// CHECK: fad.residual %[[V]]
// CHECK-NOT: "widened"
// CHECK: return
// CPU-LABEL: func.func @dominated
// CPU: fad.residual %{{.*}} : tensor<64xi8>
// CPU: return
func.func @dominated(%p: tensor<1xf32>, %w: tensor<64xf32>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<1xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["v"]]} {
  %x = fad.opaque "narrow" keep (%w) {fad.nodes = ["x"]} : (tensor<64xf32>) -> tensor<64xi8>
  %v = fad.opaque "widened" elementwise (%x) {fad.nodes = ["v"]} : (tensor<64xi8>) -> tensor<64xf32>
  %y = fad.opaque "product" keep (%v) : (tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "adjoint" keep (%g, %v) : (tensor<64xf32>, tensor<64xf32>) -> tensor<1xf32>
  return %y, %d : tensor<64xf32>, tensor<1xf32>
}

// -----

// The kernel that computes %v again reads 384 bytes and writes 256: two and a half for each byte that
// is not saved.

// CHECK-LABEL: func.func @mixed
// CHECK: %[[V:.*]] = fad.opaque "sum"
// CHECK-NOT: fad.residual %[[V]]
// CHECK: return
func.func @mixed(%a: tensor<64xf32>, %b: tensor<64xf16>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["v"]]} {
  %v = fad.opaque "sum" elementwise (%a, %b) {fad.nodes = ["v"]} : (tensor<64xf32>, tensor<64xf16>) -> tensor<64xf32>
  %y = fad.opaque "product" keep (%v) : (tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "adjoint" keep (%g, %v) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y, %d : tensor<64xf32>, tensor<64xf32>
}

// -----

// Of two proposals, one saves %r in 32 bits, and one %q, which takes fewer bytes, and makes %k again,
// for three bytes of traffic each. No selection between the first and the fewest bytes saves %q. The one
// between it and the best of those from the second saves both.

// CHECK-LABEL: func.func @towards
// CHECK-DAG: %[[Q:.*]] = fad.opaque "half"
// CHECK-DAG: %[[K:.*]] = fad.opaque "cast"
// CHECK-DAG: fad.residual %[[Q]]
// CHECK-DAG: fad.residual %[[K]]
// CHECK-NOT: "cast"
// CHECK: return
func.func @towards(%w: tensor<16xf32>, %x: tensor<64xf32>, %a: tensor<64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>,
    %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<16xf32> {fad.gradient = 0 : i64}, tensor<64xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["k", "r"], ["q"]]} {
  %z = fad.opaque "narrow" keep (%x) : (tensor<64xf32>) -> tensor<64xi8>
  %q = fad.opaque "half" elementwise (%z, %a, %b, %c) {fad.nodes = ["q"]} : (tensor<64xi8>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xbf16>
  %r = fad.opaque "widened" elementwise time 100000 (%q) {fad.nodes = ["r"]} : (tensor<64xbf16>) -> tensor<64xf32>
  %k = fad.opaque "cast" elementwise (%w) {fad.nodes = ["k"]} : (tensor<16xf32>) -> tensor<16xbf16>
  %y = fad.opaque "product" keep (%r, %k) : (tensor<64xf32>, tensor<16xbf16>) -> tensor<64xf32>
  %d = fad.opaque "adjoint" keep (%g, %k) : (tensor<64xf32>, tensor<16xbf16>) -> tensor<16xf32>
  %e = fad.opaque "slope" elementwise (%d, %r) : (tensor<16xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y, %d, %e : tensor<64xf32>, tensor<16xf32>, tensor<64xf32>
}

// -----

// To compute %t again, the kernel of %e reads %s in 64 bits, seven bytes for each, as long as %s is
// saved; but once that is not, %n and %m: none. So only the copy of the weight, for three, stays.

// CHECK-LABEL: func.func @cheaper
// CHECK-DAG: %[[N:.*]] = fad.opaque "left"
// CHECK-DAG: %[[M:.*]] = fad.opaque "right"
// CHECK-DAG: %[[C:.*]] = fad.opaque "cast"
// CHECK-DAG: fad.residual %[[N]]
// CHECK-DAG: fad.residual %[[M]]
// CHECK-DAG: fad.residual %[[C]]
// CHECK-NOT: fad.residual {{.*}}64xf64
// CHECK: return
func.func @cheaper(%w: tensor<64xf32>, %x: tensor<64xf32>, %a: tensor<64xf32>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["s", "t", "c"]]} {
  %n = fad.opaque "left" keep (%x) : (tensor<64xf32>) -> tensor<64xi8>
  %m = fad.opaque "right" keep (%x) : (tensor<64xf32>) -> tensor<64xi8>
  %s = fad.opaque "sum" elementwise time 100000 (%a, %n) {fad.nodes = ["s"]} : (tensor<64xf32>, tensor<64xi8>) -> tensor<64xf64>
  %t = fad.opaque "scale" elementwise time 100000 (%s, %m) {fad.nodes = ["t"]} : (tensor<64xf64>, tensor<64xi8>) -> tensor<64xbf16>
  %c = fad.opaque "cast" elementwise (%w) {fad.nodes = ["c"]} : (tensor<64xf32>) -> tensor<64xbf16>
  %y = fad.opaque "product" keep (%t, %c) : (tensor<64xbf16>, tensor<64xbf16>) -> tensor<64xf32>
  %d = fad.opaque "adjoint" keep (%g, %c) : (tensor<64xf32>, tensor<64xbf16>) -> tensor<64xf32>
  %e = fad.opaque "slope" elementwise (%d, %a, %t) : (tensor<64xf32>, tensor<64xf32>, tensor<64xbf16>) -> tensor<64xf32>
  %h = fad.opaque "next" keep (%e) : (tensor<64xf32>) -> tensor<64xf32>
  %f = fad.opaque "bend" elementwise (%h, %s) : (tensor<64xf32>, tensor<64xf64>) -> tensor<64xf32>
  return %y, %f : tensor<64xf32>, tensor<64xf32>
}

// -----

// %s takes few bytes of those of %c and %v, and is not computed again for them; %v is.

// CHECK-LABEL: func.func @statistics
// CHECK-DAG: %[[S:.*]] = fad.opaque "statistics"
// CHECK-DAG: %[[C:.*]] = fad.opaque "cast"
// CHECK-DAG: fad.residual %[[S]]
// CHECK-DAG: fad.residual %[[C]]
// CHECK: fad.opaque "wide"
// CHECK-NOT: fad.opaque "{{wide|cast|statistics}}"
// CHECK: return
func.func @statistics(%w: tensor<8192xf32>, %a: tensor<8192xf32>, %x: tensor<1xf32>,
    %g: tensor<8192xf32> {fad.cotangent = 0 : i64})
    -> (tensor<8192xf32>, tensor<8192xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["s", "c", "v"]]} {
  %s = fad.opaque "statistics" elementwise time 100000000 (%x) {fad.nodes = ["s"]} : (tensor<1xf32>) -> tensor<1xf32>
  %c = fad.opaque "cast" elementwise (%w) {fad.nodes = ["c"]} : (tensor<8192xf32>) -> tensor<8192xbf16>
  %v = fad.opaque "wide" elementwise (%a) {fad.nodes = ["v"]} : (tensor<8192xf32>) -> tensor<8192xf32>
  %y = fad.opaque "product" keep (%s, %c, %v) : (tensor<1xf32>, tensor<8192xbf16>, tensor<8192xf32>) -> tensor<8192xf32>
  %d = fad.opaque "adjoint" keep (%g, %s, %c, %v) : (tensor<8192xf32>, tensor<1xf32>, tensor<8192xbf16>, tensor<8192xf32>) -> tensor<8192xf32>
  return %y, %d : tensor<8192xf32>, tensor<8192xf32>
}

// -----

// A kernel makes %c again of two operands, of which one is small: two bytes for each. The view has
// its operand in memory.

// CHECK-LABEL: func.func @strided
// CHECK: %[[SCALE:.*]] = fad.opaque "scale"
// CHECK: %[[CAST:.*]] = fad.opaque "cast"
// CHECK-NOT: fad.residual %[[SCALE]]
// CHECK-NOT: fad.residual %[[CAST]]
// CHECK: return
func.func @strided(%x: tensor<64xbf16>, %w: tensor<4xf32>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<shared_reads = 2>} {
  %r = fad.opaque "statistic" reduction (%x) {fad.nodes = ["r"]} : (tensor<64xbf16>) -> tensor<1xf32>
  %s = fad.opaque "scale" elementwise (%r, %w) : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %v = fad.opaque "strided" view (%s) {fad.materializes} : (tensor<4xf32>) -> tensor<4xf32>
  %n = fad.opaque "norm" elementwise (%x, %v) : (tensor<64xbf16>, tensor<4xf32>) -> tensor<64xf32>
  %c = fad.opaque "cast" elementwise (%n) {fad.nodes = ["c"]} : (tensor<64xf32>) -> tensor<64xbf16>
  %y = fad.opaque "product" keep (%c) : (tensor<64xbf16>) -> tensor<64xf32>
  %h = fad.opaque "adjoint" keep (%g, %c) : (tensor<64xf32>, tensor<64xbf16>) -> tensor<64xf32>
  %e = fad.opaque "slope" elementwise (%h, %n) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y, %e : tensor<64xf32>, tensor<64xf32>
}

// -----

// With a view of no such need, two kernels that make %n would read three operands, which are too many:
// the scale is saved.

// CHECK-LABEL: func.func @viewed
// CHECK: %[[SCALE:.*]] = fad.opaque "scale"
// CHECK: fad.residual %[[SCALE]]
// CHECK: return
func.func @viewed(%x: tensor<64xbf16>, %w: tensor<4xf32>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
    -> (tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<shared_reads = 2>} {
  %r = fad.opaque "statistic" reduction (%x) {fad.nodes = ["r"]} : (tensor<64xbf16>) -> tensor<1xf32>
  %s = fad.opaque "scale" elementwise (%r, %w) : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %v = fad.opaque "strided" view (%s) : (tensor<4xf32>) -> tensor<4xf32>
  %n = fad.opaque "norm" elementwise (%x, %v) : (tensor<64xbf16>, tensor<4xf32>) -> tensor<64xf32>
  %c = fad.opaque "cast" elementwise (%n) {fad.nodes = ["c"]} : (tensor<64xf32>) -> tensor<64xbf16>
  %y = fad.opaque "product" keep (%c) : (tensor<64xbf16>) -> tensor<64xf32>
  %h = fad.opaque "adjoint" keep (%g, %c) : (tensor<64xf32>, tensor<64xbf16>) -> tensor<64xf32>
  %e = fad.opaque "slope" elementwise (%h, %n) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y, %e : tensor<64xf32>, tensor<64xf32>
}
