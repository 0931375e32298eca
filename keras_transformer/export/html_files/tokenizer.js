// A SentencePiece model: text to token ids and back, as the operations in `text/ops` of the package do it.

const SPACE = "▁"; // Stands for a space in pieces.
const NORMAL = 1, UNKNOWN = 2, CONTROL = 3, BYTE = 6; // Types of pieces.
const UNK_ID = 1, START_ID = 2, END_ID = 3, SEPARATOR_ID = 4; // After padding, 0.
const SEPARATOR = "<sep>";
const UNKNOWN_PENALTY = 10; // Unknown characters score this much below the worst piece.
const INCOMPLETE = "\ufffd"; // Incomplete bytes of a character decode to this.
const DEFAULT_PIECE = { 1: "", 2: 0, 3: NORMAL };
const NAMES = { [START_ID]: "<start>", [END_ID]: "<end>" };

// Protocol buffers: reads the fields of a message by number. `kinds` maps them to readers; others are skipped.
function* fieldsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let place = 0;
  const varint = () => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = bytes[place++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (place < bytes.length) {
    const tag = varint();
    const kind = tag & 7;
    if (kind === 0) {
      yield [tag >> 3, varint()];
    } else if (kind === 5) {
      yield [tag >> 3, view.getFloat32((place += 4) - 4, true)];
    } else if (kind === 1) {
      yield [tag >> 3, view.getFloat64((place += 8) - 8, true)];
    } else {
      const length = varint();
      yield [tag >> 3, bytes.subarray(place, (place += length))];
    }
  }
}

function messageOf(bytes = new Uint8Array()) {
  return Object.fromEntries(fieldsOf(bytes));
}

// Replacement rules: a double array (Darts-clone) of UTF-8 strings, and their replacements. The longest match wins.
class Rules {
  constructor(charsmap) {
    const size = new DataView(charsmap.buffer, charsmap.byteOffset).getUint32(0, true);
    this.units = new Uint32Array(charsmap.slice(4, 4 + size).buffer);
    this.replacements = charsmap.subarray(4 + size);
  }

  apply(text) {
    const bytes = new TextEncoder().encode(text);
    const replaced = [];
    for (let place = 0; place < bytes.length; ) {
      const [length, value] = this.match(bytes, place);
      if (length) {
        for (let at = value; this.replacements[at]; at++) replaced.push(this.replacements[at]);
        place += length;
      } else {
        do replaced.push(bytes[place++]);
        while ((bytes[place] & 0xc0) === 0x80); // The other bytes of the character.
      }
    }
    return textOf(new Uint8Array(replaced));
  }

  // Returns the length of the longest match at a place, 0 if there is none, and the place of its replacement.
  match(bytes, start) {
    const childrenOf = (node) => (node ^ ((this.units[node] >>> 10) << (this.units[node] & 0x200 ? 8 : 0))) >>> 0;
    let children = childrenOf(0);
    let found = [0, 0];
    for (let place = start; place < bytes.length; place++) {
      const node = children ^ bytes[place];
      if ((this.units[node] & 0x800000ff) !== bytes[place]) break;
      children = childrenOf(node);
      if (this.units[node] & 0x100) found = [place - start + 1, this.units[children] & 0x7fffffff];
    }
    return found;
  }
}

// Normalization of a model, before segmentation or after detokenization.
class Normalizer {
  constructor(bytes) {
    const { 2: charsmap, 3: prefixes = 1, 4: trims = 1, 5: escapes = 1 } = messageOf(bytes);
    this.rules = charsmap?.length ? new Rules(charsmap) : null;
    this.prefixes = Boolean(prefixes);
    this.trims = Boolean(trims);
    this.space = escapes ? SPACE : " ";
  }

  replace(text) {
    return this.rules ? this.rules.apply(text) : text;
  }

  apply(text) {
    if (!text) return "";
    let replaced = this.replace(text);
    if (this.trims) replaced = replaced.replace(/ +/g, " ").replace(/^ /, "");
    replaced = (this.prefixes ? this.space : "") + replaced.replaceAll(" ", this.space);
    return this.trims ? replaced.replace(new RegExp(`${this.space}+$`), "") : replaced;
  }
}

// Segmentations: each returns pieces, which may be unknown.

// Finds the segmentation with the highest sum of scores. Sums are rounded to float32, as in SentencePiece.
function unigram(characters, vocabulary) {
  const worst = Math.min(...Array.from(vocabulary.ids.values(), (id) => vocabulary.scores[id]));
  const unknown = Math.fround(worst - UNKNOWN_PENALTY);
  const sums = new Array(characters.length + 1).fill(-Infinity);
  const starts = [];
  sums[0] = 0;
  for (let start = 0; start < characters.length; start++) {
    for (let end = start + 1, piece = ""; end <= Math.min(characters.length, start + vocabulary.longest); end++) {
      piece += characters[end - 1];
      const id = vocabulary.ids.get(piece);
      if (id === undefined && end > start + 1) continue;
      const sum = Math.fround(sums[start] + (id === undefined ? unknown : vocabulary.scores[id]));
      if (sum > sums[end]) [sums[end], starts[end]] = [sum, start];
    }
  }
  const pieces = [];
  for (let end = characters.length; end > 0; end = starts[end]) {
    pieces.unshift(characters.slice(starts[end], end).join(""));
  }
  return pieces;
}

