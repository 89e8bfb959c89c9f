/**
 * Appended MACs: a server that signs stores a MAC with the bytes that it appends. Any server with
 * the same key can then sign them, also after the first one was killed.
 *
 * AM1  Bytes without a MAC by one of the user's own keys are stated as found
 *      (trust/signer/log-signer.ts, S3). Bytes that differ from their MAC are not signed.
 *
 * The key of the MAC is the hash of a signature that is never stored, so only holders of the private
 * key can compute it.
 */

import { createHash, createHmac } from "node:crypto";
import { assert } from "../../../core/base/errors.ts";
import type { Signer } from "../../../trust/keys/keys.ts";
import type { StreamSigner } from "../../signing/stream-signing.ts";

const PURPOSE = Buffer.from("verbatim/appended/v1\n");

/** Bytes of one stream, from offset to offset. */
export interface AppendedRange {
  readonly sid: string;
  readonly start: number;
  readonly end: number;
}

/** A row of `unsigned`. */
export interface AppendedMac extends AppendedRange {
  readonly mac: Buffer;
}

/** A MAC begins with these bytes of its key's `kid`. */
const KID_BYTES = 8;

export class AppendedMacs {
  readonly #current: Buffer;
  /** Secrets of the user's keys, by the beginning of their `kid`. */
  readonly #secrets: ReadonlyMap<string, Buffer>;

  private constructor(current: string, secrets: ReadonlyMap<string, Buffer>) {
    this.#current = Buffer.from(current, "hex");
    this.#secrets = secrets;
  }

  static async of({ signer, own }: Pick<StreamSigner, "signer" | "own">): Promise<AppendedMacs> {
    const secrets = new Map<string, Buffer>();
    for (const each of [signer, ...(own?.values() ?? [])]) {
      secrets.set(each.kid.slice(0, 2 * KID_BYTES), await secretOf(each));
    }
    return new AppendedMacs(signer.kid.slice(0, 2 * KID_BYTES), secrets);
  }

  macOf(range: AppendedRange, bytes: readonly Uint8Array[]): Buffer {
    const hash = createHash("sha256");
    for (const each of bytes) hash.update(each);
    const mac = this.#mac(this.#current, range, hash.digest());
    assert(mac !== null, "the current key is known");
    return mac;
  }

  /** Whether it says that one of the user's keys made it. */
  isOurs({ mac }: AppendedMac): boolean {
    return this.#secrets.has(mac.toString("hex", 0, KID_BYTES));
  }

  /** `sha256`: of the bytes. */
  isValid(range: AppendedMac, sha256: Uint8Array): boolean {
    return this.#mac(range.mac.subarray(0, KID_BYTES), range, sha256)?.equals(range.mac) === true;
  }

  #mac(kid: Buffer, { sid, start, end }: AppendedRange, sha256: Uint8Array): Buffer | null {
    const secret = this.#secrets.get(kid.toString("hex"));
    if (secret === undefined) return null;
    const range = Buffer.alloc(24);
    for (const [n, value] of [sid, start, end].entries())
      range.writeBigInt64BE(BigInt(value), 8 * n);
    const mac = createHmac("sha256", secret).update(range).update(sha256).digest();
    return Buffer.concat([kid, mac]);
  }
}

/** Walks over bytes that no checkpoint covers, in order, and compares them with their MACs. */
export class MacWalk {
  readonly #macs: AppendedMacs;
  readonly #ranges: Iterator<AppendedMac>;
  #range: AppendedMac | undefined;
  #hash = createHash("sha256");
  #at: number;
  #bareEnd: number | null = null;

  /** `ranges`: in order. `at`: the offset of the first byte. */
  constructor(macs: AppendedMacs, ranges: readonly AppendedMac[], at: number) {
    this.#macs = macs;
    this.#ranges = ranges.filter((range) => macs.isOurs(range)).values();
    this.#at = at;
    this.#next();
  }

  /** Returns false for bytes that differ from their MAC (AM1). */
  feed(bytes: Uint8Array): boolean {
    for (let place = 0; place < bytes.length; ) {
      const { start, end } = this.#range ?? { start: Infinity, end: Infinity };
      const length = Math.min(bytes.length - place, (this.#at < start ? start : end) - this.#at);
      this.#at += length;
      if (this.#at - length < start) this.#bareEnd = this.#at;
      else this.#hash.update(bytes.subarray(place, place + length));
      place += length;
      if (this.#at === end && !this.#isRangeValid()) return false;
    }
    return true;
  }

  /** Call after the last byte: the end of the last bytes without a MAC; null if all have one. */
  bareEnd(): number | null {
    // The rest of the range is not there, so its MAC proves nothing.
    if (this.#range !== undefined && this.#at > this.#range.start) return this.#at;
    return this.#bareEnd;
  }

  #isRangeValid(): boolean {
    const range = this.#range;
    const sha256 = this.#hash.digest();
    this.#next();
    return range !== undefined && this.#macs.isValid(range, sha256);
  }

  /** Moves to the next range with bytes that are still to come. */
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
