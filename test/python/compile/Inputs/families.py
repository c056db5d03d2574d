"""Families of models of `transformers` in tiny configurations with random weights.

`FAMILIES` has, by name, a function that makes a model and the inputs of its loss."""

import torch
import transformers as t

# Names of sizes in most configurations.
WIDTH, HEADS, LAYERS, WORDS, LENGTH, BATCH = 16, 2, 2, 40, 6, 2
SIZES = dict(
    vocab_size=WORDS,
    hidden_size=WIDTH,
    num_hidden_layers=LAYERS,
    num_attention_heads=HEADS,
    num_key_value_heads=1,
    intermediate_size=32,
    max_position_embeddings=32,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)
HEAD = dict(head_dim=8)
EXPERTS = dict(num_experts=4, num_local_experts=4, num_experts_per_tok=2, moe_intermediate_size=16)
ENCODERS_DECODERS = dict(
    vocab_size=WORDS,
    d_model=WIDTH,
    encoder_layers=1,
    decoder_layers=1,
    encoder_attention_heads=HEADS,
    decoder_attention_heads=HEADS,
    encoder_ffn_dim=32,
    decoder_ffn_dim=32,
    max_position_embeddings=32,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    decoder_start_token_id=2,
    forced_eos_token_id=None,
)
IMAGES = dict(image_size=16, patch_size=8, num_labels=3)


def tokens():
    return torch.randint(3, WORDS, (BATCH, LENGTH))


def make(config, head, inputs, **options):
    def run():
        configuration = getattr(t, config)(**options)
        return getattr(t, head)(configuration).train(), inputs()

    return run


def causal_inputs():
    ids = tokens()
    return dict(input_ids=ids, labels=ids.clone(), use_cache=False)


def masked_inputs():
    mask = torch.ones(BATCH, LENGTH, dtype=torch.long)
    mask[1, -2:] = 0
    return dict(input_ids=tokens(), attention_mask=mask, labels=tokens())


def label_inputs():
    mask = torch.ones(BATCH, LENGTH, dtype=torch.long)
    return dict(input_ids=tokens(), attention_mask=mask, labels=torch.tensor([0, 1]))


def pair_inputs():
    return dict(
        input_ids=tokens(),
        decoder_input_ids=tokens(),
        labels=tokens(),
        use_cache=False,
    )


def image_inputs(size=16):
    return lambda: dict(pixel_values=torch.randn(BATCH, 3, size, size), labels=torch.tensor([0, 1]))


def causal(name, head=None, **options):
    return make(
        f"{name}Config", head or f"{name}ForCausalLM", causal_inputs, **{**SIZES, **options}
    )


def masked(name, head=None, **options):
    return make(
        f"{name}Config", head or f"{name}ForMaskedLM", masked_inputs, **{**SIZES, **options}
    )


def pair(name, **options):
    return make(
        f"{name}Config",
        f"{name}ForConditionalGeneration",
        pair_inputs,
        **{**ENCODERS_DECODERS, **options},
    )


def images(name, size=16, **options):
    return make(f"{name}Config", f"{name}ForImageClassification", image_inputs(size), **options)


T5 = dict(
    vocab_size=WORDS, d_model=WIDTH, d_kv=8, d_ff=32, num_layers=1, num_heads=HEADS,
    pad_token_id=0, eos_token_id=2, decoder_start_token_id=0,
)  # fmt: skip
VISION = {**{k: SIZES[k] for k in (
    "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"
)}, **IMAGES}  # fmt: skip
STAGES = dict(hidden_sizes=[8, 16], depths=[1, 1], num_labels=3)
GPT = dict(
    vocab_size=WORDS, n_positions=32, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS,
    bos_token_id=1, eos_token_id=2, pad_token_id=0,
)  # fmt: skip
SOUND = dict(
    hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=HEADS, intermediate_size=32,
    conv_dim=(8, 8), conv_kernel=(4, 3), conv_stride=(4, 2), num_feat_extract_layers=2,
    num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, vocab_size=WORDS,
    mask_time_prob=0.0, layerdrop=0.0, pad_token_id=0, ctc_loss_reduction="mean",
)  # fmt: skip


def sound_inputs():
    return dict(input_values=torch.randn(BATCH, 400), labels=torch.randint(3, WORDS, (BATCH, 4)))


