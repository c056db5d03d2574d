// RUN: fad-opt %s --fad-check-calls --allow-unregistered-dialect --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{'other.region' op is not registered, so that calls in its region are not known; register the operation, or replace it}}
  "other.region"() ({
    "other.end"() : () -> ()
  }) : () -> ()
  return
}
