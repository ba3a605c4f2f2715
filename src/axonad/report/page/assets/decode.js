// Arrays of the page: base64 of small integers or 32-bit positions, as packing.py writes them.

function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new DataView(bytes.buffer);
}

// Values of a channel; null where there is none, which interrupts the line.
function valuesOf(packed) {
  if ("n" in packed) return new Array(packed.n).fill(packed.all);
  const isWide = "i16" in packed;
  const view = bytesOf(isWide ? packed.i16 : packed.i8);
  const values = new Array(isWide ? view.byteLength / 2 : view.byteLength);
  const missing = isWide ? -32768 : -128;
  for (let i = 0; i < values.length; i++) {
    const level = isWide ? view.getInt16(2 * i, true) : view.getInt8(i);
    values[i] = level === missing ? null : packed.low + packed.step * (level - missing - 1);
  }
  return values;
}

// Positions on the time axis.
function positionsOf(packed) {
  const view = bytesOf(packed.f32);
  const x = new Array(view.byteLength / 4);
  for (let i = 0; i < x.length; i++) x[i] = packed.first + view.getFloat32(4 * i, true);
  return x;
}

// The edge of a band: what was expected plus or minus a distance.
function edgeOf(expected, distance, sign) {
  return expected.map((value, i) =>
    value === null || distance[i] === null ? null : value + sign * distance[i]);
}