CAUSAL = {
    "gpt2": make("GPT2Config", "GPT2LMHeadModel", causal_inputs, **GPT),
    "gpt_neo": causal(
        "GPTNeo", attention_types=[[["global", "local"], 1]], num_layers=2, num_heads=2, window_size=4
    ),
    "gpt_neox": causal("GPTNeoX"),
    "gptj": make("GPTJConfig", "GPTJForCausalLM", causal_inputs, **GPT, rotary_dim=4),
    "gpt_bigcode": make("GPTBigCodeConfig", "GPTBigCodeForCausalLM", causal_inputs, **GPT),
    "codegen": make("CodeGenConfig", "CodeGenForCausalLM", causal_inputs,
                    **{**GPT, "n_head": 4, "n_embd": 32}, rotary_dim=4),
    "openai": make("OpenAIGPTConfig", "OpenAIGPTLMHeadModel",
                   lambda: dict(input_ids=tokens(), labels=tokens()), **GPT),
    "llama": causal("Llama"),
    "mistral": causal("Mistral", sliding_window=4),
    "mixtral": causal("Mixtral", **EXPERTS),
    "qwen2": causal("Qwen2"),
    "qwen2_moe": causal("Qwen2Moe", **EXPERTS, shared_expert_intermediate_size=16),
    "qwen3": causal("Qwen3", **HEAD),
    "qwen3_moe": causal("Qwen3Moe", **HEAD, **EXPERTS),
    "qwen3_next": causal("Qwen3Next", **HEAD, **EXPERTS, shared_expert_intermediate_size=16,
                         linear_num_value_heads=2, linear_num_key_heads=2,
                         linear_key_head_dim=8, linear_value_head_dim=8,
                         layer_types=["linear_attention", "full_attention"]),
    "gemma": causal("Gemma", **HEAD),
    "gemma2": causal("Gemma2", **HEAD, sliding_window=4),
    "gemma3": causal("Gemma3Text", "Gemma3ForCausalLM", **HEAD, sliding_window=4),
    "phi": causal("Phi", num_key_value_heads=2),
    "phi3": causal("Phi3"),
    "falcon": causal("Falcon"),
    "opt": causal("OPT", ffn_dim=32, word_embed_proj_dim=WIDTH),
    "bloom": causal("Bloom", n_head=2, n_layer=2),
    "mpt": make("MptConfig", "MptForCausalLM", causal_inputs, vocab_size=WORDS, d_model=WIDTH,
                n_heads=2, n_layers=2, max_seq_len=32),
    "stablelm": causal("StableLm"),
    "starcoder2": causal("Starcoder2"),
    "olmo": causal("Olmo"),
    "olmo2": causal("Olmo2"),
    "olmoe": causal("Olmoe", **EXPERTS),
    "cohere": causal("Cohere"),
    "granite": causal("Granite"),
    "granite_moe": causal("GraniteMoe", **EXPERTS),
    "jetmoe": causal("JetMoe", **EXPERTS, kv_channels=8),
    "persimmon": causal("Persimmon"),
    "nemotron": causal("Nemotron"),
    "glm": causal("Glm", **HEAD),
    "deepseek_v3": causal("DeepseekV3", n_routed_experts=4, n_group=1, topk_group=1, n_shared_experts=1,
                          num_experts_per_tok=2, moe_intermediate_size=16, first_k_dense_replace=1,
                          q_lora_rank=8, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4,
                          v_head_dim=8, num_key_value_heads=2),
    "gpt_oss": causal("GptOss", **HEAD, **EXPERTS, sliding_window=4),
    "mamba": make("MambaConfig", "MambaForCausalLM", causal_inputs, vocab_size=WORDS,
                  hidden_size=WIDTH, state_size=4, num_hidden_layers=1, pad_token_id=0),
    "mamba2": make("Mamba2Config", "Mamba2ForCausalLM", causal_inputs, vocab_size=WORDS,
                   hidden_size=WIDTH, state_size=4, num_hidden_layers=1, head_dim=8, num_heads=4,
                   n_groups=1, chunk_size=4, pad_token_id=0),
    "recurrent_gemma": causal("RecurrentGemma", lru_width=16, attention_window_size=4,
                              block_types=["recurrent", "attention"], head_dim=8),
    "xglm": make("XGLMConfig", "XGLMForCausalLM", causal_inputs, vocab_size=WORDS, d_model=WIDTH,
                 ffn_dim=32, num_layers=1, attention_heads=2, max_position_embeddings=32,
                 pad_token_id=0),
    "ctrl": make("CTRLConfig", "CTRLLMHeadModel", causal_inputs, vocab_size=WORDS, n_positions=32,
                 n_embd=WIDTH, dff=32, n_layer=1, n_head=2),
}  # fmt: skip

