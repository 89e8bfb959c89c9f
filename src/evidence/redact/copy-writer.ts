/**
 * Copy writer: the records of a disclosed copy, in log order. Format: docs/formats/disclosure.md.
 *
 * - No salt of anything withheld is written, and never the log's own: only `salts` of what is
 *   shown. The four secret strings of genesis are always withheld.
 * - A checkpoint is never withheld: what is found in one is refused with CANNOT_WITHHOLD.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import { fromHex, toHex } from "../../trust/proof/bytes.ts";
import { type Checkpoint, SIG2_BYTES } from "../../trust/proof/checkpoint.ts";
import type { ProofCrypto, RunningHash } from "../../trust/proof/crypto.ts";
import { isSecret } from "../../trust/proof/disclosure/filling.ts";
import {
  type DisclosureRecord,
  type Gap,
  type Header,
  MASK_CHARS_MAX,
  PIECE_BYTES,
  RECORD_BYTES_MAX,
  spellRecord,
  type Why,
} from "../../trust/proof/disclosure/records.ts";
import type { StatedGenesis } from "../../trust/proof/disclosure/stated-genesis.ts";
import {
  type Reason,
  type StatementFacts,
  spellStatement,
  statementMessage,
} from "../../trust/proof/disclosure/statement.ts";
import { BLOCK, findParts, LeafHasher, type Part } from "../../trust/proof/leaf.ts";
import { type Finder, type Hit, maskHits, rulesOf, type WithheldPart, withheldBy } from "./hits.ts";

const OUT_BYTES = 1024 * 1024;
const LF_BYTES = Buffer.from("\n");
/** Rules that apply whatever the user asks for, with their reasons. */
const OLDER_CHECKPOINT = "older-checkpoint";
const OLDER_REASON = "its unsalted hash would confirm guesses at what is withheld";
const VOID_CHECKPOINT = "void-checkpoint";
const VOID_REASON = "it counts for nothing, and a genesis has secrets";
const CLOSED_GENESIS = "genesis";
const CLOSED_REASON = "its secrets cannot be withheld one by one, so it is withheld whole";
const TOO_MANY_STRINGS = "too-many-strings";
const TOO_MANY_REASON = "the line has more strings than a copy can list";
/** What a checkpoint repeats of its session ends here. */
const BODY = Buffer.from('"event_type":"checkpoint"');
const LINK = Buffer.from('"to":{');

type Genesis = Checkpoint & { readonly kind: "genesis" };

/** Something withheld, for people. */
export interface WithheldPlace {
  readonly line: number;
  /** `value`: masked in its string, in a plain copy. */
  readonly what: "line" | "string" | "value";
  readonly rule: string;
  readonly bytes: number;
}

export interface CopyWriterOptions {
  readonly crypto: ProofCrypto;
  readonly header: Header;
  readonly genesis: Genesis;
  /** The hash of genesis' line. */
  readonly genesisLine: string;
  /** The last checkpoint of the copy. No tree covers its line, so it gets no salts. */
  readonly headSeq: number;
  readonly finder: Finder;
  readonly reason: string;
  readonly hasMasks: boolean;
  readonly path: string;
  /** Gets the copy's bytes, whose buffer is reused. */
  readonly out: (bytes: Uint8Array) => void;
  readonly onPlace: (place: WithheldPlace) => void;
}

export class CopyWriter {
  readonly #options: CopyWriterOptions;
  readonly #leaves: LeafHasher;
  readonly #hash: RunningHash;
  readonly #reasons: { rule: string; reason: string; lines: number; strings: number }[] = [];
  readonly #buffer = Buffer.alloc(OUT_BYTES);
  #buffered = 0;
  #bytes = 0;
  /** Leaves so far, and lines so far: in a log, the same. */
  #index = 0;
  #stated: StatedGenesis | null = null;
  /** Lines, or stretches, that are not checkpoints; and those that are shown whole. */
  lines = 0;
  full = 0;

  constructor(options: CopyWriterOptions) {
    this.#options = options;
    const { crypto, genesis, header } = options;
    this.#leaves = new LeafHasher(crypto, fromHex(genesis.salt), genesis.parts);
    this.#hash = crypto.runningSha256();
    this.#record({ is: "header", header });
  }

  get reasons(): readonly Reason[] {
    return this.#reasons;
  }

  /** A line that is not a checkpoint, without its LF. */
  line(line: Uint8Array): undefined {
    const index = this.#index++;
    this.lines++;
    const { finder, genesis } = this.#options;
    const hits = finder(line, index + 1);
    if (hits.length === 0) return this.#whole(line, index);
    const withheld = withheldBy(line, genesis.parts, hits);
    if (withheld.is === "line") {
      return this.#withhold(line, index, withheld.rule, this.#mask(line, hits, 0));
    }
    this.#inPart(line, index, withheld.parts);
  }

