"""Writes a RoBERTa of a few thousand random weights, so that the crate `embed` is tested where no model can be had.

    tiny_model.py FOLDER
"""

import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import RobertaConfig, RobertaModel

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
MAX_TOKENS = 32


def tokenizer() -> Tokenizer:
    """Pairs of bytes, as RoBERTa has them: the first word of a text has another token than after a space."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=len(SPECIAL) + 256 + 40, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(["the cat sat on the mat and the other cat sat there", "hello there other world"] * 3, trainer)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return made


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(11)
    made = tokenizer()
    config = RobertaConfig(
        vocab_size=made.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=24,
        max_position_embeddings=MAX_TOKENS + 2,
        type_vocab_size=1,
        initializer_range=0.4,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        layer_norm_eps=1e-5,
    )
    model = RobertaModel(config, add_pooling_layer=False)
    for name, weight in model.named_parameters():
        if name.endswith(("bias", "LayerNorm.weight")):
            torch.nn.init.normal_(weight, mean=float(name.endswith("LayerNorm.weight")), std=0.2)
    # Half precision halves the file and tests that it is read.
    weights = {f"roberta.{name}": tensor.half().contiguous() for name, tensor in model.state_dict().items() if tensor.is_floating_point()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    settings = {**config.to_diff_dict(), "model_type": "roberta", "architectures": ["RobertaModel"], "dtype": "float32"}
    settings = {name: value for name, value in settings.items() if name != "transformers_version"}
    (folder / "config.json").write_text(json.dumps(settings, indent=1) + "\n")
    made.save(str(folder / "tokenizer.json"), pretty=False)
    names = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"}
    names |= {"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"}
    settings = {"tokenizer_class": "RobertaTokenizer", "model_max_length": MAX_TOKENS, "add_prefix_space": False, **names}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings) + "\n")


if __name__ == "__main__":
    main()
