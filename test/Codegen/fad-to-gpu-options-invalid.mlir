// RUN: not fad-opt %s -fad-to-gpu=block-size=-32 2>&1 | FileCheck %s -DSIZE=-32
// RUN: not fad-opt %s -fad-to-gpu=block-size=100 2>&1 | FileCheck %s -DSIZE=100
// RUN: not fad-opt %s -fad-to-gpu=block-size=2048 2>&1 | FileCheck %s -DSIZE=2048
// RUN: not fad-opt %s -fad-to-gpu=accesses=-1 2>&1 | FileCheck %s -DCOUNT=-1 --check-prefix=ACCESSES
// RUN: not fad-opt %s -fad-to-gpu=accesses=9 2>&1 | FileCheck %s -DCOUNT=9 --check-prefix=ACCESSES

// CHECK: error: block-size is [[SIZE]]; give a multiple of 32 from 32 to 1024, or 0 for that of the chip
// ACCESSES: error: accesses is [[COUNT]]; give 1 to 8, or 0 for that of the chip
