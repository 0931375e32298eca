"""A Transformer drawn as the paper's Figure 1, with its own sizes. All lengths are inches."""

import numpy as np

from keras_transformer.visualize.blocks import shape_of

COLOURS = {
    "embedding": "#fde0e1", "attention": "#ffe2bb", "cross_attention": "#ffe2bb", "norm": "#f2f4c1",
    "feed_forward": "#c2e8f7", "linear": "#dce0ef",
}  # fmt: skip
"""Of the boxes, those of the paper's figure."""

POST_NORM_HEIGHT, PRE_NORM_HEIGHT = 9.3, 11.1  # Of the figure.
ENCODER, DECODER = 2.75, 6.65  # The middles of the two columns.
WIDTH, HEIGHT = 2.8, 0.46  # Of a box.
LANE = 0.2  # Between boxes and the residual connections around them.
HEADS = 0.8  # From the middle of a box to an arrow for attention.
ENTRY = 0.2  # From where arrows part to the box that they enter.
PLUS = 0.1  # Radius of the sign of a sum.
SMALL = {"size": 7.5}
NOTES = """\
The shape under a name is that of what leaves the box:
n tokens of input, m of output.
Attention: h heads × d_k.
Feed Forward: d_model → d_ff → d_model."""


def plot_model_shape(model):
    """Draws a Transformer as the paper's Figure 1, each block with the shape of its output and its parameters.

    Args:
        model: What `transformer()` returned, or the same loaded from a file.

    Returns:
        A matplotlib `Figure`. In shapes, n is the length of the inputs and m that of the outputs.

    Raises:
        ValueError: If the model was not made by `transformer()`.
    """
    from keras_transformer.visualize.figure import drawing
    from keras_transformer.visualize.sheet import Sheet

    shape = shape_of(model)
    height = PRE_NORM_HEIGHT if shape.decoder.norm else POST_NORM_HEIGHT
    with drawing([], 9.4, height, layout=None) as figure:
        sheet = Sheet(figure)
        encoder, decoder = Column(sheet, ENCODER, -1, "n"), Column(sheet, DECODER, 1, "m")
        encoder.draw("Inputs", shape.encoder)
        decoder.draw("Outputs (shifted right)", shape.decoder)
        hand_over(sheet, encoder, decoder)
        project(sheet, decoder, shape.linear)
        sheet.write(0.4, height - 0.4, NOTES, ha="left", va="top")
        sheet.write(4.7, 0.47, f"{shape.parameters:,} parameters")
        sheet.write(4.7, 0.25, f"= {sum_of(shape)}", **SMALL)
    return figure


class Column:
    """The encoder's or the decoder's side of the figure, drawn from its foot upwards.

    Args:
        sheet: The `Sheet`.
        x: The middle of its boxes.
        outward: -1 if its residual connections run on the left, 1 if on the right.
        length: The sign for the length of its texts.

    Attributes:
        y: How high it is drawn so far.
        memory: How high the decoder reads the memory.
    """

    def __init__(self, sheet, x, outward, length):
        self.sheet, self.x, self.outward, self.length = sheet, x, outward, length
        self.y, self.memory = 0.8, None

    def draw(self, what, stack):
        """Draws what the stack reads, its embedding, and one of its layers in a frame."""
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
        """Draws the positional encoding, a wave that is added."""
        self.rise(0.25)
        y, wave, t = self.y + PLUS, self.x + 0.65 * self.outward, np.linspace(-1, 1)
        self.sheet.line((wave, y), (self.x, y))
        self.plus()
        self.sheet.circle(wave, y, 0.17)
        self.sheet.line(*zip(wave + 0.13 * t, y + 0.09 * np.sin(np.pi * t)), over=True)
        side = "left" if self.outward > 0 else "right"
        self.sheet.write(wave + 0.25 * self.outward, y, "Positional\nEncoding", ha=side)

    def plus(self):
        """Draws the sign of a sum."""
        x, y = self.x, self.y + PLUS
        self.sheet.circle(x, y, PLUS)
        self.sheet.line((x - PLUS, y), (x + PLUS, y), over=True)
        self.sheet.line((x, y - PLUS), (x, y + PLUS), over=True)
        self.y += 2 * PLUS

    def pre_norm_residual(self, norm, sublayer):
        """Draws a sublayer that reads a Layer Norm, and the sum with the residual connection around both."""
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
        """Draws the arrows that part at a height to enter a sublayer, and the sublayer."""
        self.sheet.line((self.x, self.y), (self.x, fork))
        for at in self.reads(sublayer):
            self.sheet.arrow((self.x, fork), (at, fork), (at, fork + ENTRY))
        if sublayer.kind == "cross_attention":
            self.memory = fork
        self.y = fork + ENTRY
        self.block(sublayer)

    def reads(self, sublayer):
        """Where the arrows of its own side enter a sublayer: three of query, key and value, or one."""
        if sublayer.kind == "attention":
            return [self.x - HEADS, self.x, self.x + HEADS]
        return [self.x + HEADS * self.outward * (sublayer.kind == "cross_attention")]

    def frame(self, floor, stack):
        """Draws the frame around a layer, and how many of them there are."""
        width, top = WIDTH + 2 * LANE + 0.2, self.y + 0.14
        self.sheet.box(self.x, floor, width, top - floor, "0.96", zorder=1)
        x = self.x + self.outward * (width / 2 + 0.45)
        self.sheet.write(x, (floor + top) / 2 + 0.15, f"N = {stack.num_layers}", size=12)
        self.sheet.write(x, (floor + top) / 2 - 0.2, f"{stack.layer_parameters:,}\nparameters\neach", **SMALL)

    def shaped(self, shape):
        """A shape in words."""
        sizes = [f"{size:,}" for size in shape[2:]]
        return f"({', '.join(['batch', self.length, *sizes])})"


def hand_over(sheet, encoder, decoder):
    """Draws the memory, of which the decoder's attention takes keys and values."""
    top, lane = encoder.y + 0.45, (ENCODER + DECODER) / 2
    sheet.line((ENCODER, encoder.y), (ENCODER, top), (lane, top), (lane, decoder.memory))
    for x in (DECODER - HEADS, DECODER - HEADS / 2):
        sheet.arrow((lane, decoder.memory), (x, decoder.memory), (x, decoder.memory + ENTRY))
    sheet.write(ENCODER, top + 0.12, "memory, read as keys and values", **SMALL)


def project(sheet, column, linear):
    """Draws the output projection, and the softmax, which the model leaves to others."""
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
    """The parameters of all parts, as a sum."""
    norms = [stack.norm.parameters for stack in (shape.encoder, shape.decoder) if stack.norm]
    parts = {
        "input embedding": f"{shape.encoder.embedding.parameters:,}",
        "encoder": f"{shape.encoder.num_layers} × {shape.encoder.layer_parameters:,}",
        "output embedding": f"{shape.decoder.embedding.parameters:,}",
        "decoder": f"{shape.decoder.num_layers} × {shape.decoder.layer_parameters:,}",
        "final norms": f"{sum(norms):,}",
        "linear": f"{shape.linear.parameters:,}",
    }
    return " + ".join(f"{number} ({name})" for name, number in parts.items() if number != "0")
