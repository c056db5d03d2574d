"""Programs with operations that write into a tensor, of dynamic sizes, with arguments that fit
and others that do not: those of operations that named_ops.py has no case of."""

from dataclasses import dataclass, field

import numpy as np

MESSAGE = "these sizes do not fit together"


@dataclass
class Program:
    """A function of dynamic sizes, arguments for it, and others that do not fit."""

    text: str
    good: list
    wrong: list = field(default_factory=list)
    message: str = MESSAGE


def ones(*shape):
    return np.ones(shape, np.float32)


def index(*values):
    return np.array(values, np.int64) if len(values) != 1 else np.int64(values[0])


def column(*values):
    return index(*values).reshape(-1, 1)


PACK = """func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?x8x2xf32>) -> tensor<?x?x8x2xf32> {{
  %c = arith.constant 0.0 : f32
  %r = linalg.pack %x {} outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 2]
    into %y : tensor<?x?xf32> -> tensor<?x?x8x2xf32>
  return %r : tensor<?x?x8x2xf32>
}}"""
UNPACK = """func.func @f(%x: tensor<?x?x?x8xf32>, %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = linalg.unpack %x inner_dims_pos = [1] inner_tiles = [8]
    into %y : tensor<?x?x?x8xf32> -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}"""
GENERIC = """func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""
SCATTER_ADD = """func.func @f(%x: tensor<?x?xf32>, %i: tensor<?xi64>, %j: tensor<?xi64>,
    %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = fad.scatter_add %x at(%i, %j : tensor<?xi64>, tensor<?xi64>) dims [0, 2]
    into %y : tensor<?x?xf32> -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}"""
SCATTER = """func.func @f(%x: tensor<?x?x1xf32>, %i: tensor<?x1xindex>, %y: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %r = tensor.scatter %x into %y[%i] scatter_dims([1]) unique
    : (tensor<?x?x1xf32>, tensor<?x?xf32>, tensor<?x1xindex>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""
INSERT = """func.func @f(%x: f32, %y: tensor<?x?xf32>, %i: index, %j: index) -> tensor<?x?xf32> {
  %r = tensor.insert %x into %y[%i, %j] : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""
INSERT_SLICE = """func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %i: index, %n: index)
    -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %r = tensor.insert_slice %x into %y[%i, 0] [%m, %n] [1, 2]
    : tensor<?x?xf32> into tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""
PARALLEL_INSERT = """func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %n: index, %s: index)
    -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %r = scf.forall (%i) = (0) to (%m) step (%s) shared_outs(%o = %y) -> tensor<?x?xf32> {
    %c1 = arith.constant 1 : index
    %k = tensor.dim %x, %c1 : tensor<?x?xf32>
    %row = tensor.extract_slice %x[%i, 0] [1, %k] [1, 1]
      : tensor<?x?xf32> to tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, %n] [1, 1]
        : tensor<?xf32> into tensor<?x?xf32>
    }
  }
  return %r : tensor<?x?xf32>
}"""
MATERIALIZE = """func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = bufferization.materialize_in_destination %x in %y
    : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}"""
WRITE = """func.func @f(%x: f32, %y: tensor<?x?x?xf32>, %i: index, %j: index, %k: index)
    -> tensor<?x?x?xf32> {{
  %v = vector.broadcast %x : f32 to vector<4xf32>
  %r = vector.transfer_write %v, %y[%i, %j, %k] {{in_bounds = [{}]}}
    : vector<4xf32>, tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}}"""
# The last two lanes are masked.
WRITE_MASKED = """func.func @f(%x: f32, %y: tensor<?x?xf32>, %i: index, %j: index)
    -> tensor<?x?xf32> {
  %v = vector.broadcast %x : f32 to vector<4xf32>
  %m = vector.constant_mask [2] : vector<4xi1>
  %r = vector.transfer_write %v, %y[%i, %j], %m {in_bounds = [true]}
    : vector<4xf32>, tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""
READ = """func.func @f(%y: tensor<?x?xf32>, %i: index, %j: index) -> f32 {
  %c = arith.constant 0.0 : f32
  %v = vector.transfer_read %y[%i, %j], %c {in_bounds = [true]}
    : tensor<?x?xf32>, vector<4xf32>
  %r = vector.reduction <add>, %v : vector<4xf32> into f32
  return %r : f32
}"""
VECTOR_SCATTER = """func.func @f(%x: f32, %y: tensor<?x?xf32>, %i: index, %j: index, %k: i32)
    -> tensor<?x?xf32> {
  %v = vector.broadcast %x : f32 to vector<4xf32>
  %steps = arith.constant dense<[0, 1, 2, 100]> : vector<4xi32>
  %start = vector.broadcast %k : i32 to vector<4xi32>
  %places = arith.addi %start, %steps : vector<4xi32>
  %m = vector.constant_mask [3] : vector<4xi1>
  %r = vector.scatter %y[%i, %j] [%places], %m, %v
    : tensor<?x?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""
FORALL = PARALLEL_INSERT

PROGRAMS = {
    "linalg.pack": [
        Program(
            PACK.format(""),
            [ones(16, 6), ones(3, 2, 8, 2)],
            # Two of them are tiles that nothing fills.
            [[ones(16, 6), ones(*sizes, 8, 2)] for sizes in [(2, 2), (4, 2), (3, 1), (3, 3)]]
            + [[ones(15, 6), ones(3, 2, 8, 2)], [ones(16, 5), ones(3, 2, 8, 2)]],
        ),
        Program(
            PACK.format("padding_value(%c : f32)"),
            [ones(13, 5), ones(3, 2, 8, 2)],
            [[ones(13, 5), ones(*sizes, 8, 2)] for sizes in [(2, 2), (4, 2), (3, 1), (3, 3)]],
        ),
    ],
    "linalg.unpack": [
        Program(
            UNPACK,
            [ones(2, 3, 4, 8), ones(2, 21, 4)],
            [
                [ones(2, 3, 4, 8), ones(*sizes)]
                for sizes in [
                    (1, 21, 4),
                    (3, 21, 4),
                    (2, 16, 4),
                    (2, 25, 4),
                    (2, 21, 3),
                    (2, 21, 5),
                ]
            ],
        )
    ],
    "linalg.generic": [
        Program(
            GENERIC,
            [ones(3, 4), ones(4, 3)],
            [[ones(3, 4), ones(*sizes)] for sizes in [(3, 3), (5, 3), (4, 2), (4, 4)]],
        )
    ],
    "fad.scatter_add": [
        Program(
            SCATTER_ADD,
            [ones(2, 5), index(0, 3), index(1, 7), ones(3, 5, 4)],
            [
                [ones(3, 5), index(0, 3), index(1, 7), ones(3, 5, 4)],
                [ones(1, 5), index(0, 3), index(1, 7), ones(3, 5, 4)],
                [ones(2, 6), index(0, 3), index(1, 7), ones(3, 5, 4)],
                [ones(2, 4), index(0, 3), index(1, 7), ones(3, 5, 4)],
                [ones(2, 5), index(0, 3), index(1, 7, 0), ones(3, 5, 4)],
                [ones(2, 5), index(0, 3), index(1, 7), ones(3, 6, 4)],
                [ones(2, 5), index(0, 3), index(1, 7), ones(3, 4, 4)],
            ],
        )
    ],
    "tensor.scatter": [
        Program(
            SCATTER,
            [ones(2, 3, 1), column(0, 4), ones(3, 5)],
            [
                [ones(2, 3, 1), column(0, 4, 1), ones(3, 5)],
                [ones(3, 3, 1), column(0, 4), ones(3, 5)],
                [ones(2, 3, 1), column(0, 4), ones(2, 5)],
                [ones(2, 3, 1), column(0, 4), ones(4, 5)],
            ],
        ),
        Program(
            SCATTER,
            [ones(2, 3, 1), column(0, 4), ones(3, 5)],
            [
                [ones(2, 3, 1), column(0, 5), ones(3, 5)],
                [ones(2, 3, 1), column(-1, 4), ones(3, 5)],
            ],
            "the slice is not inside of the tensor",
        ),
    ],
    "tensor.insert": [
        Program(
            INSERT,
            [np.float32(2), ones(3, 4), index(2), index(3)],
            [
                [np.float32(2), ones(3, 4), index(i), index(j)]
                for i, j in [(3, 3), (2, 4), (-1, 0), (0, -1)]
            ],
        )
    ],
    "tensor.insert_slice": [
        Program(
            INSERT_SLICE,
            [ones(2, 3), ones(3, 5), index(1), index(3)],
            [
                [ones(2, 3), ones(3, 5), index(2), index(3)],
                [ones(2, 3), ones(3, 5), index(-1), index(3)],
                [ones(2, 3), ones(3, 4), index(1), index(3)],
                [ones(3, 3), ones(3, 5), index(1), index(3)],
            ],
            "the slice is not inside of the tensor",
        ),
        Program(
            INSERT_SLICE,
            [ones(2, 3), ones(3, 5), index(1), index(3)],
            [
                [ones(2, 3), ones(3, 5), index(1), index(2)],
                [ones(2, 3), ones(3, 9), index(1), index(4)],
            ],
            "the slice has another size than what is inserted",
        ),
    ],
    "tensor.parallel_insert_slice": [
        Program(
            PARALLEL_INSERT,
            [ones(3, 4), ones(3, 5), index(4), index(1)],
            [
                [ones(3, 4), ones(2, 5), index(4), index(1)],
                [ones(3, 4), ones(3, 3), index(4), index(1)],
            ],
            "the slice is not inside of the tensor",
        ),
        Program(
            PARALLEL_INSERT,
            [ones(3, 4), ones(3, 5), index(4), index(2)],
            [
                [ones(3, 4), ones(3, 5), index(3), index(1)],
                [ones(3, 4), ones(3, 5), index(5), index(1)],
            ],
            "the slice has another size than what is inserted",
        ),
    ],
    "scf.forall": [
        Program(
            FORALL,
            [ones(3, 4), ones(3, 5), index(4), index(1)],
            [
                [ones(3, 4), ones(3, 5), index(4), index(0)],
                [ones(3, 4), ones(3, 5), index(4), index(-1)],
            ],
            "the step of the loop is not positive",
        )
    ],
    "bufferization.materialize_in_destination": [
        Program(MATERIALIZE, [ones(4), ones(4)], [[ones(4), ones(3)], [ones(4), ones(5)]])
    ],
    "vector.transfer_write": [
        Program(
            WRITE.format("true"),
            [np.float32(2), ones(3, 5, 6), index(2), index(4), index(2)],
            [
                [np.float32(2), ones(3, 5, 6), *map(index, at)]
                for at in [(3, 4, 2), (-1, 4, 2), (2, 5, 2), (2, -1, 2), (2, 4, 3), (2, 4, -1)]
            ],
        ),
        Program(
            # The last lane is outside, and is left out.
            WRITE.format("false"),
            [np.float32(2), ones(3, 5, 6), index(2), index(4), index(3)],
            [
                [np.float32(2), ones(3, 5, 6), *map(index, at)]
                for at in [(3, 4, 2), (-1, 4, 2), (2, 5, 2), (2, -1, 2), (2, 4, -1)]
            ],
        ),
        Program(
            WRITE_MASKED,
            [np.float32(2), ones(3, 4), index(2), index(2)],
            [
                [np.float32(2), ones(3, 4), *map(index, at)]
                for at in [(3, 2), (-1, 2), (2, 3), (2, -1)]
            ],
        ),
    ],
    "vector.transfer_read": [
        Program(
            READ,
            [ones(3, 6), index(2), index(2)],
            [
                [ones(3, 6), *map(index, at)]
                for at in [(3, 2), (-1, 2), (2, 3), (2, -1), (2, 2**63 - 1)]
            ],
        ),
    ],
    "vector.scatter": [
        Program(
            VECTOR_SCATTER,
            [np.float32(2), ones(3, 6), index(2), index(1), np.int32(2)],
            [
                [np.float32(2), ones(3, 6), index(i), index(j), np.int32(k)]
                for i, j, k in [(3, 1, 2), (2, 2, 2), (2, 1, 3), (2, 1, -2), (-1, 1, 2)]
            ],
        )
    ],
}

# Of these, the forward function that fad.nest makes has the same conditions.
NESTED = {
    "fad.scatter_add",
    "linalg.generic",
    "linalg.pack",
    "tensor.insert",
    "tensor.insert_slice",
    "tensor.scatter",
}
