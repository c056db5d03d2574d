// RUN: not fad-opt %s -fad-attach-nvvm-target=chip=sm_99 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not fad-opt %s -fad-attach-nvvm-target=chip=sm_60 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not fad-opt %s -fad-attach-nvvm-target="chip=sm_90 features=+ptx60" 2>&1 | FileCheck %s --check-prefix=LOW
// RUN: not fad-opt %s -fad-attach-nvvm-target="chip=sm_90 features=ptx80" 2>&1 | FileCheck %s --check-prefix=PLUS
// RUN: not fad-opt %s -fad-attach-nvvm-target="chip=sm_90 features=+sse" 2>&1 | FileCheck %s --check-prefix=OTHER

// CHIP:  error: unknown chip 'sm_99'; give one of: sm_70, sm_72, sm_75, sm_80, {{.*}}sm_90, sm_90a, sm_100,
// OLD:   error: unknown chip 'sm_60'; give one of: sm_70,
// LOW:   error: features '+ptx60' are no PTX version for sm_90; give one of: +ptx78, +ptx80,
// PLUS:  error: features 'ptx80' are no PTX version for sm_90; give one of: +ptx78,
// OTHER: error: features '+sse' are no PTX version for sm_90; give one of: +ptx78,