// Repeatedly joins the adjacent pair whose piece has the highest score; of equal ones, the first.
function bytePairs(characters, vocabulary) {
  const pieces = [...characters];
  for (;;) {
    let best = -1;
    let highest = -Infinity;
    for (let i = 0; i + 1 < pieces.length; i++) {
      const score = vocabulary.scores[vocabulary.ids.get(pieces[i] + pieces[i + 1])];
      if (score > highest) [best, highest] = [i, score];
    }
    if (best < 0) return pieces;
    pieces.splice(best, 2, pieces[best] + pieces[best + 1]);
  }
}

function splitWords(characters) {
  return characters.join("").replaceAll(SPACE, ` ${SPACE}`).split(SPACES).filter(Boolean);
}

const SEGMENTATIONS = { 1: unigram, 2: bytePairs, 3: splitWords, 4: (characters) => characters };
const WORDS_TYPE = 3;

class Tokenizer {
  // `bytes` is a serialized ModelProto.
  constructor(bytes) {
    const fields = [...fieldsOf(bytes)];
    const spec = (number) => fields.findLast(([field]) => field === number)?.[1];
    const pieces = fields.filter(([field]) => field === 1).map(([, piece]) => ({ ...DEFAULT_PIECE, ...messageOf(piece) }));
    const trainer = messageOf(spec(2));
    this.pieces = pieces.map(({ 1: text, 3: type }) => ({ text: text && textOf(text), type }));
    this.normalizer = new Normalizer(spec(3));
    this.denormalizer = new Normalizer(spec(5));
    this.type = trainer[3] ?? 1;
    this.spells = Boolean(trainer[35]); // Unknown characters are encoded as UTF-8 bytes.
    this.unknownText = trainer[44] ? textOf(trainer[44]) : " ⁇ ";
    this.size = pieces.length;
    const ids = (wanted) => new Map(this.pieces.flatMap(({ text, type }, id) => (type === wanted ? [[text, id]] : [])));
    this.vocabulary = { ids: ids(NORMAL), scores: pieces.map((piece) => piece[2]) };
    this.vocabulary.longest = Math.max(...[...this.vocabulary.ids.keys()].map((piece) => [...piece].length));
    this.byteIds = ids(BYTE);
    this.names = { ...NAMES, ...(this.pieces[SEPARATOR_ID]?.text === SEPARATOR && { [SEPARATOR_ID]: "<separator>" }) };
  }

  // Tokenizes a text, without start and end.
  encode(text) {
    const characters = [...this.normalizer.apply(normalize(text))];
    const ids = [];
    for (const piece of characters.length ? SEGMENTATIONS[this.type](characters, this.vocabulary) : []) {
      const id = this.vocabulary.ids.get(piece);
      if (id !== undefined) ids.push(id);
      else if (this.spells) ids.push(...this.spell(piece));
      else if (ids.at(-1) !== UNK_ID) ids.push(UNK_ID); // A run of unknowns is one.
    }
    return ids;
  }

  spell(character) {
    const name = (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
    return Array.from(new TextEncoder().encode(character), (byte) => this.byteIds.get(name(byte)));
  }

  decode(ids) {
    const { prefixes, trims } = this.normalizer;
    let text = "";
    let begun = false;
    let bytes = [];
    for (const id of [...ids, 0]) {
      const { text: piece, type } = this.pieces[id];
      if (type === BYTE) {
        bytes.push(parseInt(piece.slice(3, -1), 16));
        begun = true;
        continue;
      }
      text += charactersOf(bytes);
      bytes = [];
      if (type === CONTROL) continue;
      const drops = !begun && (prefixes || trims) && piece.startsWith(SPACE);
      const surface = type === UNKNOWN ? this.unknownText : piece.replaceAll(SPACE, " ").slice(drops ? 1 : 0);
      text += surface;
      begun ||= Boolean(surface) || (drops && !trims);
    }
    return this.denormalizer.replace(text);
  }

  // Returns the text of each id by itself.
  piecesOf(ids) {
    return ids.map((id) => this.names[id] ?? (this.decode([id]) || SPACE));
  }

  // Returns the unknown characters (or words) of a text, without duplicates, and whether there are no others.
  unknown(text) {
    const normal = normalize(text);
    const units = new Set(this.type === WORDS_TYPE ? normal.split(" ").filter(Boolean) : normal.replaceAll(" ", ""));
    const unknown = [...units].filter((unit) =>
      this.encode(unit).some((id) => [BYTE, UNKNOWN].includes(this.pieces[id].type)),
    );
    return { unknown, nothingElse: units.size > 0 && unknown.length === units.size };
  }

  // Returns the prefix of an unfinished answer that further tokens cannot change.
  settled(text) {
    const whole = text.replace(/\ufffd+$/, "");
    return this.denormalizer.rules && mayGrow(whole) ? whole.slice(0, -1) : whole;
  }
}

// Decodes the UTF-8 bytes of characters. Each byte that belongs to none becomes U+FFFD.
function charactersOf(bytes) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let place = 0; place < bytes.length; ) {
    const byte = bytes[place];
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    try {
      text += decoder.decode(new Uint8Array(bytes.slice(place, place + length)));
      place += length;
    } catch {
      text += INCOMPLETE;
      place += 1;
    }
  }
  return text;
}

// Returns whether a following Hangul letter could change the last syllable of a text.
function mayGrow(text) {
  const last = text.codePointAt(text.length - 1) ?? 0;
  return (0x1100 <= last && last < 0x1113) || (0xac00 <= last && last < 0xd7a4 && (last - 0xac00) % 28 === 0);
}
