// The Transformer (section 3 of the paper), step by step: encodes a question once, then decodes one token at a time.
//
// Matrices of activations are Float32Arrays, row after row. Sums are computed in float64 and stored as float32.

const EPSILON = 1e-6; // Of layer normalization.

// A dense layer x W + b, with W stored by output: (units, depth).
class Dense {
  constructor(values, depth, bias) {
    this.values = values;
    this.depth = depth;
    this.bias = bias;
  }

  // `values` is (depth, units), as Keras stores kernels.
  static of(tensor, name) {
    const { shape: [depth, units], values } = tensor(`${name}/kernel`);
    const byUnit = new Float32Array(values.length);
    for (let i = 0, place = 0; i < depth; i++) {
      for (let j = 0; j < units; j++, place++) byUnit[j * depth + i] = values[place];
    }
    return new Dense(byUnit, depth, tensor(`${name}/bias`).values);
  }

  get units() {
    return this.values.length / this.depth;
  }

  // Maps rows (rows, depth) to rows (rows, units). Four rows at a time share each reading of a weight.
  apply(x) {
    const rows = x.length / this.depth;
    const y = new Float32Array(rows * this.units);
    let row = 0;
    for (; row + 4 <= rows; row += 4) this.fourRows(x, y, row);
    for (; row < rows; row++) this.oneRow(x, y, row);
    return y;
  }

  oneRow(x, y, row) {
    const { values, depth, bias, units } = this;
    const input = x.subarray(row * depth, (row + 1) * depth);
    const whole = depth - (depth % 4);
    for (let j = 0, place = 0; j < units; j++) {
      let a = 0, b = 0, c = 0, d = 0, i = 0;
      for (; i < whole; i += 4, place += 4) {
        a += input[i] * values[place];
        b += input[i + 1] * values[place + 1];
        c += input[i + 2] * values[place + 2];
        d += input[i + 3] * values[place + 3];
      }
      for (; i < depth; i++, place++) a += input[i] * values[place];
      y[row * units + j] = a + b + c + d + (bias ? bias[j] : 0);
    }
  }

  fourRows(x, y, row) {
    const { values, depth, bias, units } = this;
    const [one, two, three, four] = [0, 1, 2, 3].map((n) => x.subarray((row + n) * depth, (row + n + 1) * depth));
    for (let j = 0, place = 0; j < units; j++) {
      let a = 0, b = 0, c = 0, d = 0;
      for (let i = 0; i < depth; i++, place++) {
        const weight = values[place];
        a += one[i] * weight;
        b += two[i] * weight;
        c += three[i] * weight;
        d += four[i] * weight;
      }
      const added = bias ? bias[j] : 0;
      const at = row * units + j;
      y[at] = a + added;
      y[at + units] = b + added;
      y[at + 2 * units] = c + added;
      y[at + 3 * units] = d + added;
    }
  }
}

class LayerNorm {
  constructor(tensor, name) {
    this.gamma = tensor(`${name}/gamma`).values;
    this.beta = tensor(`${name}/beta`).values;
  }

  apply(x) {
    const width = this.gamma.length;
    const y = new Float32Array(x.length);
    for (let start = 0; start < x.length; start += width) {
      const row = x.subarray(start, start + width);
      const mean = row.reduce((sum, value) => sum + value, 0) / width;
      const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width;
      const scale = 1 / Math.sqrt(variance + EPSILON);
      for (let i = 0; i < width; i++) y[start + i] = (row[i] - mean) * scale * this.gamma[i] + this.beta[i];
    }
    return y;
  }
}

// Residual connection and normalization: post-norm LayerNorm(x + f(x)), or pre-norm x + f(LayerNorm(x)).
class AddAndNorm {
  constructor(tensor, name, normFirst) {
    this.norm = new LayerNorm(tensor, `${name}/norm`);
    this.normFirst = normFirst;
  }

