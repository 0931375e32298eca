// Greedy decoding and beam search, as in `decoding/loop.py` and `decoding/beam_search.py` of the package.

const IMPOSSIBLE = -1e9;
const LENGTH_PENALTY = 0.6; // α of Wu et al. 2016, equation 14.

// Converts logits to log-probabilities.
function logSoftmax(logits) {
  const highest = logits.reduce((most, value) => Math.max(most, value), -Infinity);
  const sum = logits.reduce((total, value) => total + Math.exp(value - highest), 0);
  const offset = highest + Math.log(sum);
  return logits.map((value) => value - offset);
}

// Yields the answer after each token: its ids, its score and the weights of its tokens by layer.
function* greedy(model, ids, maxLength) {
  const question = model.encode(ids);
  const cache = model.startCache(maxLength);
  const answer = { ids: [], score: 0, attention: { encoder: question.trace, decoder: [], cross: [] } };
  for (let last = START_ID; last !== END_ID && answer.ids.length < maxLength; ) {
    const { logits, trace } = model.decodeStep(question, [last], answer.ids.length, [cache]);
    const logProbabilities = logSoftmax(logits);
    last = 1; // Padding, which is 0, is never chosen.
    for (let id = 2; id < logits.length; id++) if (logProbabilities[id] > logProbabilities[last]) last = id;
    answer.ids.push(last);
    answer.score = Math.fround(answer.score + logProbabilities[last]);
    addWeights(answer.attention, trace);
    yield answer;
  }
}

// Appends the weights of one step to those of the previous ones, by kind and layer.
function addWeights(attention, trace) {
  for (const kind of ["decoder", "cross"]) {
    trace[kind].forEach(([weights], layer) => (attention[kind][layer] ??= []).push(weights));
  }
}

// Returns the best answer of a beam search: its ids and its score.
function beamSearch(model, ids, maxLength, numBeams) {
  const question = model.encode(ids);
  let alive = [{ ids: [], score: 0, cache: model.startCache(maxLength) }];
  let finished = [];
  for (let length = 1; length <= maxLength; length++) {
    const candidates = bestCandidates(model, question, alive, 2 * numBeams);
    const ended = candidates.filter((one) => one.ids.at(-1) === END_ID);
    finished = best([...finished, ...ended.map((one) => ranked(one, length))], numBeams);
    const rest = candidates.filter((one) => one.ids.at(-1) !== END_ID).slice(0, numBeams);
    if (!rest.length || (finished.length && rest[0].score / penalty(maxLength) <= finished[0].rank)) break;
    alive = rest.map((one) => ({ ...one, cache: one.cache.map(copyOf) }));
    if (length === maxLength) finished = best([...finished, ...alive.map((one) => ranked(one, length))], numBeams);
  }
  return finished[0];
}

// Extends hypotheses by one token, and returns the candidates with the highest scores, best first.
function bestCandidates(model, question, alive, number) {
  const last = alive.map((one) => one.ids.at(-1) ?? START_ID);
  const { logits } = model.decodeStep(question, last, alive[0].ids.length, alive.map((one) => one.cache));
  const size = logits.length / alive.length;
  const candidates = alive.flatMap((one, row) => {
    const logProbabilities = logSoftmax(logits.subarray(row * size, (row + 1) * size));
    logProbabilities[0] = IMPOSSIBLE; // Padding.
    return highest(logProbabilities, number).map((id) => ({
      ids: [...one.ids, id],
      score: Math.fround(one.score + logProbabilities[id]),
      cache: one.cache,
    }));
  });
  return candidates.sort((a, b) => b.score - a.score).slice(0, number);
}

// Returns the indices of the highest values, in descending order; of equal ones, the first comes first.
function highest(values, number) {
  const least = Float32Array.from(values).sort().at(-Math.min(number, values.length));
  const indices = [];
  values.forEach((value, i) => value >= least && indices.push(i));
  return indices.sort((a, b) => values[b] - values[a]).slice(0, number);
}

function penalty(length) {
  return ((5 + length) / 6) ** LENGTH_PENALTY;
}

function ranked(hypothesis, length) {
  return { ...hypothesis, rank: hypothesis.score / penalty(length) };
}

function best(hypotheses, number) {
  return hypotheses.sort((a, b) => b.rank - a.rank).slice(0, number);
}

function copyOf({ keys, values }) {
  return { keys: keys.slice(), values: values.slice() };
}