ENCODERS = {
    "bert": masked("Bert"),
    "roberta": masked("Roberta"),
    "electra": masked("Electra", embedding_size=8),
    "albert": masked("Albert", embedding_size=8),
    "distilbert": make("DistilBertConfig", "DistilBertForMaskedLM", masked_inputs, vocab_size=WORDS,
                       dim=WIDTH, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=32),
    "deberta_v2": masked("DebertaV2", relative_attention=True, pos_att_type=["p2c", "c2p"],
                         position_buckets=4),
    "modernbert": masked("ModernBert", global_attn_every_n_layers=2, local_attention=4,
                         cls_token_id=1, sep_token_id=2),
    "fnet": make("FNetConfig", "FNetForMaskedLM",
                 lambda: dict(input_ids=tokens(), labels=tokens()), **SIZES),
    "mobilebert": masked("MobileBert", intra_bottleneck_size=8, embedding_size=8,
                         num_feedforward_networks=1),
    "squeezebert": masked("SqueezeBert", embedding_size=WIDTH),
    "roformer": masked("RoFormer", embedding_size=WIDTH),
    "convbert": masked("ConvBert", embedding_size=8, conv_kernel_size=3),
    "nystromformer": masked("Nystromformer", num_landmarks=LENGTH, segment_means_seq_len=LENGTH),
    "mpnet": masked("MPNet"),
    "xlnet": make("XLNetConfig", "XLNetLMHeadModel",
                  lambda: dict(input_ids=tokens(), labels=tokens(), use_mems=False), vocab_size=WORDS,
                  d_model=WIDTH, n_layer=1, n_head=2, d_inner=32, pad_token_id=0),
    "longformer": masked("Longformer", attention_window=4),
    "big_bird": masked("BigBird", attention_type="original_full"),
    "funnel": make("FunnelConfig", "FunnelForMaskedLM", masked_inputs, vocab_size=WORDS,
                   block_sizes=[1, 1], d_model=WIDTH, n_head=2, d_head=8, d_inner=32,
                   num_decoder_layers=1),
    "esm": masked("Esm", mask_token_id=3, position_embedding_type="rotary"),
}  # fmt: skip

PAIRS = {
    "t5": make("T5Config", "T5ForConditionalGeneration", pair_inputs, **T5),
    "mt5": make("MT5Config", "MT5ForConditionalGeneration", pair_inputs, **T5),
    "switch": make("SwitchTransformersConfig", "SwitchTransformersForConditionalGeneration",
                   pair_inputs, **T5, num_experts=4, num_sparse_encoder_layers=1,
                   num_sparse_decoder_layers=1),
    "bart": pair("Bart"),
    "mbart": pair("MBart"),
    "pegasus": pair("Pegasus"),
    "m2m_100": pair("M2M100"),
    "blenderbot": pair("Blenderbot"),
    "marian": make("MarianConfig", "MarianMTModel", pair_inputs, **ENCODERS_DECODERS),
    "whisper": make("WhisperConfig", "WhisperForConditionalGeneration",
                    lambda: dict(input_features=torch.randn(BATCH, 8, 16),
                                 decoder_input_ids=tokens(), labels=tokens(), use_cache=False),
                    **{k: v for k, v in ENCODERS_DECODERS.items() if k != "max_position_embeddings"},
                    num_mel_bins=8, max_source_positions=8, max_target_positions=16,
                    suppress_tokens=None, begin_suppress_tokens=None),
}  # fmt: skip

