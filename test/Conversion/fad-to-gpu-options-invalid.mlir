// RUN: not fad-opt %s -fad-to-gpu=block-size=0 2>&1 | FileCheck %s -DSIZE=0
// RUN: not fad-opt %s -fad-to-gpu=block-size=100 2>&1 | FileCheck %s -DSIZE=100
// RUN: not fad-opt %s -fad-to-gpu=block-size=2048 2>&1 | FileCheck %s -DSIZE=2048

// CHECK: error: block-size is [[SIZE]]; give a multiple of 32 from 32 to 1024
