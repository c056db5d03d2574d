"""Models of transformers without memory, by their configurations alone: nothing is loaded."""

import json
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._choices import suggest
from .._requirements import torch

# Tables of transformers, from types of models to names of classes, in the order of preference, and
# what their labels are for: each of the tokens, or of the rows. Many encoders, and decoders of others,
# have a head for the next token, too.
_PAIRS = (
    ("MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES", "tokens"),
    ("MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES", "tokens"),
)
_SINGLE = (
    ("MODEL_FOR_MASKED_LM_MAPPING_NAMES", "tokens"),
    ("MODEL_FOR_CAUSAL_LM_MAPPING_NAMES", "tokens"),
    ("MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES", "rows"),
    ("MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES", "rows"),
)


def import_transformers() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise ImportError(
            "models by configuration need transformers; install it with: pip install transformers, "
            "or call fad.torch.fit with a model of your own"
        ) from error
    return transformers


def read_configuration(text: str, changes: Sequence[str]) -> Any:
    """Returns the configuration that `text` names: a type of models such as "gpt2", a class such as
    "GPT2LMHeadModel", a JSON file or the folder of one, or JSON. `changes` are entries such as
    "n_layer=4"."""
    transformers = import_transformers()
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    changed = dict(map(_read_change, changes))
    path = pathlib.Path(text)
    if text.lstrip().startswith("{"):
        return _make(text, text, changed)
    if text.endswith(".json") or path.is_dir():
        file = path / "config.json" if path.is_dir() else path
        if not file.is_file():
            raise ValueError(f"there is no file {file}")
        return _make(str(file), file.read_text(), changed)
    if text in CONFIG_MAPPING:
        _check_changes(CONFIG_MAPPING[text], changed)
        return CONFIG_MAPPING[text](**changed)
    model = getattr(transformers, text, None)
    if model is None or not hasattr(model, "config_class"):
        raise ValueError(
            f"transformers has no model {text!r}; give a type of models such as gpt2, a class such "
            "as GPT2LMHeadModel, or a file config.json, which may be that of a model of the hub"
            f"{suggest(text, CONFIG_MAPPING)}"
        )
    _check_changes(model.config_class, changed)
    return model.config_class(architectures=[text], **changed)


def _make(name: str, text: str, changed: dict[str, Any]) -> Any:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    try:
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} is no JSON: {error}") from None
    kind = entries.pop("model_type", None) if isinstance(entries, dict) else None
    if kind not in CONFIG_MAPPING:
        raise ValueError(
            f"{name} has the model_type {kind!r}, which transformers does not know"
            f"{suggest(kind, CONFIG_MAPPING)}"
        )
    _check_changes(CONFIG_MAPPING[kind], {name: changed[name] for name in changed.keys() - entries})
    return CONFIG_MAPPING[kind].from_dict({**entries, **changed})


def _check_changes(kind: Any, changed: Mapping[str, Any]) -> None:
    """Refuses names of entries that configurations of the class `kind` do not have."""
    known = kind()
    for name in changed:
        if not hasattr(known, name):
            names = [*known.to_dict(), *known.attribute_map]
            raise ValueError(
                f"--set has {name!r}, which {kind.__name__} does not have{suggest(name, names)}"
            )


def _read_change(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set is {text!r}; give an entry and its value, as in n_layer=4")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def make_model(configuration: Any, dtype: torch.dtype) -> tuple[torch.nn.Module, str]:
    """Returns the model of a configuration, without memory, in training mode, and whether its labels
    are for "tokens" or "rows"."""
    transformers = import_transformers()
    from transformers.models.auto import modeling_auto

    kind = configuration.model_type
    heads = _PAIRS if configuration.is_encoder_decoder else _SINGLE
    tables = [(getattr(modeling_auto, name), labels) for name, labels in heads]
    named = next(iter(configuration.architectures or []), None)
    # Tables may have several classes of a type, of which the first is the usual one.
    entries = [(table[kind], labels) for table, labels in tables if kind in table]
    found = [(each if isinstance(each, str) else each[0], labels) for each, labels in entries]
    if named is not None:
        found = [each for each in found if named == each[0]] or _classify(named)
    if not found:
        raise ValueError(
            f"models of the type {kind} have no head with a loss that fit knows; name a class such "
            "as GPT2LMHeadModel, or call fad.torch.fit with a model and an example of your own"
        )
    name, labels = found[0]
    configuration.use_cache = False
    if configuration.is_encoder_decoder and not hasattr(configuration, "decoder_start_token_id"):
        # Of any value: labels are shifted by it.
        configuration.decoder_start_token_id = 0
    try:
        with torch.device("meta"):
            model = getattr(transformers, name)(configuration)
    except Exception as error:
        raise ValueError(
            f"the configuration makes no {name}: {type(error).__name__}: {error}"
        ) from error
    # Without it, each call warns.
    if labels == "tokens" and name.endswith("LMHeadModel"):
        model.loss_type = "ForCausalLM"
    return model.to(dtype).train(), labels


def _classify(name: str) -> list[tuple[str, str]]:
    """Returns the class `name`, with what its labels are for."""
    if name.endswith(("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration")):
        return [(name, "tokens")]
    if name.endswith(("ForSequenceClassification", "ForImageClassification")):
        return [(name, "rows")]
    return []


def make_inputs(
    model: Any, labels: str, batch: int, length: int, dtype: torch.dtype
) -> dict[str, torch.Tensor]:
    """Returns inputs of so many rows, of so many tokens where the model takes tokens."""
    configuration, name = model.config, model.main_input_name
    shapes: dict[str, Callable[[], Sequence[int]]] = {
        "input_ids": lambda: (batch, length),
        "pixel_values": lambda: (
            batch,
            getattr(configuration, "num_channels", 3),
            *_make_pair(getattr(configuration, "image_size", 224)),
        ),
        "input_features": lambda: (
            batch,
            configuration.num_mel_bins,
            2 * configuration.max_source_positions,
        ),
    }
    if name not in shapes:
        raise ValueError(
            f"{type(model).__name__} takes {name}, of which fit knows no shape; call fad.torch.fit "
            "with an example of your own"
        )
    is_tokens = name == "input_ids"
    kind = torch.int64 if is_tokens else dtype
    with torch.device("meta"):
        made = {name: torch.empty(shapes[name](), dtype=kind)}
        rows = (batch, length) if labels == "tokens" else (batch,)
        made["labels"] = torch.empty(rows, dtype=torch.int64)
    return made


def _make_pair(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else tuple(size)


def find_positions(configuration: Any) -> int | None:
    """Returns how many positions a model of the configuration knows; None where it does not say."""
    found = getattr(configuration, "max_position_embeddings", None)
    # Some that know any number of positions have -1.
    return found if isinstance(found, int) and found > 0 else None
