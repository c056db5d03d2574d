// RUN: not fad-opt %s -fad-linalg-to-loops=vector-bits=100 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not fad-opt %s -fad-linalg-to-loops=vector-bits=-256 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not fad-opt %s -fad-linalg-to-loops=vector-bits=8192 2>&1 | FileCheck %s --check-prefix=LARGE

// ODD: error: vector-bits is 100; give a power of two up to 4096, or 0 for loops over elements
// NEGATIVE: error: vector-bits is -256; give a power of two up to 4096, or 0 for loops over elements
// LARGE: error: vector-bits is 8192; give a power of two up to 4096, or 0 for loops over elements
func.func @f() {
  return
}
