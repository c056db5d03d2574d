// --stats, and what of it can be known beforehand.

// RUN: fad-runner %s --size=1000 --stats | FileCheck %s --check-prefix=PLAIN
// PLAIN:      out0: tensor<1000xf32>
// PLAIN-NEXT: compile       {{[0-9.]+}} ms
// PLAIN-NEXT: forward       {{[0-9.]+}} ms
// PLAIN-NEXT: peak tensors  {{[0-9]+}} bytes
// PLAIN-NEXT: peak process  {{[0-9]+}} bytes
// PLAIN-NEXT: bytes measured estimated
// PLAIN-NEXT: arguments 4000 4000
// PLAIN-NEXT: results 4000 4000
// PLAIN-NEXT: forward peak 4000 4000
// PLAIN-NEXT: forward allocations 1 1
// PLAIN-NOT:  {{.}}

// A tape keeps both sines (the argument is kept anyway), fad one derivative.
// RUN: fad-runner %s --size=1000 --stats --policy=bp | FileCheck %s --check-prefixes=NEST -DBYTES=8000
// RUN: fad-runner %s --size=1000 --stats --policy=recompute | FileCheck %s --check-prefixes=NEST -DBYTES=0
// RUN: fad-runner %s --size=1000 --stats --policy=fad | FileCheck %s --check-prefixes=NEST -DBYTES=4000
// NEST:      grad0: tensor<1000xf32>
// NEST-NEXT: compile       {{[0-9.]+}} ms
// NEST-NEXT: forward       {{[0-9.]+}} ms
// NEST-NEXT: backward      {{[0-9.]+}} ms
// NEST-NEXT: residuals     [[BYTES]] bytes
// NEST-NEXT: peak tensors  {{[0-9]+}} bytes
// NEST-NEXT: peak process  {{[0-9]+}} bytes
// NEST-NEXT: bytes measured estimated
// NEST-NEXT: arguments 4000 4000
// NEST-NEXT: results 4000 4000
// NEST-NEXT: residuals [[BYTES]] [[BYTES]]
// NEST-NEXT: cotangents 4000 4000
// NEST-NEXT: gradients 4000 4000
// NEST-NEXT: forward peak [[FORWARD:[0-9]+]] [[FORWARD]]
// NEST-NEXT: backward peak [[BACKWARD:[0-9]+]] [[BACKWARD]]
// NEST-NEXT: peak [[PEAK:[0-9]+]] [[PEAK]]
func.func @sines(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = math.sin %x : tensor<?xf32>
  %b = math.sin %a : tensor<?xf32>
  %c = math.sin %b : tensor<?xf32>
  return %c : tensor<?xf32>
}
