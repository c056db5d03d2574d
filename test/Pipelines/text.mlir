// The text of a pipeline is checked: for which operation it is, and its options.

// RUN: not fad-opt %s --pass-pipeline='builtin.module(func.func(fad-nest))' 2>&1 | FileCheck %s --check-prefix=NEST
// NEST: error: 'fad-nest' is a pipeline for 'builtin.module', not for 'func.func'
// RUN: not fad-opt %s --pass-pipeline='builtin.module(func.func(fad-to-cpu))' 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: 'fad-to-cpu' is a pipeline for 'builtin.module', not for 'func.func'
// RUN: not fad-opt %s --pass-pipeline='builtin.module(func.func(fad-to-iree))' 2>&1 | FileCheck %s --check-prefix=IREE
// IREE: error: 'fad-to-iree' is a pipeline for 'builtin.module', not for 'func.func'
// RUN: not fad-opt %s --pass-pipeline='builtin.module(func.func(fad-to-nvvm))' 2>&1 | FileCheck %s --check-prefix=NVVM
// NVVM: error: 'fad-to-nvvm' is a pipeline for 'builtin.module', not for 'func.func'

// RUN: not fad-opt %s --pass-pipeline='builtin.module(fad-nest{speed=1})' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not fad-opt %s --pass-pipeline='builtin.module(fad-to-iree{speed=1})' 2>&1 | FileCheck %s --check-prefix=NONE
// OPTION: error: there is no option 'speed'; the options are assumed-size, {{.*}}, wrt
// NONE: error: there is no option 'speed'; there are none

func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
