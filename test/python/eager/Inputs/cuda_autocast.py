"""The casts of autocast on CUDA, for any device: its lists differ from those of the CPU."""

import pathlib
import re

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

# Operators in the narrow type, in float32, and in the widest of their operands, by the names of
# their functions and methods; operators of Python, and functions of several, are last.
NARROW = """addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc
conv_transpose1d conv_transpose2d conv_transpose3d convolution gru_cell linalg_multi_dot
linalg_vecdot linear lstm_cell matmul mm mv prelu rnn_relu_cell rnn_tanh_cell
scaled_dot_product_attention einsum __matmul__ __rmatmul__""".split()
WIDE = """acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss
cosine_similarity cumprod cumsum dist erfinv exp expm1 frobenius_norm group_norm
hinge_embedding_loss huber_loss kl_div l1_loss layer_norm linalg_matrix_norm linalg_vector_norm
log log10 log1p log2 log_softmax logsumexp margin_ranking_loss mse_loss multi_margin_loss
multilabel_margin_loss native_layer_norm nll_loss nll_loss2d norm nuclear_norm pdist
poisson_nll_loss pow prod reciprocal renorm rms_norm rsqrt sinh smooth_l1_loss soft_margin_loss
softmax softplus sum tan triplet_margin_loss upsample_bicubic2d upsample_bilinear2d
upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d
cross_entropy interpolate __pow__ __rpow__""".split()
WIDEST = """addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot
vdot grid_sample""".split()
LISTS = {
    "LOWER_PRECISION_FP": NARROW,
    "FP32": WIDE,
    "FP32_SET_OPT_DTYPE": WIDE,
    "PROMOTE": WIDEST,
}


def find_missing():
    """Operators of the lists in PyTorch's header that are in none of the above. Those with an
    underscore before are parts of others."""
    header = pathlib.Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
    text, missing = header.read_text().replace("\\\n", " "), []
    for macro, names in LISTS.items():
        line = re.search(rf"#define AT_FORALL_{macro}\(_\)(.*)", text)[1]
        found = re.findall(r"\b_\((\w+)", line)
        assert found, macro
        missing += [name for name in found if name[0] != "_" and name not in names]
    return missing


class CudaAutocast(TorchFunctionMode):
    """Casts as `torch.autocast("cuda", dtype)` does. Leaves that need a gradient are cast once."""

    def __init__(self, dtype=torch.bfloat16, enabled=True):
        super().__init__()
        self.dtype, self.enabled, self.copies = dtype, enabled, {}

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        name = getattr(function, "__name__", "")
        keywords = keywords or {}
        if self.enabled and name in NARROW + WIDE + WIDEST:
            tensors = [x for x in tree_leaves((arguments, keywords)) if isinstance(x, torch.Tensor)]
            is_narrow = name in NARROW or (
                name in WIDEST and all(x.dtype != torch.float32 for x in tensors)
            )
            to = self.dtype if is_narrow else torch.float32
            arguments, keywords = tree_map(lambda x: self.cast(x, to), (arguments, keywords))
        return function(*arguments, **keywords)

    def cast(self, value, to):
        if not isinstance(value, torch.Tensor) or value.dtype in (to, torch.float64):
            return value
        if not value.is_floating_point():
            return value
        if not (value.is_leaf and value.requires_grad):
            return value.to(to)
        key = id(value), to
        if key not in self.copies:
            self.copies[key] = value.to(to), value
        return self.copies[key][0]
