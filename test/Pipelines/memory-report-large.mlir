// Numbers of bytes that 64 bits do not hold are an error, not the largest number.

// RUN: fad-memory-report %s --policy=bp --size=1000000000000000000 --format=json | FileCheck %s --check-prefix=FITS
// RUN: not fad-memory-report %s --policy=bp --size=18446744073709551615 2>&1 | FileCheck %s
// RUN: not fad-memory-report %s --policy=bp --size=5000000000000000000 --format=json 2>&1 | FileCheck %s

// FITS: "total_bytes": 4000000000000000000,

func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NOT: total_bytes
  // CHECK: memory-report-large.mlir:[[#@LINE+2]]:8: error: {{.*}}what is kept takes 2^64 bytes or more; give smaller sizes
  // CHECK-NOT: total_bytes
  %y = math.sin %x : tensor<?xf32>
  %z = math.sin %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
