// RUN: fad-opt %s -split-input-file -verify-diagnostics

func.func @view() {
  // expected-error @+1 {{'fad.opaque' op is a view, but has no operand whose memory it shares}}
  %v = fad.opaque "aten.t" view () : () -> tensor<4xf32>
  return
}

// -----

func.func @time(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fad.opaque' op attribute 'time' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %v = fad.opaque "aten.sin" elementwise time -1 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @nodes(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fad.opaque' op expects 'fad.nodes' to list a name for each result}}
  %v = fad.opaque "aten.sin" elementwise (%x) {fad.nodes = ["a", "b"]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @kind(%x: tensor<4xf32>) {
  // expected-error @+2 {{expected ::mlir::fad::OpaqueKind to be one of: keep, view, elementwise, reduction, contraction, repeat}}
  // expected-error @+1 {{failed to parse Fad_OpaqueKindAttr parameter 'value'}}
  %v = fad.opaque "aten.sin" fast (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op expects 'fad.nodes' to list one name}}
func.func @argument(%x: tensor<4xf32> {fad.nodes = []}) {
  return
}
