"""Times compiled training steps of PyTorch's `nn.Transformer` on random tokens without padding, for `gpu.py`.

    python -m benchmarks.torch_steps --preset base --rows 400 --precision bfloat16

The model matches `transformer()` and its training: embeddings scaled by √d_model, sinusoidal positional encoding,
dropout, padding and look-ahead masks, logits, and Adam. The program prints a line of JSON: "step", the seconds of a
step; "memory", the peak memory of the GPU in bytes, or null on a CPU.
"""

import contextlib
import json
import math
import statistics
import time

import torch
from torch import nn

from benchmarks.step_options import FIRST_ID, ROUNDS, STEPS, config_of, make_parser


class Transformer(nn.Module):
    """An encoder and decoder with the sizes of a `Config`; maps token ids to logits."""

    def __init__(self, config):
        super().__init__()
        d_model = config.d_model
        self.source, self.target = (nn.Embedding(config.vocab_size, d_model) for _ in range(2))
        self.body = nn.Transformer(
            d_model, config.num_heads, config.num_layers, config.num_layers, config.dff, config.dropout,
            batch_first=True,
        )  # fmt: skip
        self.logits = nn.Linear(d_model, config.vocab_size)
        self.dropout = nn.Dropout(config.dropout)
        angles = torch.arange(512)[:, None] / 10_000 ** (torch.arange(0, d_model, 2) / d_model)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).flatten(1))

    def forward(self, inputs, dec_inputs):
        future = nn.Transformer.generate_square_subsequent_mask(dec_inputs.shape[1], device=inputs.device).isinf()
        padding = inputs == 0
        body = self.body(
            self.embed(self.source, inputs), self.embed(self.target, dec_inputs), tgt_mask=future, tgt_is_causal=True,
            src_key_padding_mask=padding, memory_key_padding_mask=padding,
        )  # fmt: skip
        return self.logits(body)

    def embed(self, embedding, ids):
        """Returns the scaled embeddings plus positional encodings."""
        return self.dropout(embedding(ids) * math.sqrt(embedding.embedding_dim) + self.positions[: ids.shape[1]])


def measure_steps(config, rows, length, precision, device):
    """Returns the seconds of a training step."""
    torch.manual_seed(0)
    model = Transformer(config).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 1e-4, (0.9, 0.98), 1e-9, fused=device.type == "cuda")
    computing = torch.autocast(device.type, torch.bfloat16) if precision == "bfloat16" else contextlib.nullcontext()

    @torch.compile
    def loss_of(inputs, dec_inputs, targets):
        logits = model(inputs, dec_inputs).float().flatten(0, 1)
        return nn.functional.cross_entropy(
            logits, targets.flatten(), ignore_index=0, label_smoothing=config.label_smoothing
        )

    def step():
        batch = torch.randint(FIRST_ID, config.vocab_size, (3, rows, length), device=device)
        with computing:
            loss = loss_of(*batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    seconds = []
    for _ in range(1 + ROUNDS):
        begin = time.perf_counter()
        for _ in range(STEPS):
            loss = step()
        loss.item()  # Waits for the end of the step.
        seconds.append((time.perf_counter() - begin) / STEPS)
    return statistics.median(seconds[1:])


def main():
    options = make_parser(__doc__).parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    step = measure_steps(config_of(options), options.rows, options.length, options.precision, device)
    memory = torch.cuda.max_memory_allocated() if device.type == "cuda" else None
    print(json.dumps({"step": step, "memory": memory}))


if __name__ == "__main__":
    main()