  around(x, sublayer) {
    const sum = sublayer(this.normFirst ? this.norm.apply(x) : x).map((value, i) => x[i] + value);
    return this.normFirst ? sum : this.norm.apply(sum);
  }
}

// Multi-head attention (section 3.2.2). `off` holds the numbers of the heads whose output is replaced with zeros.
class Attention {
  constructor(tensor, name, numHeads) {
    this.query = Dense.of(tensor, `${name}/query`);
    this.key = Dense.of(tensor, `${name}/key`);
    this.value = Dense.of(tensor, `${name}/value`);
    this.output = Dense.of(tensor, `${name}/output`);
    this.numHeads = numHeads;
    this.off = new Set();
  }

  // Attends from the rows `x` to keys and values. `lengthOf` and `cacheOf` return the number of keys that a row may
  // attend to, and the cache with its keys and values. Adds the weights of each row, an array by head, to `trace`.
  apply(x, cacheOf, lengthOf, trace) {
    const width = this.query.units;
    const queries = this.query.apply(x);
    const attended = new Float32Array(queries.length);
    for (let row = 0; row < queries.length / width; row++) {
      const cache = cacheOf(row);
      const weights = [];
      for (let head = 0; head < this.numHeads; head++) {
        weights.push(this.attend(queries, cache, row, head, lengthOf(row), attended));
      }
      trace?.push(weights);
    }
    return this.output.apply(attended);
  }

  // Writes the output of one head for one row (section 3.2.1, equation 1), and returns its weights.
  attend(queries, { keys, values }, row, head, length, attended) {
    const width = this.query.units;
    const depth = width / this.numHeads;
    const start = head * depth;
    const query = queries.subarray(row * width + start, row * width + start + depth);
    const weights = new Float32Array(length);
    for (let i = 0; i < length; i++) {
      let sum = 0;
      for (let n = 0, place = i * width + start; n < depth; n++, place++) sum += query[n] * keys[place];
      weights[i] = sum / Math.sqrt(depth);
    }
    softmax(weights);
    if (this.off.has(head)) return weights;
    for (let n = 0; n < depth; n++) {
      let sum = 0;
      for (let i = 0; i < length; i++) sum += weights[i] * values[i * width + start + n];
      attended[row * width + start + n] = sum;
    }
    return weights;
  }

  keysAndValues(x) {
    return { keys: this.key.apply(x), values: this.value.apply(x) };
  }
}

// Replaces logits with their softmax.
function softmax(logits) {
  const highest = logits.reduce((most, value) => Math.max(most, value), -Infinity);
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += logits[i] = Math.exp(logits[i] - highest);
  for (let i = 0; i < logits.length; i++) logits[i] /= sum;
}

class FeedForward {
  constructor(tensor, name) {
    this.inner = Dense.of(tensor, `${name}/inner`);
    this.outer = Dense.of(tensor, `${name}/outer`);
  }

  apply(x) {
    return this.outer.apply(this.inner.apply(x).map((value) => Math.max(0, value)));
  }
}

class Transformer {
  constructor({ tensor, has, settings }) {
    const { num_layers: numLayers, num_heads: numHeads, norm_first: normFirst, d_model: width } = settings.config;
    const table = (name) => new Dense(tensor(`${name}/table`).values, width);
    this.width = width;
    this.source = table(has("embedding/table") ? "embedding" : "source_embedding");
    this.target = has("embedding/table") ? this.source : table("target_embedding");
    this.project = has("outputs/kernel") ? Dense.of(tensor, "outputs") : this.target; // Tied weights.
    const attention = (name) => new Attention(tensor, name, numHeads);
    const norm = (name) => new AddAndNorm(tensor, name, normFirst);
    const layers = (stack, kinds) =>
      Array.from({ length: numLayers }, (_, i) => {
        const name = `${stack}/layer_${i}`;
        const layer = { feedForward: new FeedForward(tensor, `${name}/feed_forward`) };
        for (const kind of kinds) layer[kind] = attention(`${name}/${kind}`);
        for (const kind of [...kinds, "feed_forward"]) layer[`${kind}_norm`] = norm(`${name}/${kind}_norm`);
        return layer;
      });
    this.encoder = layers("encoder", ["self_attention"]);
    this.decoder = layers("decoder", ["self_attention", "cross_attention"]);
    const final = (stack) => (normFirst ? new LayerNorm(tensor, `${stack}/norm`) : { apply: (x) => x });
    this.encoderNorm = final("encoder");
    this.decoderNorm = final("decoder");
  }

