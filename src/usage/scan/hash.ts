/** Hash: 64 bits from the bytes of an id, as two numbers of 32 bits. */

export class Hash {
  high = 0;
  low = 0;

  begin(): this {
    this.high = 0x811c9dc5;
    this.low = 0x9e3779b9;
    return this;
  }

  bytes(bytes: Uint8Array, from: number, to: number): this {
    let { high, low } = this;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0;
      high = Math.imul(high ^ byte, 0x01000193);
      low = Math.imul(low ^ byte, 0x85ebca6b);
      low ^= low >>> 15;
    }
    this.high = high;
    this.low = low;
    return this;
  }

  text(text: string): this {
    const bytes = Buffer.from(text);
    return this.bytes(bytes, 0, bytes.length).bytes(END, 0, 1);
  }

  number(value: number): this {
    SCRATCH[0] = value;
    return this.bytes(SCRATCH_BYTES, 0, SCRATCH_BYTES.length);
  }

  /** Mixes the bits; never 0 and 0, which is no key. */
  end(): this {
    this.high = mixed(this.high ^ this.low);
    this.low = mixed(this.low + this.high) || 1;
    return this;
  }
}

const SCRATCH = new Float64Array(1);
const SCRATCH_BYTES = new Uint8Array(SCRATCH.buffer);
const END = new Uint8Array([0xff]);

function mixed(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
