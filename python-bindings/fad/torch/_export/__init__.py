"""A model of PyTorch as a module of MLIR: its forward function, or both of one step."""
