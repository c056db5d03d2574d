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

// -----

// expected-error @+1 {{'func.func' op expects 'fad.fuses' to be #fad.fusion<...>}}
func.func @fuses() attributes {fad.fuses} {
  return
}

// -----

// expected-error @+1 {{'func.func' op expects 'fad.proposals' on a function, to list lists of names of nodes}}
func.func @proposal() attributes {fad.proposals = ["x"]} {
  return
}

// -----

func.func @proposal_of_operation(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fad.opaque' op expects 'fad.proposals' on a function, to list lists of names of nodes}}
  %v = fad.opaque "aten.sin" keep (%x) {fad.proposals = [["x"]]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{a limit of #fad.fusion is -1; give at least 0, or leave it out}}
func.func @negative_limit() attributes {fad.fuses = #fad.fusion<operations = -1>} {
  return
}

// -----

// expected-error @+1 {{a limit of #fad.fusion is -32; give at least 0, or leave it out}}
func.func @negative_rows() attributes {fad.fuses = #fad.fusion<split_rows = -32>} {
  return
}

// -----

// expected-error @+1 {{a limit of #fad.fusion is -2; give at least 0, or leave it out}}
func.func @negative_sums() attributes {fad.fuses = #fad.fusion<split_sums = -2>} {
  return
}

// -----

// expected-error @+1 {{'once' of #fad.fusion lists names of operations}}
func.func @numbers() attributes {fad.fuses = #fad.fusion<once = ["math.exp", 2]>} {
  return
}

// -----

func.func @fuses_operation(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fad.opaque' op expects 'fad.fuses' to be a unit attribute}}
  %v = fad.opaque "aten.sin" keep (%x) {fad.fuses = "yes"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op 'fad.fuses' belongs on an operation, not on an argument or result}}
func.func @fuses_argument(%x: tensor<4xf32> {fad.fuses}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op 'fad.scratch' belongs on an operation, not on an argument or result}}
func.func private @scratch_result() -> (tensor<4xf32> {fad.scratch = 4 : i64})

// -----

func.func @overwrites(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fad.opaque' op expects 'fad.overwrites' to be a unit attribute}}
  %v = fad.opaque "aten.sin" keep (%x) {fad.overwrites = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @overwrites_nothing() {
  // expected-error @+1 {{'fad.opaque' op expects an operand and a result for 'fad.overwrites', which says that the result may take the memory of the operand}}
  %v = fad.opaque "aten.zeros" keep () {fad.overwrites} : () -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op 'fad.overwrites' belongs on an operation in a function; move it to one}}
func.func @overwrites_function() attributes {fad.overwrites} {
  return
}

// -----

func.func @materializes_nothing() {
  // expected-error @+1 {{'fad.opaque' op expects an operand for 'fad.materializes', which says that the operands are in memory}}
  %v = fad.opaque "aten.zeros" keep () {fad.materializes} : () -> tensor<4xf32>
  return
}

// -----

func.func @materializes(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fad.opaque' op expects 'fad.materializes' to be a unit attribute}}
  %v = fad.opaque "aten.as_strided" view (%x) {fad.materializes = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op 'fad.materializes' belongs on an operation in a function; move it to one}}
func.func @materializes_function() attributes {fad.materializes} {
  return
}

// -----

// expected-error @+1 {{'func.func' op 'fad.materializes' belongs on an operation, not on an argument or result}}
func.func @materializes_argument(%x: tensor<4xf32> {fad.materializes}) {
  return
}

// -----

func.func @scratch(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fad.opaque' op expects 'fad.scratch' to be a non-negative 64-bit integer}}
  %v = fad.opaque "aten.sin" keep (%x) {fad.scratch = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scratch_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fad.opaque' op expects 'fad.scratch' to be a non-negative 64-bit integer}}
  %v = fad.opaque "aten.sin" keep (%x) {fad.scratch = 4 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op 'fad.scratch' belongs on an operation in a function; move it to one}}
func.func @scratch_function() attributes {fad.scratch = 4 : i64} {
  return
}
