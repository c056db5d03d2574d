// How the cotangents of slices of one tensor are added up.

// RUN: fad-opt %s --fad-differentiate=entry=split | FileCheck %s --check-prefix=SPLIT
// RUN: fad-opt %s --fad-differentiate=entry=disjoint | FileCheck %s --check-prefix=DISJOINT
// RUN: fad-opt %s --fad-differentiate=entry=overlap | FileCheck %s --check-prefix=OVERLAP
// RUN: fad-opt %s --fad-differentiate=entry=whole | FileCheck %s --check-prefix=WHOLE

// DEFINE: %{policy} =
// DEFINE: %{run} = fad-runner %s --policy=%{policy} --check-gradients
// DEFINE: %{all} = \
// DEFINE:   %{run} --entry=split --size=2 && %{run} --entry=split --size=0 && %{run} --entry=disjoint && \
// DEFINE:   %{run} --entry=overlap --size=4 --arg=random:0 --arg=1 && %{run} --entry=whole && \
// DEFINE:   %{run} --entry=strides && %{run} --entry=rank && %{run} --entry=short --size=3 --arg=random:0 --arg=2

// REDEFINE: %{policy} = bp
// RUN: %{all}
// REDEFINE: %{policy} = recompute
// RUN: %{all}
// REDEFINE: %{policy} = fad
// RUN: %{all}

// Pieces that leave nothing out need no zeros, in whatever order they are.

// SPLIT-LABEL: func.func @split_joint(
// SPLIT-NOT:     linalg.fill
// SPLIT:         %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x6xf32>
// SPLIT-NEXT:    %[[A:.*]] = tensor.insert_slice %{{.*}} into %[[E]][0, {{.*}}] [
// SPLIT-NEXT:    %[[B:.*]] = tensor.insert_slice %{{.*}} into %[[A]][0, {{.*}}] [
// SPLIT-NEXT:    %[[C:.*]] = tensor.insert_slice %{{.*}} into %[[B]][0, {{.*}}] [
// SPLIT-NEXT:    return %{{.*}}, %{{.*}}, %{{.*}}, %[[C]]
func.func @split(%x: tensor<?x6xf32>) -> (tensor<?x2xf32>, tensor<?x3xf32>, tensor<?x1xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %last = tensor.extract_slice %x[0, 5] [%n, 1] [1, 1] : tensor<?x6xf32> to tensor<?x1xf32>
  %first = tensor.extract_slice %x[0, 0] [%n, 2] [1, 1] : tensor<?x6xf32> to tensor<?x2xf32>
  %second = tensor.extract_slice %x[0, 2] [%n, 3] [1, 1] : tensor<?x6xf32> to tensor<?x3xf32>
  %a = math.sin %first : tensor<?x2xf32>
  %b = math.exp %second : tensor<?x3xf32>
  %c = math.cos %last : tensor<?x1xf32>
  return %a, %b, %c : tensor<?x2xf32>, tensor<?x3xf32>, tensor<?x1xf32>
}

// Pieces that leave something out: written into one tensor of zeros.

// DISJOINT-LABEL: func.func @disjoint_joint(
// DISJOINT:         %[[Z:.*]] = linalg.fill
// DISJOINT-NOT:     linalg.fill
// DISJOINT-NOT:     tensor.extract_slice
// DISJOINT:         %[[A:.*]] = tensor.insert_slice %{{.*}} into %[[Z]]
// DISJOINT-NEXT:    %[[B:.*]] = tensor.insert_slice %{{.*}} into %[[A]]
// DISJOINT-NEXT:    return %{{.*}}, %{{.*}}, %[[B]]
func.func @disjoint(%x: tensor<4x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : tensor<4x6xf32> to tensor<2x3xf32>
  %b = tensor.extract_slice %x[2, 3] [2, 3] [1, 1] : tensor<4x6xf32> to tensor<2x3xf32>
  return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// Where two may meet, the second is added.

// OVERLAP-LABEL: func.func @overlap_joint(
// OVERLAP:         %[[Z:.*]] = linalg.fill
// OVERLAP-NOT:     linalg.fill
// OVERLAP:         %[[A:.*]] = tensor.insert_slice %{{.*}} into %[[Z]]
// OVERLAP:         %[[PART:.*]] = tensor.extract_slice %[[A]]
// OVERLAP:         %[[SUM:.*]] = fad.elementwise ins(%[[PART]], %{{.*}} :
// OVERLAP:         %[[B:.*]] = tensor.insert_slice %[[SUM]] into %[[A]]
// OVERLAP:         return %{{.*}}, %{{.*}}, %[[B]]
func.func @overlap(%x: tensor<?xf32>, %at: index) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = tensor.extract_slice %x[%at] [2] [1] : tensor<?xf32> to tensor<2xf32>
  %b = tensor.extract_slice %x[0] [2] [1] : tensor<?xf32> to tensor<2xf32>
  %s = math.sin %a : tensor<2xf32>
  %t = math.exp %b : tensor<2xf32>
  return %s, %t : tensor<2xf32>, tensor<2xf32>
}

// Where there is a sum already, a slice is added into it.

// WHOLE-LABEL: func.func @whole_joint(
// WHOLE-SAME:    %[[G:[^:]*]]: tensor<4xf32> {fad.cotangent = 0 : i64}
// WHOLE-NOT:     linalg.fill
// WHOLE:         %[[E:.*]] = fad.elementwise ins(%{{.*}}, %[[G]] :
// WHOLE:         %[[PART:.*]] = tensor.extract_slice %[[E]][1] [2] [1]
// WHOLE:         %[[SUM:.*]] = fad.elementwise ins(%[[PART]], %{{.*}} :
// WHOLE:         %[[R:.*]] = tensor.insert_slice %[[SUM]] into %[[E]][1] [2] [1]
// WHOLE:         return %{{.*}}, %{{.*}}, %[[R]]
func.func @whole(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %a = math.exp %x : tensor<4xf32>
  %b = tensor.extract_slice %x[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %a, %b : tensor<4xf32>, tensor<2xf32>
}

// Every other element, twice, and once the elements in between.
func.func @strides(%x: tensor<6xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %a = tensor.extract_slice %x[0] [3] [2] : tensor<6xf32> to tensor<3xf32>
  %b = tensor.extract_slice %x[1] [3] [2] : tensor<6xf32> to tensor<3xf32>
  %c = tensor.extract_slice %x[0] [3] [2] : tensor<6xf32> to tensor<3xf32>
  %s = math.sin %a : tensor<3xf32>
  %t = math.exp %b : tensor<3xf32>
  %u = math.cos %c : tensor<3xf32>
  return %s, %t, %u : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// Slices that drop a dimension.
func.func @rank(%x: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = math.exp %x : tensor<2x3xf32>
  %a = tensor.extract_slice %y[0, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
  %b = tensor.extract_slice %y[1, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
  return %a, %b : tensor<3xf32>, tensor<3xf32>
}

// A size that may be less than all.
func.func @short(%x: tensor<?x4xf32>, %n: index) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %a = tensor.extract_slice %x[0, 0] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %b = tensor.extract_slice %x[0, 2] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %s = math.sin %a : tensor<?x2xf32>
  %t = math.exp %b : tensor<?x2xf32>
  return %s, %t : tensor<?x2xf32>, tensor<?x2xf32>
}
