"""Diagram of a model, in the style of the paper's Figure 1."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import keras
import numpy as np

from keras_transformer.models.transformer import components_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "0.25"
LINES, SHAPES, TOP = 2, 3, 4  # Drawing order.


class Sheet:
    """The canvas of a diagram.

    Args:
        figure: A matplotlib `Figure`, which the canvas fills.
    """

    def __init__(self, figure):
        width, height = figure.get_size_inches()
        self.axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
        self.axes.set_axis_off()

    def write(self, x, y, text, **style):
        """Writes a text centred at a point."""
        self.axes.text(x, y, text, **{"ha": "center", "va": "center", "linespacing": 1.4, "zorder": TOP, **style})

    def box(self, x, y, width, height, colour, **style):
        """Draws a box with rounded corners; x is its centre, y its lower edge."""
        from matplotlib.patches import FancyBboxPatch

        shape = "round,pad=0,rounding_size=0.07"
        style = {"facecolor": colour, "edgecolor": INK, "zorder": SHAPES, **style}
        self.axes.add_patch(FancyBboxPatch((x - width / 2, y), width, height, shape, **style))

    def circle(self, x, y, radius):
        """Draws a white circle."""
        from matplotlib.patches import Circle

        self.axes.add_patch(Circle((x, y), radius, facecolor="white", edgecolor=INK, zorder=SHAPES))

    def line(self, *points, over=False):
        """Draws a line through points, above the shapes if `over` is true."""
        self.axes.plot(*zip(*points), color=INK, linewidth=1, zorder=TOP if over else LINES)

    def arrow(self, *points):
        """Draws a line through points with an arrow head at the last one."""
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        style = {"arrowstyle": "-|>,head_length=3,head_width=1.6", "joinstyle": "miter", "shrinkA": 0, "shrinkB": 0}
        self.axes.add_patch(FancyArrowPatch(path=Path(points), color=INK, zorder=LINES, **style))


@dataclasses.dataclass(frozen=True)
class Block:
    """A box of Figure 1.

    Attributes:
        kind: "embedding", "attention", "cross_attention", "norm", "feed_forward" or "linear".
        title: Its name in the paper, with its sizes.
        shape: Shape of its output, with None for the batch size and the lengths.
        parameters: Number of its parameters, without those shared from other blocks.
        shared: Whether it shares the parameters of another block.
    """

    kind: str
    title: str
    shape: tuple
    parameters: int
    shared: bool = False


@dataclasses.dataclass(frozen=True)
class Stack:
    """The encoder or the decoder with its embedding.

    Attributes:
        embedding: A `Block`.
        layer: The `Block`s of one layer in order of computation: each sublayer is followed by its Add & Norm, or, in a
            pre-norm model, preceded by its Layer Norm.
        num_layers: Number of layers (N).
        norm: The `Block` of the final norm of a pre-norm model; None in a post-norm model.
    """

    embedding: Block
    layer: list
    num_layers: int
    norm: Block | None = None

    @property
    def layer_parameters(self):
        """Parameters of one layer."""
        return sum(block.parameters for block in self.layer)

    @property
    def sublayers(self):
        """The sublayers of one layer, pairs of `Block`s in the order of `layer`."""
        return list(zip(self.layer[::2], self.layer[1::2]))


@dataclasses.dataclass(frozen=True)
class Shape:
    """All blocks of a model.

    Attributes:
        encoder: A `Stack`.
        decoder: A `Stack`.
        linear: The `Block` of the output projection.
        parameters: Number of parameters of the model, as counted by Keras.
    """

    encoder: Stack
    decoder: Stack
    linear: Block
    parameters: int


def shape_of(model):
    """Returns the `Shape` of a model built by `transformer()`, or loaded from a file.

    Raises:
        ValueError: If the model does not have the layers of `transformer()`.
    """
    components = components_of(model)
    source, target = components.embed_source, components.embed_target
    tied = not isinstance(components.project, keras.layers.Layer)
    return Shape(
        encoder=Stack(
            embedding("Input Embedding", source),
            encoder_layer(components.encoder.layers[0], embedded(source)),
            len(components.encoder.layers),
            final_norm(components.encoder, embedded(source)),
        ),
        decoder=Stack(
            embedding("Output Embedding", target, shared=target is source),
            decoder_layer(components.decoder.layers[0], embedded(target)),
            len(components.decoder.layers),
            final_norm(components.decoder, embedded(target)),
        ),
        linear=Block("linear", "Linear", model.output.shape, 0 if tied else components.project.count_params(), tied),
        parameters=model.count_params(),
    )


def embedded(layer):
    """Returns the output shape of a `TokenEmbedding`."""
    return layer.compute_output_spec(keras.KerasTensor((None, None), "int32")).shape


def embedding(title, layer, shared=False):
    """Returns the block of a `TokenEmbedding`."""
    title = f"{title} ({layer.vocab_size:,} tokens)"
    return Block("embedding", title, embedded(layer), 0 if shared else layer.count_params(), shared)


def encoder_layer(layer, shape):
    """Returns the blocks of an `EncoderLayer`."""
    return [
        *with_norm(
            attention("attention", "Multi-Head Attention", layer.self_attention, shape),
            layer.self_attention_norm,
        ),
        *with_norm(feed_forward(layer.feed_forward, shape), layer.feed_forward_norm),
    ]


def decoder_layer(layer, shape):
    """Returns the blocks of a `DecoderLayer`."""
    return [
        *with_norm(
            attention("attention", "Masked Multi-Head Attention", layer.self_attention, shape),
            layer.self_attention_norm,
        ),
        *with_norm(
            attention("cross_attention", "Multi-Head Attention", layer.cross_attention, shape),
            layer.cross_attention_norm,
        ),
        *with_norm(feed_forward(layer.feed_forward, shape), layer.feed_forward_norm),
    ]


def attention(kind, title, layer, shape):
    """Returns the block of a `MultiHeadAttention`."""
    title = f"{title} ({layer.num_heads} × {layer.depth})"
    return Block(kind, title, layer.compute_output_shape({"query": shape}), layer.count_params())


def feed_forward(layer, shape):
    """Returns the block of a `FeedForward`."""
    title = f"Feed Forward ({layer.d_model:,} → {layer.dff:,} → {layer.d_model:,})"
    return Block("feed_forward", title, layer.compute_output_shape(shape), layer.count_params())


def with_norm(sublayer, residual):
    """Returns the blocks of a sublayer and of its `AddAndNorm`, in order of computation."""
    if residual.norm_first:
        return [Block("norm", "Layer Norm", sublayer.shape, residual.count_params()), sublayer]
    return [sublayer, Block("norm", "Add & Norm", sublayer.shape, residual.count_params())]


def final_norm(stack, shape):
    """Returns the block of the final norm of a pre-norm `Encoder` or `Decoder`; None for a post-norm one."""
    return Block("norm", "Layer Norm", shape, stack.norm.count_params()) if stack.norm else None


COLOURS = {
    "embedding": "#fde0e1", "attention": "#ffe2bb", "cross_attention": "#ffe2bb", "norm": "#f2f4c1",
    "feed_forward": "#c2e8f7", "linear": "#dce0ef",
}  # fmt: skip
"""The colours of the boxes, as in the paper's figure."""

