"""The elementwise operators of all frameworks: a table, their formulas, and how these are
written in MLIR. Nothing here imports a framework."""