OTHERS = {
    "vit": images("ViT", **VISION),
    "deit": images("DeiT", **VISION),
    "beit": images("Beit", **VISION),
    "dinov2": images("Dinov2", hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=2, **IMAGES),
    "swin": images("Swin", image_size=16, patch_size=2, embed_dim=8, depths=[1, 1], num_heads=[1, 2],
                   window_size=4, num_labels=3),
    "swinv2": images("Swinv2", image_size=16, patch_size=2, embed_dim=8, depths=[1, 1],
                     num_heads=[1, 2], window_size=4, num_labels=3),
    "convnext": images("ConvNext", **STAGES, num_stages=2),
    "convnextv2": images("ConvNextV2", **STAGES, num_stages=2),
    "resnet": images("ResNet", embedding_size=8, **STAGES, layer_type="basic"),
    "regnet": images("RegNet", embedding_size=8, **STAGES, groups_width=4),
    "mobilenet_v2": images("MobileNetV2", size=32, depth_multiplier=0.25, num_labels=3),
    "efficientnet": images("EfficientNet", size=32, width_coefficient=0.25, depth_coefficient=0.1,
                           num_labels=3, hidden_dim=320),
    "poolformer": images("PoolFormer", size=32, hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1],
                         num_labels=3),
    "segformer": make("SegformerConfig", "SegformerForSemanticSegmentation",
                      lambda: dict(pixel_values=torch.randn(2, 3, 32, 32),
                                   labels=torch.randint(0, 3, (2, 32, 32))),
                      hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1],
                      num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=16, num_labels=3),
    "mobilevit": images("MobileViT", size=32, hidden_sizes=[16, 20, 24],
                        neck_hidden_sizes=[4, 8, 8, 16, 16, 16, 32], num_attention_heads=2,
                        image_size=32, num_labels=3),
    "levit": images("Levit", size=32, image_size=32, hidden_sizes=[16, 16, 16],
                    num_attention_heads=[1, 1, 1], depths=[1, 1, 1], key_dim=[8, 8, 8],
                    num_labels=3),
    "vit_mae": make("ViTMAEConfig", "ViTMAEForPreTraining",
                    lambda: dict(pixel_values=torch.randn(2, 3, 16, 16),
                                 noise=torch.rand(2, 4)),
                    **{k: v for k, v in VISION.items() if k != "num_labels"},
                    decoder_hidden_size=WIDTH, decoder_num_attention_heads=2,
                    decoder_num_hidden_layers=1, decoder_intermediate_size=32),
    "clip": make("CLIPConfig", "CLIPModel",
                 lambda: dict(input_ids=tokens(), pixel_values=torch.randn(2, 3, 16, 16),
                              return_loss=True),
                 text_config={**{k: v for k, v in SIZES.items() if k != "num_key_value_heads"}},
                 vision_config={k: v for k, v in VISION.items() if k != "num_labels"},
                 projection_dim=8),
    "wav2vec2": make("Wav2Vec2Config", "Wav2Vec2ForCTC", sound_inputs, **SOUND),
    "hubert": make("HubertConfig", "HubertForCTC", sound_inputs, **SOUND),
    "patchtst": make("PatchTSTConfig", "PatchTSTForPrediction",
                     lambda: dict(past_values=torch.randn(2, 16, 2), future_values=torch.randn(2, 4, 2)),
                     num_input_channels=2, context_length=16, patch_length=4, patch_stride=4,
                     prediction_length=4, d_model=WIDTH, num_attention_heads=2, num_hidden_layers=1,
                     ffn_dim=32),
    "time_series": make("TimeSeriesTransformerConfig", "TimeSeriesTransformerForPrediction",
                        lambda: dict(past_values=torch.randn(2, 12), past_time_features=torch.randn(2, 12, 1),
                                     past_observed_mask=torch.ones(2, 12),
                                     future_values=torch.randn(2, 4),
                                     future_time_features=torch.randn(2, 4, 1)),
                        prediction_length=4, context_length=8, lags_sequence=[1, 2, 3, 4],
                        num_time_features=1, d_model=WIDTH, encoder_layers=1, decoder_layers=1,
                        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
                        decoder_ffn_dim=32),
    "layoutlm": masked("LayoutLM"),
    "perceiver": make("PerceiverConfig", "PerceiverForMaskedLM", masked_inputs, vocab_size=WORDS,
                      d_model=WIDTH, d_latents=WIDTH, num_latents=4, num_self_attends_per_block=1,
                      num_self_attention_heads=2, num_cross_attention_heads=2,
                      max_position_embeddings=LENGTH, qk_channels=8, v_channels=16),
    "decision": make("DecisionTransformerConfig", "DecisionTransformerModel",
                     lambda: dict(states=torch.randn(2, 4, 5), actions=torch.randn(2, 4, 3),
                                  rewards=torch.randn(2, 4, 1), returns_to_go=torch.randn(2, 4, 1),
                                  timesteps=torch.arange(4).repeat(2, 1),
                                  attention_mask=torch.ones(2, 4)),
                     state_dim=5, act_dim=3, hidden_size=WIDTH, n_layer=1, n_head=2, max_ep_len=16),
}  # fmt: skip

FAMILIES = {**CAUSAL, **ENCODERS, **PAIRS, **OTHERS}

# Normalizations of a few elements make rounding errors grow by three to twelve orders of
# magnitude in three steps, so that f32 says nothing of them.
AMPLIFYING = ("levit", "mobilevit")