# All lengths are in inches.
POST_NORM_HEIGHT, PRE_NORM_HEIGHT = 9.3, 11.1  # Height of the figure.
ENCODER, DECODER = 2.75, 6.65  # Centres of the two columns.
WIDTH, HEIGHT = 2.8, 0.46  # Size of a box.
LANE = 0.2  # Distance between boxes and their residual connections.
HEADS = 0.8  # Offset of the outer attention arrows from the centre of a box.
ENTRY = 0.2  # Distance between the fork of arrows and the box that they enter.
PLUS = 0.1  # Radius of the plus sign.
SMALL = {"size": 7.5}
NOTES = """\
Shapes are those of the outputs of the boxes:
n input tokens, m output tokens.
Attention: h heads × d_k.
Feed Forward: d_model → d_ff → d_model."""


def plot_model_shape(model: keras.Model) -> Figure:
    """Plots a Transformer as the paper's Figure 1, with the output shape and parameters of each block.

    Args:
        model: A model built by `transformer()`, or loaded from a file.

    Returns:
        A matplotlib `Figure`. In shapes, n is the length of the inputs and m that of the outputs.

    Raises:
        ValueError: If the model was not built by `transformer()`.
    """
    from keras_transformer.visualize.figure import drawing

    shape = shape_of(model)
    height = PRE_NORM_HEIGHT if shape.decoder.norm else POST_NORM_HEIGHT
    with drawing([], 9.4, height, layout=None) as figure:
        sheet = Sheet(figure)
        encoder, decoder = Column(sheet, ENCODER, -1, "n"), Column(sheet, DECODER, 1, "m")
        encoder.draw("Inputs", shape.encoder)
        decoder.draw("Outputs (shifted right)", shape.decoder)
        draw_memory(sheet, encoder, decoder)
        draw_output(sheet, decoder, shape.linear)
        sheet.write(0.4, height - 0.4, NOTES, ha="left", va="top")
        sheet.write(4.7, 0.47, f"{shape.parameters:,} parameters")
        sheet.write(4.7, 0.25, f"= {sum_of(shape)}", **SMALL)
    return figure


