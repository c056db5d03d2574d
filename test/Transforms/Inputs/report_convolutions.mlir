// A script for mlir-opt's --transform-interpreter that marks all convolutions.

module attributes {transform.with_named_sequence} {
  transform.named_sequence @is_convolution(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    %found = transform.match.structured %op : (!transform.any_op) -> !transform.any_op {
    ^bb0(%structured: !transform.any_op):
      %dims:8 = transform.match.structured.classify_convolution_dims %structured
        : (!transform.any_op) -> (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
                                  !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
      transform.match.structured.yield %structured : !transform.any_op
    }
    transform.yield %found : !transform.any_op
  }
  transform.named_sequence @report(%op: !transform.any_op {transform.readonly}) {
    transform.annotate %op "is_convolution" : !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    transform.foreach_match in %root @is_convolution -> @report : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
