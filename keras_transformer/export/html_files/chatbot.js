// The chatbot: answers a question as the run does, by retrieving an answer or by generating one.

const GENERATE = "generate", HYBRID = "hybrid";
const SOURCES = 3; // Maximum number of matches per answer.
const EXAMPLES = 3; // Known questions that are named as examples.
const BETWEEN = "\n"; // Joins the turns of a conversation.

class Chatbot {
  constructor(data) {
    const { settings, tensor, has } = data;
    this.settings = settings;
    this.maxLength = settings.config.max_length;
    this.tokenizer = new Tokenizer(tensor("tokenizer.model").values);
    const own = has("target_tokenizer.model");
    this.targetTokenizer = own ? new Tokenizer(tensor("target_tokenizer.model").values) : this.tokenizer;
    this.model = new Transformer(data);
    this.index = null;
    if (has("exchanges")) {
      const columns = JSON.parse(textOf(tensor("exchanges").values));
      const exchanges = columns.question.map((question, i) => ({
        question,
        answer: columns.answer[i],
        file: columns.files[columns.file[i]] ?? null,
        row: columns.row[i],
        taught: columns.taught[i],
      }));
      this.index = new QuestionIndex(exchanges, data);
    }
  }

  // Returns the input of the encoder: start, pieces, end. Long questions are cut, and the earliest turns are dropped.
  idsOf(question) {
    const { turns } = this.settings.config;
    const lines = turns === 1 ? [question] : question.split(BETWEEN).filter((turn) => !isBlank(turn)).slice(-turns);
    let rows = lines.map((line) => this.tokenizer.encode(line));
    const length = () => rows.reduce((sum, row) => sum + row.length + 1, 1);
    while (rows.length > 1 && length() > this.maxLength) rows = rows.slice(1);
    const pieces = rows.flatMap((row) => [SEPARATOR_ID, ...row]).slice(1);
    return [START_ID, ...pieces.slice(0, this.maxLength - 2), END_ID];
  }

  // Returns the nearest exchanges of a question.
  matches(question) {
    return this.index ? this.index.nearest(question, SOURCES) : [];
  }

  // Returns whether the nearest match answers. A taught exchange that is near does in every way of answering.
  retrieves([first], way) {
    if (!first) return false;
    const { similarity, taught_similarity: least } = this.settings.answering;
    if (first.exchange.taught && first.similarity >= least) return true;
    return way !== GENERATE && (way !== HYBRID || first.similarity >= similarity);
  }

  // Returns the answer of the nearest match. Its sources are the matches with this answer, then the others.
  retrieved(near) {
    const text = near[0].exchange.answer;
    const sources = [...near].sort((a, b) => (a.exchange.answer !== text) - (b.exchange.answer !== text));
    const unsure = sources[0].similarity < this.settings.answering.unsure;
    return { text, score: null, sources, unsure };
  }

  // Yields the answer to a question while it grows; the last one is complete: text, score (null if it was retrieved),
  // sources, and, if it was generated, ids.
  *answer(question, way = this.settings.answering.way, numBeams = 1) {
    if (isBlank(question)) {
      yield { text: "", score: 0, sources: [], unsure: false };
      return;
    }
    const near = this.matches(question);
    if (this.retrieves(near, way)) {
      yield this.retrieved(near);
      return;
    }
    if (this.settings.memorized && way !== GENERATE && !near.length) {
      yield { text: "", score: null, sources: [], unsure: true };
      return;
    }
    const ids = this.idsOf(question);
    const { fallback } = this.settings;
    const answers =
      numBeams === 1
        ? greedy(this.model, ids, this.maxLength - 1)
        : [beamSearch(this.model, ids, this.maxLength - 1, numBeams)];
    let last;
    for (const answer of answers) {
      const text = this.targetTokenizer.decode(answer.ids);
      last = { text, score: answer.score, sources: near, unsure: false, ids: answer.ids };
      if (!fallback) yield { ...last, text: this.targetTokenizer.settled(text) };
    }
    yield fallback && this.refuses(last.score, question, ids) ? { ...last, text: fallback.text } : last;
  }

  // Returns whether the fallback replaces an answer: its score is too low, or its question has too many pieces.
  refuses(score, question, ids) {
    const { least_score: leastScore, most_pieces: mostPieces } = this.settings.fallback;
    return score < leastScore || (ids.length - 2) / [...question].length > mostPieces;
  }

  // Returns the complete answer to a question.
  reply(question, way, numBeams) {
    return [...this.answer(question, way, numBeams)].at(-1);
  }

  // Returns the texts of the unknown characters if a question has no others and is not answered from the datastore.
  unknownOnly(query, question, way) {
    const { unknown, nothingElse } = this.tokenizer.unknown(question);
    return nothingElse && !this.retrieves(this.matches(query), way) ? unknown : [];
  }

  // Returns what a bot that memorized its corpus says if it does not know the question, else null: a reply to a courtesy
  // or "", known questions to ask instead, and whether they are near the question or examples.
  guidance(query, question, way) {
    if (!this.settings.memorized || this.settings.fallback || way === GENERATE || isBlank(question)) return null;
    const near = this.matches(query);
    const said = this.courtesy(question);
    if (said && !(near.length && this.courtesy(near[0].exchange.question) === said)) {
      return { reply: said.reply, questions: said.with_examples ? this.examples() : [], near: false };
    }
    if (!near.length) return { reply: "", questions: this.examples(), near: false };
    if (!this.retrieves(near, way) || !(this.retrieved(near).unsure || this.isTorn(near))) return null;
    return { reply: "", questions: [...new Set(near.map(({ exchange }) => exchange.question))], near: true };
  }

  // Returns whether another question with a different answer is about as near as the first one.
  isTorn([first, ...others]) {
    const { clear_similarity: clear, least_lead: least } = this.settings.answering;
    const second = others.find(({ exchange }) => exchange.answer !== first.exchange.answer);
    return Boolean(second) && first.similarity < clear && first.similarity - second.similarity < least;
  }

  // Returns the courtesy that a text consists of, whatever its spaces and punctuation, if it is one.
  courtesy(text) {
    const letters = text.normalize("NFC").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
    return this.settings.courtesies.find(({ pattern }) => new RegExp(`^(?:${pattern})$`, "u").test(letters));
  }

  // Returns the first questions of the corpus that have different answers.
  examples() {
    const byAnswer = new Map();
    for (const { question, answer } of this.index.exchanges) {
      if (!byAnswer.has(answer)) byAnswer.set(answer, question);
      if (byAnswer.size === EXAMPLES) break;
    }
    return [...byAnswer.values()];
  }

  // Traces the attention of the model while it reads a question and writes the answer: the tokens of both, the answer,
  // and the weights of the rows by kind and layer.
  trace(question) {
    const ids = this.idsOf(question);
    const answer = [...greedy(this.model, ids, this.maxLength - 1)].at(-1);
    return {
      question: this.tokenizer.piecesOf(ids),
      answer: this.targetTokenizer.piecesOf(answer.ids),
      text: this.targetTokenizer.decode(answer.ids),
      weights: answer.attention,
    };
  }
}
