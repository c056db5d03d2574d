// Options of fad-memory-report that say how the report is written.

// RUN: fad-memory-report %s --size=4 --policy=bp --group | FileCheck %s --check-prefix=GROUP
// RUN: fad-memory-report %s --size=4 --policy=bp | FileCheck %s --check-prefix=LINES
// RUN: fad-memory-report %s --size=4 --policy=bp --locations | FileCheck %s --check-prefix=WHERE
// RUN: fad-memory-report %s --size=4 --policy=fad | FileCheck %s --check-prefix=TIME
// RUN: fad-memory-report %s --size=4 --policy=fad --format=dot | FileCheck %s --check-prefix=DOT
// RUN: fad-memory-report %s --size=4 --policy=bp --format=dot --group | FileCheck %s --check-prefix=SUMMARY
// RUN: fad-memory-report %s --policy=bp --format=dot --group | FileCheck %s --check-prefix=UNKNOWN

// A tape keeps the operands of two sines, which are alike but for where they
// come from.

// GROUP: bp {{ *}}2 x 16  tensor<?xf32>  fad.elementwise  fad.elementwise  value on the tape{{$}}
// GROUP-NOT: value on the tape
// GROUP: {{^}}bp {{ *}}32  total

// LINES-COUNT-2: bp {{ *}}16  tensor<?xf32>  fad.elementwise  fad.elementwise  value on the tape{{$}}
// LINES-NOT: value on the tape

// A region is where its first operation is.
// WHERE-COUNT-2: fad.elementwise at {{.*}}memory-report-options.mlir:[[#@LINE+42]]:8  fad.elementwise  value on the tape

// The source is an argument, so that the derivative saves time only.
// TIME: fad {{ *}}16  tensor<?xf32>  fad.elementwise  fad.elementwise  derivative of a region; it could be computed from what is kept, in the time of moving [[#]] bytes{{$}}

// What is kept of the function is one derivative, between the forward part and
// the product with the cotangent.

// DOT: digraph "a\"b\\c_joint" {
// DOT-NEXT: label="What @a\"b\\c keeps for backward, policy fad: 16 B";
// DOT: edge [arrowhead=normal
// DOT: subgraph cluster_forward {
// DOT: [[DERIVATIVE:n[0-9]+]] [label="{{.*}}sin, cos
// DOT-NEXT: ?xf32", fillcolor="#a1d99b", tooltip="{{.*}}memory-report-options.mlir:{{[0-9]+}}:8"];
// DOT: subgraph cluster_residuals {
// DOT: [[KEPT:n[0-9]+]] [label="?xf32
// DOT-NEXT: 16 B", fillcolor="#fb6a4a", shape=ellipse, tooltip="derivative of a region"];
// DOT: subgraph cluster_backward {
// DOT: [[COTANGENT:n[0-9]+]] [label="cotangent 0
// DOT: [[PRODUCT:n[0-9]+]] [label="mulf
// DOT: {{n[0-9]+}} -> [[KEPT]] [color="#fb6a4a", penwidth=2];
// DOT-DAG: [[COTANGENT]] -> [[PRODUCT]];
// DOT-DAG: [[KEPT]] -> [[PRODUCT]] [color="#fb6a4a", penwidth=2];
// DOT: "elementwise region" [fillcolor="#a1d99b"];

// A summary has one node for the two tensors, and arrows that are as wide as their
// share of the bytes.

// SUMMARY: label="What @a\"b\\c keeps for backward, policy bp: 32 B";
// SUMMARY: subgraph cluster_forward {
// SUMMARY: subgraph cluster_residuals {
// SUMMARY: g0 [label="32 B
// SUMMARY-NEXT: 2 x ?xf32"
// SUMMARY-NOT: g1
// SUMMARY: subgraph cluster_backward {
// SUMMARY: -> g0 [color="#fb6a4a", penwidth=6.0];
// SUMMARY: g0 -> "for fad.elementwise" [color="#fb6a4a", penwidth=6.0];

// UNKNOWN: policy bp: 8*d0 bytes
// UNKNOWN: [label="8*d0 bytes

func.func @"a\22b\5Cc"(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.sin %x : tensor<?xf32>
  %z = math.cos %y : tensor<?xf32>
  %u = math.sin %z : tensor<?xf32>
  return %u : tensor<?xf32>
}