class Column:
    """The encoder or decoder side of the figure, drawn from bottom to top.

    Args:
        sheet: The `Sheet`.
        x: Horizontal centre of its boxes.
        outward: -1 if its residual connections are on the left, 1 if on the right.
        length: Symbol for the length of its sequences.

    Attributes:
        y: Current height of the drawing.
        memory: Height at which the decoder reads the memory.
    """

    def __init__(self, sheet, x, outward, length):
        self.sheet, self.x, self.outward, self.length = sheet, x, outward, length
        self.y, self.memory = 0.8, None

    def draw(self, what, stack):
        """Draws the input of the stack, its embedding, and one framed layer."""
        self.sheet.write(self.x, self.y, f"{what}\n{self.shaped((None, None))}", va="bottom")
        self.y += 0.36
        self.rise(0.24)
        self.block(stack.embedding)
        self.add_position()
        self.rise(0.2)
        floor = self.y
        for pair in stack.sublayers:
            if stack.norm:
                self.pre_norm_residual(*pair)
            else:
                self.residual(*pair)
        self.frame(floor, stack)
        if stack.norm:
            self.rise(0.3)
            self.block(stack.norm)

    def rise(self, by):
        """Draws an arrow upwards."""
        self.sheet.arrow((self.x, self.y), (self.x, self.y + by))
        self.y += by

    def block(self, block):
        """Draws a block."""
        numbers = "the embedding's table" if block.shared else f"{block.parameters:,} parameters"
        self.sheet.box(self.x, self.y, WIDTH, HEIGHT, COLOURS[block.kind])
        self.sheet.write(self.x, self.y + 0.68 * HEIGHT, block.title)
        self.sheet.write(self.x, self.y + 0.29 * HEIGHT, f"{self.shaped(block.shape)} · {numbers}", **SMALL)
        self.y += HEIGHT

    def add_position(self):
        """Draws the addition of the positional encoding, a sine wave."""
        self.rise(0.25)
        y, wave, t = self.y + PLUS, self.x + 0.65 * self.outward, np.linspace(-1, 1)
        self.sheet.line((wave, y), (self.x, y))
        self.plus()
        self.sheet.circle(wave, y, 0.17)
        self.sheet.line(*zip(wave + 0.13 * t, y + 0.09 * np.sin(np.pi * t)), over=True)
        side = "left" if self.outward > 0 else "right"
        self.sheet.write(wave + 0.25 * self.outward, y, "Positional\nEncoding", ha=side)

    def plus(self):
        """Draws a plus sign."""
        x, y = self.x, self.y + PLUS
        self.sheet.circle(x, y, PLUS)
        self.sheet.line((x - PLUS, y), (x + PLUS, y), over=True)
        self.sheet.line((x, y - PLUS), (x, y + PLUS), over=True)
        self.y += 2 * PLUS

    def pre_norm_residual(self, norm, sublayer):
        """Draws a Layer Norm, its sublayer, and the residual connection around both."""
        x, fork = self.x, self.y + 0.16
        lane = x + self.outward * (WIDTH / 2 + LANE)
        self.rise(0.3)
        self.block(norm)
        self.enter(sublayer, self.y + 0.1)
        self.rise(0.12)
        middle = self.y + PLUS
        self.sheet.arrow((x, fork), (lane, fork), (lane, middle), (x + self.outward * PLUS, middle))
        self.plus()

    def residual(self, sublayer, norm):
        """Draws a sublayer with its Add & Norm and the residual connection around it."""
        x, fork = self.x, self.y + 0.22
        lane = x + self.outward * (WIDTH / 2 + LANE)
        self.enter(sublayer, fork)
        self.rise(0.12)
        middle = self.y + HEIGHT / 2
        self.sheet.arrow((x, fork), (lane, fork), (lane, middle), (x + self.outward * WIDTH / 2, middle))
        self.block(norm)

    def enter(self, sublayer, fork):
        """Draws a sublayer and the arrows into it, which fork at a given height."""
        self.sheet.line((self.x, self.y), (self.x, fork))
        for at in self.reads(sublayer):
            self.sheet.arrow((self.x, fork), (at, fork), (at, fork + ENTRY))
        if sublayer.kind == "cross_attention":
            self.memory = fork
        self.y = fork + ENTRY
        self.block(sublayer)

    def reads(self, sublayer):
        """Returns the x positions of the arrows from its own side: three for query, key and value, or one."""
        if sublayer.kind == "attention":
            return [self.x - HEADS, self.x, self.x + HEADS]
        return [self.x + HEADS * self.outward * (sublayer.kind == "cross_attention")]

    def frame(self, floor, stack):
        """Draws the frame around a layer, with the number of layers."""
        width, top = WIDTH + 2 * LANE + 0.2, self.y + 0.14
        self.sheet.box(self.x, floor, width, top - floor, "0.96", zorder=1)
        x = self.x + self.outward * (width / 2 + 0.45)
        self.sheet.write(x, (floor + top) / 2 + 0.15, f"N = {stack.num_layers}", size=12)
        self.sheet.write(x, (floor + top) / 2 - 0.2, f"{stack.layer_parameters:,}\nparameters\neach", **SMALL)

    def shaped(self, shape):
        """Returns a shape as text."""
        sizes = [f"{size:,}" for size in shape[2:]]
        return f"({', '.join(['batch', self.length, *sizes])})"


