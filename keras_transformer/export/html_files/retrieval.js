// Finds the known questions nearest to a question, as in `chat/question_index.py` of the package.
//
// The similarity is a weighted mean of two cosines: of TF-IDF vectors of character n-grams, and of embeddings learned
// from the exchanges. The index contains its weights. Numbers are rounded to float32 (embeddings: to float16) wherever the package rounds them.

const FEATURES = 2 ** 18; // Number of columns for n-grams.
const EMBEDDING_WEIGHT = 0.8; // Weight of the embeddings' cosine; the rest is that of the n-grams.
const CANDIDATES = 200; // Number of questions, nearest by n-grams, whose embeddings are compared.
const ANSWER_WEIGHT = Math.fround(0.3); // Weight of the answer of a known question, relative to the question.

const columnsByNgram = new Map(); // A cache.

// Returns the column of an n-gram in scikit-learn's `HashingVectorizer`: the absolute value of its signed hash.
function columnOf(ngram) {
  let column = columnsByNgram.get(ngram);
  if (column === undefined) {
    column = Math.abs(murmurHash(new TextEncoder().encode(ngram)) | 0) % FEATURES;
    columnsByNgram.set(ngram, column);
  }
  return column;
}

// MurmurHash3 (x86, 32 bits, seed 0).
function murmurHash(bytes) {
  const rotated = (number, bits) => (number << bits) | (number >>> (32 - bits));
  let hashed = 0;
  for (let start = 0; start < bytes.length; start += 4) {
    let word = 0;
    for (let i = start; i < Math.min(start + 4, bytes.length); i++) word |= bytes[i] << (8 * (i - start));
    hashed ^= Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
    if (start + 4 <= bytes.length) hashed = (Math.imul(rotated(hashed, 13), 5) + 0xe6546b64) | 0;
  }
  hashed ^= bytes.length;
  hashed = Math.imul(hashed ^ (hashed >>> 16), 0x85ebca6b);
  hashed = Math.imul(hashed ^ (hashed >>> 13), 0xc2b2ae35);
  return hashed ^ (hashed >>> 16);
}

// Scales a vector to unit length, in place. A zero vector stays zero.
function atLengthOne(vector) {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += vector[i] * vector[i];
  const length = Math.max(Math.fround(Math.sqrt(sum)), 1e-12);
  for (let i = 0; i < vector.length; i++) vector[i] /= length;
  return vector;
}

class QuestionIndex {
  // `exchanges` are the known questions and answers.
  constructor(exchanges, { tensor, has }) {
    this.exchanges = exchanges;
    this.idf = new Float32Array(FEATURES).fill(Infinity);
    const idf = tensor("idf/values").values;
    tensor("idf/columns").values.forEach((column, i) => (this.idf[column] = idf[i]));
    this.unseen = idf.at(-1); // Of all other n-grams.
    this.rows = new Int32Array(FEATURES).fill(-1); // Rows of the vectors of n-grams.
    this.dimensions = 0; // Of embeddings, which runs of the first versions lack.
    if (has("ngrams/table")) this.addVectors(tensor("ngrams/table"), tensor("ngrams/columns"));
    this.addExchanges();
  }

  addVectors({ shape, values }, columns) {
    this.dimensions = shape[1];
    this.vectors = values.map(roundToHalf);
    columns.values.forEach((column, row) => (this.rows[column] = row));
  }

  addExchanges() {
    this.exact = new Map(); // Numbers of the exchanges by their normalized question.
    this.embedded = new Float32Array(this.exchanges.length * this.dimensions);
    this.postings = new Array(FEATURES); // By column: each number of an exchange with this n-gram, and its weight.
    this.exchanges.forEach(({ question, answer }, number) => {
      const text = normalize(question);
      if (!this.exact.has(text)) this.exact.set(text, []);
      this.exact.get(text).push(number);
      const weighted = this.weighted(text);
      const embedded = this.embedding(weighted).map((value) => roundToHalf(Math.fround(EMBEDDING_WEIGHT * value)));
      this.embedded.set(embedded, number * this.dimensions);
      for (const [column, weight] of weighted) this.post(column, number, weight);
      for (const [column, weight] of this.weighted(normalize(answer))) {
        this.post(column, number, Math.fround(ANSWER_WEIGHT * weight));
      }
    });
    this.postings.forEach((list, column) => {
      if (this.rows[column] < 0) return; // Its n-gram has no vector.
      for (let i = 1; i < list.length; i += 2) list[i] = Math.fround(list[i] * Math.fround(1 - EMBEDDING_WEIGHT));
    });
  }

