// RUN: not fad-opt %s -fad-attach-nvvm-target=chip=sm_99 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not fad-opt %s -fad-attach-nvvm-target=chip=sm_60 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not fad-opt %s -fad-attach-nvvm-target="chip=sm_90 features=+ptx60" 2>&1 | FileCheck %s --check-prefix=LOW
// RUN: not fad-opt %s -fad-attach-nvvm-target="chip=sm_90 features=ptx80" 2>&1 | FileCheck %s --check-prefix=PLUS
// RUN: not fad-opt %s -fad-attach-nvvm-target="chip=sm_90 features=+sse" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not fad-opt %s -fad-attach-nvvm-target="chip=sm_70 features=+ptx50" 2>&1 | FileCheck %s --check-prefix=OLDEST
// RUN: not fad-opt %s -fad-attach-nvvm-target="chip=sm_100a features=+ptx80" 2>&1 | FileCheck %s --check-prefix=NEW

// CHIP:  error: unknown chip 'sm_99'; give one of: sm_70, sm_72, sm_75, sm_80, {{.*}}sm_90, sm_90a, sm_100,
// OLD:   error: unknown chip 'sm_60'; give one of: sm_70,
// LOW:   error: features '+ptx60' are no PTX version for sm_90; give one of: +ptx78, +ptx80,
// PLUS:  error: features 'ptx80' are no PTX version for sm_90; give one of: +ptx78,
// OTHER: error: features '+sse' are no PTX version for sm_90; give one of: +ptx78,
// OLDEST: error: features '+ptx50' are no PTX version for sm_70; give one of: +ptx60,
// NEW:   error: features '+ptx80' are no PTX version for sm_100a; give one of: +ptx86,
