"use strict";

// Reads the data of the file: base64 of a compressed safetensors file, whose metadata holds the settings.

const SCALE = "/scale"; // Suffix of the names of the scales of an int8 matrix.

// Decodes base64, decompresses it, and returns the settings and a function from names to tensors.
async function readData(base64) {
  const characters = atob(base64);
  const compressed = new Uint8Array(characters.length);
  for (let i = 0; i < compressed.length; i++) compressed[i] = characters.charCodeAt(i);
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return readTensors(await new Response(stream).arrayBuffer());
}

function readTensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const { __metadata__: metadata, ...header } = JSON.parse(textOf(new Uint8Array(buffer, 8, length)));
  const arrays = {
    F32: (bytes) => new Float32Array(bytes),
    F16: (bytes) => Float32Array.from(new Uint16Array(bytes), fromHalf),
    I32: (bytes) => new Int32Array(bytes),
    I8: (bytes) => new Int8Array(bytes),
    U8: (bytes) => new Uint8Array(bytes),
  };
  const read = (name) => {
    const { dtype, shape, data_offsets: [start, end] } = header[name];
    return { shape, values: arrays[dtype](buffer.slice(8 + length + start, 8 + length + end)) };
  };
  const tensor = (name) => (name + SCALE in header ? dequantized(read(name), read(name + SCALE)) : read(name));
  return { settings: JSON.parse(metadata.settings), has: (name) => name in header, tensor };
}

// Multiplies an int8 matrix by its scales, one for each row or each column.
function dequantized({ shape, values }, scale) {
  const [rows, columns] = shape;
  const floats = new Float32Array(values.length);
  const byRow = scale.shape[1] === 1;
  for (let i = 0, place = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++, place++) floats[place] = values[place] * scale.values[byRow ? i : j];
  }
  return { shape, values: floats };
}

function textOf(bytes) {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

// Converts the bits of a float16 number to a number.
function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}

const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

// Rounds a float32 number to the nearest float16 number; of two equally near ones, to the even one.
function roundToHalf(number) {
  if (Math.abs(number) < 2 ** -14) return number + 1.5 * 2 ** 28 - 1.5 * 2 ** 28; // Multiples of 2^-24.
  FLOAT[0] = number;
  BITS[0] = (BITS[0] + 0xfff + ((BITS[0] >> 13) & 1)) & ~0x1fff;
  return FLOAT[0];
}
