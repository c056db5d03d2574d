// On a GPU, the kernel that computes the rows of a batch in backward has their sums, too, if each element
// has `split_rows` or more and there are `split_sums` sums. As Inductor has it, such a kernel writes over no
// operand that two of its operations read of which none needs the other: %a, %b, %t and %m are there at once,
// of 65536 bytes a row, and %d, of 128. With fewer rows, or where another kernel computes those that are summed,
// the last of the operations is written over %a or %b.

// RUN: sed 's/ROWS/32/g; s/ALL/512/g; s/SUMMED/%m/; s/LIMITS/, split_rows = 32, split_sums = 16384/' %s | not fad-opt --fad-select-residuals="peak-budget=1 target=gpu" 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: sed 's/ROWS/31/g; s/ALL/496/g; s/SUMMED/%m/; s/LIMITS/, split_rows = 32, split_sums = 16384/' %s | not fad-opt --fad-select-residuals="peak-budget=1 target=gpu" 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: sed 's/ROWS/32/g; s/ALL/512/g; s/SUMMED/%k/; s/LIMITS/, split_rows = 32, split_sums = 16384/' %s | not fad-opt --fad-select-residuals="peak-budget=1 target=gpu" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/ROWS/32/g; s/ALL/512/g; s/SUMMED/%m/; s/LIMITS/, split_rows = 32, split_sums = 16385/' %s | not fad-opt --fad-select-residuals="peak-budget=1 target=gpu" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/ROWS/32/g; s/ALL/512/g; s/SUMMED/%m/; s/LIMITS//' %s | not fad-opt --fad-select-residuals="peak-budget=1 target=gpu" 2>&1 | FileCheck %s --check-prefix=NONE

// SPLIT: the lowest peak is 8388736 bytes
// FEW:   the lowest peak is 6094976 bytes
// NONE:  the lowest peak is 6291584 bytes
// OTHER: the lowest peak is 6291584 bytes

func.func @sums(%x: tensor<32xf32>, %w: tensor<1024xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64}, tensor<1024xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<reads = 12LIMITS>} {
  %d = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %a = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<16xROWSx1024xf32>
  %b = fad.opaque "adjoint" keep (%g, %d) : (tensor<32xf32>, tensor<32xf32>) -> tensor<16xROWSx1024xf32>
  %t = fad.opaque "join" elementwise (%a, %b) : (tensor<16xROWSx1024xf32>, tensor<16xROWSx1024xf32>) -> tensor<16xROWSx1024xf32>
  %m = fad.opaque "other" elementwise (%a, %b) : (tensor<16xROWSx1024xf32>, tensor<16xROWSx1024xf32>) -> tensor<16xROWSx1024xf32>
  %p = fad.opaque "product" keep (%m, %t) : (tensor<16xROWSx1024xf32>, tensor<16xROWSx1024xf32>) -> tensor<32xf32>
  %k = fad.opaque "spread" keep (%p) : (tensor<32xf32>) -> tensor<16xROWSx1024xf32>
  %v = fad.opaque "flat" view (SUMMED) : (tensor<16xROWSx1024xf32>) -> tensor<ALLx1024xf32>
  %s = fad.opaque "sum" reduction (%v) : (tensor<ALLx1024xf32>) -> tensor<1024xf32>
  return %d, %p, %s : tensor<32xf32>, tensor<32xf32>, tensor<1024xf32>
}
