/** Bytes: conversions without Node. */

const encoder = new TextEncoder();
/** Latin-1, one character per byte: for bytes that a pattern has shown to be ASCII. */
const ascii = new TextDecoder("latin1");

export const LF = 0x0a;

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Bytes as text for a pattern: each byte is one character, so that offsets agree. */
export function asAscii(bytes: Uint8Array): string {
  return ascii.decode(bytes);
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Decodes lowercase hex that a pattern has checked. */
export function fromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  }
  return bytes;
}

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** By character code; 64 for a character that is not of the alphabet. */
const SIX_BITS = new Uint8Array(128).fill(64);
for (let bits = 0; bits < 64; bits++) SIX_BITS[BASE64URL.charCodeAt(bits)] = bits;

/** Base64url without padding. */
export function toBase64url(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const characters = Math.min(bytes.length - at, 3) + 1;
    const [second = 0, third = 0] = [bytes[at + 1], bytes[at + 2]];
    const bits = ((bytes[at] as number) << 16) | (second << 8) | third;
    for (let n = 0; n < characters; n++) text += BASE64URL[(bits >> (18 - 6 * n)) & 63];
  }
  return text;
}

/** Decodes base64url without padding; null unless it is the one canonical spelling. */
export function fromBase64url(text: string): Uint8Array | null {
  if (text.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let [bits, count, at] = [0, 0, 0];
  for (let n = 0; n < text.length; n++) {
    const value = SIX_BITS[text.charCodeAt(n)] ?? 64;
    if (value === 64) return null;
    bits = ((bits << 6) | value) & 0xfff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[at++] = (bits >> count) & 0xff;
  }
  return (bits & ((1 << count) - 1)) === 0 ? bytes : null;
}