  // Returns the attention layers of a kind of attention, by layer.
  attentions(kind) {
    if (kind === "encoder") return this.encoder.map((layer) => layer.self_attention);
    return this.decoder.map((layer) => (kind === "cross" ? layer.cross_attention : layer.self_attention));
  }

  embed(table, ids, positions) {
    const x = new Float32Array(ids.length * this.width);
    ids.forEach((id, row) => {
      for (let i = 0; i < this.width; i++) {
        const scaled = Math.fround(table.values[id * this.width + i] * Math.sqrt(this.width));
        x[row * this.width + i] = scaled + this.positionalEncoding(positions[row], i);
      }
    });
    return x;
  }

  // Section 3.5: sines on even and cosines on odd indices.
  positionalEncoding(position, i) {
    const angle = Math.fround(position * Math.fround(10000 ** (-2 * Math.floor(i / 2) / this.width)));
    return Math.fround(i % 2 ? Math.cos(angle) : Math.sin(angle));
  }

  // Encodes the ids of a question. Returns its keys and values for each decoder layer, and the weights of the encoder.
  encode(ids) {
    const trace = [];
    let x = this.embed(this.source, ids, ids.map((_, i) => i));
    for (const layer of this.encoder) {
      const weights = [];
      x = layer.self_attention_norm.around(x, (input) => {
        const cache = layer.self_attention.keysAndValues(input);
        return layer.self_attention.apply(input, () => cache, () => ids.length, weights);
      });
      x = layer.feed_forward_norm.around(x, (input) => layer.feedForward.apply(input));
      trace.push(weights);
    }
    const memory = this.encoderNorm.apply(x);
    const cross = this.decoder.map((layer) => layer.cross_attention.keysAndValues(memory));
    return { cross, length: ids.length, trace };
  }

  // Creates the cache of one answer: room for the keys and values of each decoder layer.
  startCache(rows) {
    const room = () => new Float32Array(rows * this.width);
    return this.decoder.map(() => ({ keys: room(), values: room() }));
  }

  // Decodes the token at a position for one or several answers to a question.
  // Returns the logits of the next tokens, and the weights by layer and answer.
  decodeStep(question, ids, position, caches) {
    const trace = { decoder: [], cross: [] };
    let x = this.embed(this.target, ids, ids.map(() => position));
    this.decoder.forEach((layer, i) => {
      const own = [];
      const cross = [];
      x = layer.self_attention_norm.around(x, (input) => {
        const added = layer.self_attention.keysAndValues(input);
        caches.forEach((cache, row) => {
          for (const kind of ["keys", "values"]) {
            const values = added[kind].subarray(row * this.width, (row + 1) * this.width);
            cache[i][kind].set(values, position * this.width);
          }
        });
        return layer.self_attention.apply(input, (row) => caches[row][i], () => position + 1, own);
      });
      x = layer.cross_attention_norm.around(x, (input) =>
        layer.cross_attention.apply(input, () => question.cross[i], () => question.length, cross),
      );
      x = layer.feed_forward_norm.around(x, (input) => layer.feedForward.apply(input));
      trace.decoder.push(own);
      trace.cross.push(cross);
    });
    return { logits: this.project.apply(this.decoderNorm.apply(x)), trace };
  }
}
