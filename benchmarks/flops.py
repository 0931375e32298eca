"""Operation counts of the model, derived from its equations."""


def multiply_adds(config, source, target):
    """Returns the number of multiply-adds of a forward pass over one question and one answer.

    Only matrix products are counted. With N layers, d = d_model, f = dff and V = vocab_size:

    - A projection W^Q, W^K, W^V or W^O takes d² per token, and each attention has four of them. In the cross-attention,
    W^K and W^V are applied to the tokens of the question (section 3.2.2).
    - A feed-forward network takes 2 d f per token (section 3.3).
    - Q Kᵀ and the product of the weights with V take d each per query and key, over all heads (section 3.2.1). This
    term grows with the length. The look-ahead mask hides half of the decoder's products, but they are computed.
    - The logits take d V per token of the answer. An embedding lookup takes none.

    Args:
        config: A `Config`, which gives the sizes of the model.
        source: Number of tokens of the question.
        target: Number of tokens of the answer.
    """
    n, d, f = config.num_layers, config.d_model, config.dff
    encoder = source * (4 * d * d + 2 * d * f) + attention(d, source, source)
    decoder = target * (4 * d * d + 2 * d * f) + attention(d, target, target)
    over_memory = (target + source) * 2 * d * d + attention(d, target, source)
    return n * (encoder + decoder + over_memory) + target * d * config.vocab_size


def attention(d_model, queries, keys):
    """Returns the multiply-adds of Q Kᵀ and of the product of the attention weights with V."""
    return 2 * d_model * queries * keys


def training_flops(config, source, target):
    """Returns the floating-point operations of forward and backward pass.

    Each multiply-add counts 2, and the backward pass takes twice as many as the forward pass.
    """
    return 6 * multiply_adds(config, source, target)