  // Adds the weight of an n-gram in an exchange, of which it may already have one.
  post(column, number, weight) {
    const list = (this.postings[column] ??= []);
    const last = list.length - 1;
    if (list[last - 1] === number) list[last] = Math.fround(list[last] + weight);
    else list.push(number, weight);
  }

  // Returns the columns of a normalized text's n-grams, ascending, with their TF-IDF weights, of unit length.
  weighted(text) {
    const counts = new Map();
    for (const ngram of characterNgrams(text)) {
      const column = columnOf(ngram);
      counts.set(column, (counts.get(column) ?? 0) + 1);
    }
    const found = [...counts.keys()].sort((a, b) => a - b);
    const idf = (column) => (this.idf[column] < Infinity ? this.idf[column] : this.unseen);
    const weights = atLengthOne(Float32Array.from(found, (column) => counts.get(column) * idf(column)));
    return found.map((column, i) => [column, weights[i]]);
  }

  // Returns the embedding of a text with these weights, of unit length, rounded to float16.
  embedding(weighted) {
    const sum = new Float32Array(this.dimensions);
    for (const [column, weight] of weighted) {
      const start = this.rows[column] * this.dimensions;
      if (start < 0) continue;
      for (let i = 0; i < this.dimensions; i++) sum[i] += Math.fround(weight * this.vectors[start + i]);
    }
    return atLengthOne(sum).map(roundToHalf);
  }

  // Returns the share of a text, by squared weight, whose n-grams have a vector.
  coverage(weighted) {
    const covered = weighted.filter(([column]) => this.rows[column] >= 0);
    return Math.fround(covered.reduce((sum, [, weight]) => sum + weight * weight, 0));
  }

  // Returns the exchanges with the nearest questions and their similarities, nearest first.
  nearest(question, count) {
    const text = normalize(question);
    if (!text) return [];
    const exact = this.exact.get(text) ?? [];
    const others = this.similar(this.weighted(text)).filter(({ number }) => !exact.includes(number));
    const matches = [...exact.map((number) => ({ number, similarity: 1 })), ...others].slice(0, count);
    return matches.map(({ number, similarity }) => ({ exchange: this.exchanges[number], similarity }));
  }

  similar(weighted) {
    const cosines = new Float32Array(this.exchanges.length);
    for (const [column, weight] of weighted) {
      const postings = this.postings[column] ?? [];
      for (let i = 0; i < postings.length; i += 2) cosines[postings[i]] += Math.fround(weight * postings[i + 1]);
    }
    const lexical = (number) => cosines[number];
    const known = [...cosines.keys()].filter(lexical).sort((a, b) => lexical(b) - lexical(a)).slice(0, CANDIDATES);
    const coverage = this.coverage(weighted);
    const embedding = this.embedding(weighted).map((value) => value * coverage);
    const similarity = (number) => {
      let product = 0;
      for (let i = 0; i < this.dimensions; i++) product += this.embedded[number * this.dimensions + i] * embedding[i];
      return Math.fround(lexical(number) + Math.fround(product));
    };
    const found = known.map((number) => ({ number, similarity: similarity(number) }));
    // Compared by five decimals, as in the package: the last bits of a sum depend on the order of its terms.
    const rounded = ({ similarity }) => Math.round(similarity * 1e5);
    found.sort((a, b) => rounded(b) - rounded(a) || a.number - b.number);
    return found.map((one) => ({ ...one, similarity: Math.max(0, Math.min(1, one.similarity)) }));
  }
}