  /** A checkpoint of the Python original, or a void one: its hash has no salt, or tells of another. */
  uncounted(line: Uint8Array, is: "older" | "void"): void {
    this.lines++;
    const [rule, reason] =
      is === "older" ? [OLDER_CHECKPOINT, OLDER_REASON] : [VOID_CHECKPOINT, VOID_REASON];
    this.#withhold(line, this.#index++, rule, null, reason);
  }

  /** Raw bytes between two checkpoints, at least one. */
  stretch(bytes: Uint8Array): void {
    const index = this.#index++;
    this.lines++;
    const hits = this.#options.finder(bytes, index + 1);
    if (hits.length > 0) {
      const leaf = this.#leaves.rawLeaf(index);
      leaf.update(bytes);
      const rule = rulesOf(hits);
      this.#options.onPlace({ line: index + 1, what: "line", rule, bytes: bytes.length });
      const because = this.#because(rule, this.#options.reason, null, "lines");
      this.#record({ is: "leaf", leaf: leaf.digest(), because });
      return;
    }
    this.full++;
    let salt: Uint8Array | null = this.#leaves.salts(index, 1);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      this.#record({ is: "bytes", salt, data: bytes.subarray(at, at + PIECE_BYTES) });
      salt = null;
    }
  }

  /** A checkpoint with its line, LF included. In a sidecar it is no line of the log. */
  checkpoint(checkpoint: Checkpoint, line: Uint8Array, isInside: boolean): undefined {
    const isHead = checkpoint.seq === this.#options.headSeq;
    this.#refuseHits(line, isInside);
    const bare = line.subarray(0, -1);
    const index = isInside ? this.#index++ : 0;
    if (checkpoint.kind === "genesis") return this.#genesis(bare, index);
    let salts: Uint8Array = new Uint8Array(0);
    if (isInside && !isHead) {
      const { length } = findParts(bare, this.#options.genesis.parts);
      salts = this.#leaves.salts(index, 1 + length);
    }
    this.#record({ is: "checkpoint", salts });
    this.#put(line);
  }

  /** Ends the copy. */
  async finish(
    facts: Pick<StatementFacts, "head" | "leftOut" | "ts">,
    signer: Signer,
  ): Promise<void> {
    const all = {
      ...facts,
      genesis: this.#stated,
      withheld: this.#reasons,
      kid: signer.kid,
      bytes: this.#bytes,
      sha256: "",
    };
    this.#flush();
    const statement = { ...all, sha256: this.#hash.hex() };
    const sig = await signer.sign(statementMessage(statement));
    this.#text(`${spellStatement({ facts: statement, sig })}\n`);
    this.#flush();
  }

  #whole(line: Uint8Array, index: number): undefined {
    this.full++;
    const { length } = findParts(line, this.#options.genesis.parts);
    const salts = this.#leaves.salts(index, 1 + length);
    // As `spellRecord` does it: nearly all records, so at once.
    const text = Buffer.from(salts.buffer, salts.byteOffset, salts.length).toString("base64url");
    this.#text(`{"line":"${text}"}\n`);
    this.#put(line);
    this.#put(LF_BYTES);
  }

  #inPart(line: Uint8Array, index: number, parts: readonly WithheldPart[]): undefined {
    const { reason } = this.#options;
    const strings = findParts(line, this.#options.genesis.parts);
    const salts = this.#leaves.salts(index, 1 + strings.length);
    if (2 * salts.length + 200 * parts.length > RECORD_BYTES_MAX / 2) {
      return this.#withhold(line, index, TOO_MANY_STRINGS, null, TOO_MANY_REASON);
    }
    const withheld = new Map(parts.map((part) => [part.at, part]));
    const gaps = gapsOf(this.#leaves, line, salts, strings, (at) => {
      const part = withheld.get(at);
      if (!part) return undefined;
      const contents = line.subarray(at, at + part.length);
      const { rule, length: bytes } = part;
      this.#options.onPlace({ line: index + 1, what: "string", rule, bytes });
      return this.#because(part.rule, reason, this.#mask(contents, part.hits, at), "strings");
    });
    this.#gapped("line", line, gaps);
  }

  #withhold(
    line: Uint8Array,
    index: number,
    rule: string,
    mask: string | null,
    reason = this.#options.reason,
  ): undefined {
    this.#options.onPlace({ line: index + 1, what: "line", rule, bytes: line.length });
    const because = this.#because(rule, reason, mask, "lines");
    this.#record({ is: "leaf", leaf: this.#leaves.leaf(line, index), because });
  }

  #genesis(line: Uint8Array, index: number): undefined {
    const { genesis, genesisLine, header } = this.#options;
    if (header.genesis === "stated") {
      this.#stated = { facts: genesis, line: genesisLine };
      this.#record({ is: "stated", genesis: this.#stated });
      return;
    }
    if (header.genesis === "absent") {
      this.lines++;
      return this.#withhold(line, index, CLOSED_GENESIS, null, CLOSED_REASON);
    }
    const strings = findParts(line, genesis.parts);
    const salts = this.#leaves.salts(index, 1 + strings.length);
    const isWithheld = (at: number) => (isSecret(line, at) ? null : undefined);
    this.#gapped("genesis", line, gapsOf(this.#leaves, line, salts, strings, isWithheld));
  }

  #gapped(
    is: "line" | "genesis",
    line: Uint8Array,
    { gaps, salts }: { readonly gaps: readonly Gap[]; readonly salts: Uint8Array },
  ): undefined {
    this.#record({ is, salts, gaps });
    let from = 0;
    for (const { at, length } of gaps) {
      this.#put(line.subarray(from, at));
      from = at + length;
    }
    this.#put(line.subarray(from));
    this.#put(LF_BYTES);
  }

  /** Looks into what a checkpoint repeats of its session; its hashes are never a find. */
  #refuseHits(line: Uint8Array, isInside: boolean): undefined {
    const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
    const number = isInside ? this.#index + 1 : 0;
    const link = bytes.indexOf(LINK);
    const texts = [bytes.subarray(0, bytes.indexOf(BODY))];
    if (link >= 0) texts.push(bytes.subarray(link, -SIG2_BYTES - 1));
    for (const text of texts) {
      const [hit] = this.#options.finder(text, number);
      if (!hit) continue;
      const { path } = this.#options;
      throw new VerbatimError(
        "CANNOT_WITHHOLD",
        `rule ${hit.rule} finds something in a checkpoint${number > 0 ? ` (line ${number})` : ""} ` +
          `of ${path}; checkpoints are always shown whole, so it cannot be withheld`,
        { path, line: number, rule: hit.rule },
      );
    }
  }

  #mask(bytes: Uint8Array, hits: readonly Hit[], at: number): string | null {
    if (!this.#options.hasMasks) return null;
    const inside = hits.map(({ rule, from, to }) => ({ rule, from: from - at, to: to - at }));
    return maskHits(bytes, inside, this.#options.finder).slice(0, MASK_CHARS_MAX);
  }

  #because(rule: string, reason: string, mask: string | null, what: "lines" | "strings"): Why {
    let why = this.#reasons.findIndex((each) => each.rule === rule && each.reason === reason);
    if (why === -1) why = this.#reasons.push({ rule, reason, lines: 0, strings: 0 }) - 1;
    const counts = this.#reasons[why];
    if (counts) counts[what]++;
    return { why, mask };
  }

  #record(record: DisclosureRecord): undefined {
    this.#text(`${spellRecord(record)}\n`);
  }

  /** ASCII. */
  #text(text: string): undefined {
    if (text.length > OUT_BYTES) return this.#put(Buffer.from(text, "latin1"));
    if (this.#buffered + text.length > OUT_BYTES) this.#flush();
    this.#buffer.write(text, this.#buffered, "latin1");
    this.#buffered += text.length;
    this.#bytes += text.length;
  }

  #put(bytes: Uint8Array): undefined {
    this.#bytes += bytes.length;
    if (this.#buffered + bytes.length > OUT_BYTES) this.#flush();
    if (bytes.length > OUT_BYTES) return this.#give(bytes);
    this.#buffer.set(bytes, this.#buffered);
    this.#buffered += bytes.length;
  }

  #flush(): undefined {
    if (this.#buffered > 0) this.#give(this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }

  #give(bytes: Uint8Array): undefined {
    this.#hash.update(bytes);
    this.#options.out(bytes);
  }
}

/** The gaps of a line, and the salts of all that is shown, no others. `undefined`: it is shown. */
export function gapsOf(
  leaves: Pick<LeafHasher, "partHash">,
  line: Uint8Array,
  salts: Uint8Array,
  strings: readonly Part[],
  whyOf: (at: number) => Why | null | undefined,
): { readonly gaps: readonly Gap[]; readonly salts: Uint8Array } {
  const gaps: Gap[] = [];
  const shown = [salts.subarray(0, BLOCK)];
  for (const [n, { at, length }] of strings.entries()) {
    const salt = salts.subarray((n + 1) * BLOCK, (n + 2) * BLOCK);
    const because = whyOf(at);
    if (because === undefined) {
      shown.push(salt);
      continue;
    }
    const part = toHex(leaves.partHash(line.subarray(at, at + length), salt));
    gaps.push({ at, length, part, because });
  }
  return { gaps, salts: Buffer.concat(shown) };
}
