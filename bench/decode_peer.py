#!/usr/bin/env python3
"""The models of `cohort run decode` in PyTorch: compares the tokens, and times a token.

    cohort run decode --input llama:tiny -o context=0 -o tokens=16 -o batch=1 --json run.json
    bench/decode_peer.py check tiny run.json      # the same tokens? Needs a run without a context
    bench/decode_peer.py time 1b --context 1024   # a static cache in a CUDA graph, and torch.compile

Needs torch and transformers; `time` needs a GPU. The weights are those of apps/decode/llama.hpp.
"""
import argparse
import json
import math
import sys

import numpy
import torch
import transformers

SHAPES = {  # hidden, layers, heads, key and value heads, head dimension, ffn, vocabulary, tied
    "tiny": (64, 2, 4, 2, 16, 176, 512, False),
    "100m": (768, 12, 12, 4, 64, 2048, 32000, False),
    "1b": (2048, 16, 32, 8, 64, 8192, 128256, True),
    "8b": (4096, 32, 32, 8, 128, 14336, 128256, False),
}
TENSORS = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj",
           "mlp.down_proj", "input_layernorm", "post_attention_layernorm", "norm", "embed_tokens", "lm_head"]
GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def mixed(x):
    """The finaliser of SplitMix64, of an int or of an array of uint64."""
    array = isinstance(x, numpy.ndarray)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = x ^ (x >> (numpy.uint64(shift) if array else shift))
        x = x * numpy.uint64(factor) if array else x * factor & MASK
    return x ^ (x >> (numpy.uint64(31) if array else 31))


def quads(seed, stream, first, count):
    key = mixed((seed + GOLDEN * (mixed(stream + 1) | 1)) & MASK)
    index = numpy.arange(first + 1, first + count + 1, dtype=numpy.uint64)
    with numpy.errstate(over="ignore"):
        return mixed(numpy.uint64(key) + numpy.uint64(GOLDEN) * index)


def first_token(seed, request, vocabulary):
    return (int(quads(seed, 1 << 41, request, 1)[0]) >> 32) * vocabulary >> 32


def set_weights(model, size, seed):
    """Fills the model's parameters, a few million at a time."""
    hidden, layers, heads, _, dim, ffn, *_ = SHAPES[size]
    uniform = lambda inputs: numpy.float32(math.sqrt(numpy.float32(3) / numpy.float32(inputs)))
    depth = numpy.float32(math.sqrt(numpy.float32(0.5) / numpy.float32(layers)))
    widths = {"self_attn.o_proj": uniform(heads * dim) * depth, "mlp.down_proj": uniform(ffn) * depth,
              "input_layernorm": numpy.float32(1 / 8), "post_attention_layernorm": numpy.float32(1 / 8),
              "norm": numpy.float32(1 / 8), "embed_tokens": numpy.float32(1 / 32)}
    for name, parameter in model.named_parameters():
        words = name.split(".")
        layer = int(words[2]) if words[1] == "layers" else 0
        tensor = ".".join(words[3:-1]) if words[1] == "layers" else words[-2]
        base = numpy.float32(1 if "norm" in tensor else 0)
        flat = parameter.data.view(-1)
        step = 1 << 22
        for at in range(0, flat.numel(), step):
            count = min(step, flat.numel() - at)
            bits = quads(seed, layer * 16 + TENSORS.index(tensor), at // 4, count // 4)
            numbers = bits.view(numpy.int16).astype(numpy.float32) * numpy.float32(2.0**-15)
            values = torch.from_numpy(base + widths.get(tensor, uniform(hidden)) * numbers)
            flat[at:at + count] = values.to(torch.bfloat16).to(flat.dtype).to(flat.device)


def make(size, seed, dtype, device):
    hidden, layers, heads, kv_heads, dim, ffn, vocabulary, tied = SHAPES[size]
    config = transformers.LlamaConfig(
        hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=dim,
        intermediate_size=ffn, vocab_size=vocabulary, tie_word_embeddings=tied, rope_theta=500000.0, rms_norm_eps=1e-5,
        max_position_embeddings=1 << 17)
    with torch.device(device):
        model = transformers.LlamaForCausalLM(config).to(dtype).eval()
    set_weights(model, size, seed)
    return model


def check(options):
    """Decodes greedily without a context, in float32, and compares the hash of the tokens."""
    record = json.load(open(options.record))
    settings = dict(each.split("=") for each in record["options"])
    if int(settings.get("context", 128)) != 0 or settings.keys() - {"context", "tokens", "batch"} or settings.get("batch", "1") != "1":
        sys.exit(f"{options.record}: give a run with -o context=0 -o tokens=N and a batch of 1")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = make(options.size, options.seed, torch.float32, device)
    vocabulary = SHAPES[options.size][6]
    tokens = [first_token(options.seed, 0, vocabulary)]
    with torch.no_grad():
        for _ in range(int(settings.get("tokens", 64))):
            logits = model(torch.tensor([tokens], device=device), use_cache=False).logits[0, -1]
            tokens.append(int(logits.argmax()))
    state = 0xCBF29CE484222325
    for token in tokens[1:]:
        state = ((state ^ token) * 0x100000001B3) & MASK
    same = state >> 32 == record["result"]["hash"]
    print(f"{len(tokens) - 1} tokens: {'the same' if same else 'OTHERS'}")
    return 0 if same else 1


def measure(options):
    """Microseconds per token with a static cache: eager in a CUDA graph, and compiled."""
    model = make(options.size, options.seed, torch.bfloat16, "cuda")
    cache = transformers.StaticCache(config=model.config, max_batch_size=1, max_cache_len=options.context + options.tokens,
                                     device="cuda", dtype=torch.bfloat16)
    token = torch.zeros((1, 1), dtype=torch.long, device="cuda")
    position = torch.tensor([options.context], device="cuda")

    def step(forward):
        logits = forward(token, past_key_values=cache, cache_position=position, use_cache=True).logits
        token.copy_(logits[:, -1:].argmax(-1))
        position.add_(1)

    def timed(name, run):
        times = []
        for _ in range(7):
            position.fill_(options.context)
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(options.tokens):
                run()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) / options.tokens * 1000)
        print(f"{name}: {sorted(times)[len(times) // 2]:.1f} us per token ({min(times):.1f} to {max(times):.1f})")

    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step(model)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step(model)
        timed("static cache, CUDA graph", graph.replay)
        compiled = torch.compile(model, mode="max-autotune", fullgraph=True)
        for _ in range(3):
            position.fill_(options.context)
            step(compiled)
        timed("torch.compile, max-autotune", lambda: step(compiled))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for name, command in (("check", check), ("time", measure)):
        sub = commands.add_parser(name)
        sub.add_argument("size", choices=SHAPES)
        if name == "check":
            sub.add_argument("record", help="of `cohort run decode --json`")
        else:
            sub.add_argument("--context", type=int, default=128)
            sub.add_argument("--tokens", type=int, default=128)
        sub.add_argument("--seed", type=int, default=1)
        sub.set_defaults(run=command)
    options = parser.parse_args()
    sys.exit(options.run(options))


if __name__ == "__main__":
    main()
