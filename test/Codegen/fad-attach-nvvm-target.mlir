// RUN: fad-opt %s -fad-attach-nvvm-target=chip=sm_75 | FileCheck %s
// RUN: fad-opt %s -fad-attach-nvvm-target="chip=sm_90a features=+ptx83" | FileCheck %s --check-prefix=PTX

// CHECK: gpu.module @a [#nvvm.target<O = 3, chip = "sm_75">]
// CHECK: gpu.module @b [#nvvm.target<O = 3, chip = "sm_75">]
// PTX:   gpu.module @a [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx83">]
gpu.module @a {
}
gpu.module @b {
}

// A module that has a target keeps it.
// CHECK: gpu.module @c [#nvvm.target<chip = "sm_86">]
gpu.module @c [#nvvm.target<chip = "sm_86">] {
}
