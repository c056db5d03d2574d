// RUN: not fad-opt %s -fad-linalg-to-loops=vector-bits=100 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not fad-opt %s -fad-linalg-to-loops=vector-bits=-256 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// ODD: error: vector-bits is 100; give a power of two, or 0 for loops over elements
// NEGATIVE: error: vector-bits is -256; give a power of two, or 0 for loops over elements
func.func @f() {
  return
}
