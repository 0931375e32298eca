// Text normalization, as in `text/normalize.py` and `text/character_ngrams.py` of the package.

// All characters that Python or Unicode treats as white space.
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
const LETTERS = [2, 4]; // Minimum and maximum length of n-grams of letters only, such as " ta" and "cat".
const SYLLABLES = [1, 2]; // The same with a syllable or an ideograph.
const MOOD = /[\u3131-\u318e!~^]/g; // Ignored: single Hangul letters, such as those of ㅋㅋ and ㅠㅠ, and some signs.
const FIRST_SYLLABLE = 0x2e80; // Alphabets, digits and signs precede it. Kana, Chinese characters and Hangul follow it.

// Applies Unicode NFC, collapses white space into single spaces and strips the ends.
function normalize(text) {
  return text.normalize("NFC").replace(SPACES, " ").replace(/^ | $/g, "");
}

function isBlank(text) {
  return normalize(text) === "";
}

// Returns the n-grams of a normalized text. Every word is padded with one space on each side.
function characterNgrams(text) {
  const others = text.replace(MOOD, "");
  const words = (isBlank(others) ? text : others).toLowerCase().split(" ").filter(Boolean);
  return words.flatMap((word) => ngramsOfWord([...` ${word} `]));
}

function ngramsOfWord(characters) {
  const ngrams = [];
  for (let start = 0; start < characters.length; start++) {
    let ngram = "";
    let bounds = LETTERS;
    for (let length = 1; length <= bounds[1] && start + length <= characters.length; length++) {
      const character = characters[start + length - 1];
      ngram += character;
      if (character.codePointAt(0) >= FIRST_SYLLABLE) bounds = SYLLABLES;
      if (bounds[0] <= length && length <= bounds[1]) ngrams.push(ngram);
    }
  }
  return ngrams;
}
