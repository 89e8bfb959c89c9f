/**
 * Appended MACs: a server that signs stores a MAC with the bytes that it appends. Any server with
 * the same key can then sign them, also after the first one was killed.
 *
 * AM1  Bytes without a MAC are stated as found (signing/writing/log-signer.ts, S3). Bytes whose MAC
 *      is not valid under one of the user's own keys are not signed: they were altered, or appended
 *      by a server with another key.
 *
 * The key of the MAC is the hash of a signature that is never stored, so only holders of the private
 * key can compute it.
 */

import { createHash, createHmac } from "node:crypto";
import type { Signer } from "../../signing/keys/keys.ts";
import type { StreamSigner } from "../../streams/signing/stream-signing.ts";

const PURPOSE = Buffer.from("verbatim/appended/v1\n");

/** Bytes of one stream, from offset to offset. */
export interface AppendedRange {
  readonly sid: string;
  readonly start: number;
  readonly end: number;
}

/** A row of `unsigned`. */
export interface Appended extends AppendedRange {
  readonly mac: Buffer;
}

export class AppendedMacs {
  /** The current key's first. */
  readonly #keys: readonly [Buffer, ...Buffer[]];

  private constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.#keys = keys;
  }

  static async of({ signer, own }: Pick<StreamSigner, "signer" | "own">): Promise<AppendedMacs> {
    const older = await Promise.all([...(own?.values() ?? [])].map(secretOf));
    return new AppendedMacs([await secretOf(signer), ...older]);
  }

  macOf(range: AppendedRange, bytes: readonly Uint8Array[]): Buffer {
    const hash = createHash("sha256");
    for (const each of bytes) hash.update(each);
    return macOf(this.#keys[0], range, hash.digest());
  }

  /** Whether one of the user's keys made it. `sha256`: of the bytes. */
  isOurs(range: AppendedRange, sha256: Uint8Array, mac: Buffer): boolean {
    return this.#keys.some((key) => macOf(key, range, sha256).equals(mac));
  }
}

/** Walks over bytes that no checkpoint covers, in order, and compares them with their MACs. */
export class MacWalk {
  readonly #macs: AppendedMacs;
  readonly #ranges: Iterator<Appended>;
  #range: Appended | undefined;
  #hash = createHash("sha256");
  #at: number;
  /** The end of the last bytes that have no MAC; null if all have one. */
  bareEnd: number | null = null;

  /** `ranges`: in order. `at`: the offset of the first byte. */
  constructor(macs: AppendedMacs, ranges: readonly Appended[], at: number) {
    this.#macs = macs;
    this.#ranges = ranges.values();
    this.#at = at;
    this.#next();
  }

  /** Returns whether all is well; false for bytes with a MAC that is not ours (AM1). */
  feed(bytes: Uint8Array): boolean {
    for (let place = 0; place < bytes.length; ) {
      const { start, end } = this.#range ?? { start: Infinity, end: Infinity };
      const length = Math.min(bytes.length - place, (this.#at < start ? start : end) - this.#at);
      this.#at += length;
      if (this.#at - length < start) this.bareEnd = this.#at;
      else this.#hash.update(bytes.subarray(place, place + length));
      place += length;
      if (this.#at === end && !this.#isRangeOurs()) return false;
    }
    return true;
  }

  #isRangeOurs(): boolean {
    const range = this.#range;
    const sha256 = this.#hash.digest();
    this.#next();
    return range !== undefined && this.#macs.isOurs(range, sha256, range.mac);
  }

  /** Goes on to the next range with bytes that are still to come. */
  #next(): void {
    this.#hash = createHash("sha256");
    do this.#range = this.#ranges.next().value;
    while (this.#range && (this.#range.start < this.#at || this.#range.start === this.#range.end));
  }
}

async function secretOf(signer: Signer): Promise<Buffer> {
  return createHash("sha256")
    .update(await signer.sign(PURPOSE))
    .digest();
}

function macOf(key: Buffer, { sid, start, end }: AppendedRange, sha256: Uint8Array): Buffer {
  const range = Buffer.alloc(24);
  range.writeBigInt64BE(BigInt(sid), 0);
  range.writeBigInt64BE(BigInt(start), 8);
  range.writeBigInt64BE(BigInt(end), 16);
  return createHmac("sha256", key).update(range).update(sha256).digest();
}