def draw_memory(sheet, encoder, decoder):
    """Draws the memory, which provides keys and values for the decoder's cross-attention."""
    top, lane = encoder.y + 0.45, (ENCODER + DECODER) / 2
    sheet.line((ENCODER, encoder.y), (ENCODER, top), (lane, top), (lane, decoder.memory))
    for x in (DECODER - HEADS, DECODER - HEADS / 2):
        sheet.arrow((lane, decoder.memory), (x, decoder.memory), (x, decoder.memory + ENTRY))
    sheet.write(ENCODER, top + 0.12, "memory, read as keys and values", **SMALL)


def draw_output(sheet, column, linear):
    """Draws the output projection, and the softmax, which is not part of the model."""
    column.rise(0.45)
    column.block(linear)
    column.rise(0.25)
    sheet.box(column.x, column.y, WIDTH, HEIGHT, "white", linestyle="--")
    sheet.write(column.x, column.y + 0.68 * HEIGHT, "Softmax")
    sheet.write(column.x, column.y + 0.29 * HEIGHT, "not in the model: in the loss, and in decoding", **SMALL)
    column.y += HEIGHT
    column.rise(0.25)
    sheet.write(column.x, column.y + 0.12, "Output Probabilities")


def sum_of(shape):
    """Returns the parameters of all components as a sum, in text."""
    norms = [stack.norm.parameters for stack in (shape.encoder, shape.decoder) if stack.norm]
    components = {
        "input embedding": f"{shape.encoder.embedding.parameters:,}",
        "encoder": f"{shape.encoder.num_layers} × {shape.encoder.layer_parameters:,}",
        "output embedding": f"{shape.decoder.embedding.parameters:,}",
        "decoder": f"{shape.decoder.num_layers} × {shape.decoder.layer_parameters:,}",
        "final norms": f"{sum(norms):,}",
        "linear": f"{shape.linear.parameters:,}",
    }
    return " + ".join(f"{number} ({name})" for name, number in components.items() if number != "0")
