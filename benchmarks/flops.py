"""What the equations say that a model must compute."""


def multiply_adds(config, source, target):
    """Multiplications (each with an addition) of a pass over one question and one answer.

    Only matrix products count. With N layers, d = d_model, f = dff and V = vocab_size:

    - a projection W^Q, W^K, W^V or W^O takes d² per token, four per attention; in the decoder's attention over the
      memory, W^K and W^V run over the question's tokens (section 3.2.2);
    - a feed-forward network takes 2 d f per token (section 3.3);
    - Q Kᵀ and its product with V take d each for every query and key, in all heads together (section 3.2.1): the term
      that grows with length. The look-ahead mask hides half of the decoder's square, which is computed nonetheless;
    - the logits take d V per token of the answer. Looking up an embedding takes none.

    Args:
        config: A `Config`; its sizes are read.
        source: Tokens of the question.
        target: Tokens of the answer.
    """
    n, d, f = config.num_layers, config.d_model, config.dff
    encoder = source * (4 * d * d + 2 * d * f) + attention(d, source, source)
    decoder = target * (4 * d * d + 2 * d * f) + attention(d, target, target)
    over_memory = (target + source) * 2 * d * d + attention(d, target, source)
    return n * (encoder + decoder + over_memory) + target * d * config.vocab_size


def attention(d_model, queries, keys):
    """Multiply-adds of Q Kᵀ and of the weights' product with V."""
    return 2 * d_model * queries * keys


def training_flops(config, source, target):
    """Floating-point operations of forward and backward pass: 2 per multiply-add; the gradients take as many twice."""
    return 6 * multiply_adds(config, source, target)
