// Debug output of the passes, which debug builds have with any LLVM.

// REQUIRES: debug

// RUN: fad-opt %S/../Transforms/fuse-remarks.mlir --fad-fuse --mlir-disable-threading \
// RUN:   --debug-only=fad-fuse -o /dev/null 2>&1 | FileCheck %s
// CHECK:     [fad-fuse {{.*}}1] fused a producer into its reader at
// CHECK:     [fad-fuse {{.*}}1] fused readers of the same tensor at
// CHECK:     [fad-fuse {{.*}}fuse-remarks.mlir":{{.*}} stays apart, as an operation that is not elementwise stands before its reader

// RUN: fad-opt %S/../Transforms/select-residuals-remarks.mlir --fad-nest=entry=layers \
// RUN:   --debug-only=fad-select-residuals,fad-select-least -o /dev/null 2>&1 | \
// RUN:   FileCheck %s --check-prefix=SELECT
// SELECT: [fad-select-residuals {{.*}}1] a cut of {{[0-9]+}} edges saves {{[0-9]+}} of {{[0-9]+}} values
// SELECT: [fad-select-least {{.*}}1] the candidate of activations keeps 4096 bytes
// SELECT: [fad-select-residuals {{.*}}1] layers_joint: bp keeps 12288 bytes

// Statistics of passes count what their LLVM counts, and are not a danger.
// RUN: fad-opt %S/../Transforms/fuse-remarks.mlir --fad-fuse --mlir-pass-statistics \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=STATISTICS
// STATISTICS: Pass statistics report
