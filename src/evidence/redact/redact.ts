/**
 * Redact: verifies a signed log, and writes its disclosed copy.
 *
 * - The copy is of exactly the bytes that were verified: they have the hash that the head signs,
 *   and the head is the verified one. Otherwise CHANGED_WHILE_READ, and no statement is signed.
 * - Memory does not grow with the log: chunks, one line, or one stretch of a raw stream.
 */

import { basename, dirname } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { openIfThere } from "../../core/base/file-steps.ts";
import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { decodeLine } from "../../core/log/json.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { SpillReference } from "../../dialects/facets/writing.ts";
import { readSpill } from "../../dialects/files/spill-files.ts";
import { changedWhileRead, readExactly } from "../../trust/judge/inspect.ts";
import { readSidecar } from "../../trust/judge/inspect-sidecar.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import type { VerifyOptions } from "../../trust/judge/verify-options.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import { fromHex, LF, toHex } from "../../trust/proof/bytes.ts";
import type { Checkpoint } from "../../trust/proof/checkpoint.ts";
import type { Header } from "../../trust/proof/disclosure/records.ts";
import type { Reason } from "../../trust/proof/disclosure/statement.ts";
import { envelopeOf, hasSidecar, LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import { Walk } from "../../trust/proof/walk.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import { contentOf, type SignableLog, sidecarOf } from "../../trust/session-log.ts";
import { verifyWithCopy } from "../verify/erased-copy.ts";
import { CopyWriter, type WithheldPlace } from "./copy-writer.ts";
import { allOf, type Finder } from "./hits.ts";
import { matching } from "./text-matches.ts";

/** One stretch of a raw stream is held in memory. */
const STRETCH_BYTES_MAX = 256 * 1024 * 1024;
const SPILL_MARK = Buffer.from('"spill"');

export interface RedactOptions {
  readonly verify: VerifyOptions;
  readonly finder: Finder;
  readonly reason: string;
  /** Add the redactor's wording of what is withheld. */
  readonly hasMasks?: boolean;
  readonly signer: Signer;
  readonly nowMs: () => number;
  /** Gets the copy's bytes, whose buffer is reused. */
  readonly out: (bytes: Uint8Array) => void;
  readonly onPlace?: (place: WithheldPlace) => void;
  /** End the copy at the newest checkpoint that this many turns follow, of lines before `endMax`. */
  readonly until?: { readonly turnsBack: number; readonly endMax: number };
}

export interface RedactionResult {
  readonly report: VerifyReport;
  readonly header: Header;
  /** Lines, or stretches, that are not checkpoints; how many are shown whole. */
  readonly lines: number;
  readonly full: number;
  readonly withheld: readonly Reason[];
  readonly leftOut: { readonly lines: number; readonly bytes: number };
  /** What found it: also hashes of files next to the log. */
  readonly finder: Finder;
  /** The last checkpoint of the copy. */
  readonly headSeq: number;
}

export type Through = NonNullable<VerifyReport["signed_through"]>;
export type Genesis = Checkpoint & { readonly kind: "genesis" };

/** `host` is the dialect's (`hostOf`). Verifies a log and writes its copy; refuses one that is not verified, or not signed enough. */
export async function redactLog(
  host: Host,
  target: SignableLog,
  options: RedactOptions,
): Promise<RedactionResult> {
  const { verify } = options;
  let genesis: { readonly said: Genesis; readonly line: string } | null = null;
  const older = options.until && new OlderHeads(options.until);
  const spills = new SpillReferences(target);
  const report = await verifyWithCopy(host, target, {
    ...verify,
    onCheckpoint: (_seq, line, said) => {
      if (said.kind === "genesis") genesis ??= { said: said as Genesis, line };
      older?.add(said, line);
    },
    onBytes: (bytes) => spills.feed(bytes),
  });
  const newest = refuseUnsigned(report);
  const through = older ? older.through(report.path, newest) : newest;
  const found = genesis as { readonly said: Genesis; readonly line: string } | null;
  if (!found) throw changedWhileRead(report.path, 0);
  const { parts } = found.said;
  // In a log only its line proves what genesis states: it is opened, or nothing is said of it.
  const inLog = parts >= 1 && parts <= 64 ? "opened" : "absent";
  const header: Header = {
    dialect: target.dialect,
    content: contentOf(target) === "bytes" ? "bytes" : "lines",
    parts,
    genesis: hasSidecar(target.dialect) ? "stated" : inLog,
  };
  const { reason, hasMasks = false, out, onPlace = () => {} } = options;
  const finder = allOf(options.finder, await spills.finder(host, options.finder));
  const writer = new CopyWriter({
    crypto: verify.crypto,
    header,
    genesis: found.said,
    genesisLine: found.line,
    headSeq: through.seq,
    reason,
    hasMasks,
    out,
    onPlace,
    path: report.path,
    finder,
  });
  const end = await new Copying(target, verify, report, through, found.said, writer).run(host);
  const { bytes, lines } = report.tail;
  const more = older?.linesBetween(through, newest) ?? 0;
  const leftOut = { lines: lines + more, bytes: bytes + newest.end - end };
  const head = { log: found.said.log, seq: through.seq, line: through.line, ts: through.ts };
  const ts = new Date(options.nowMs()).toISOString();
  await writer.finish({ head, leftOut, ts }, options.signer);
  const { full, reasons: withheld } = writer;
  const headSeq = through.seq;
  return { report, header, lines: writer.lines, full, withheld, leftOut, finder, headSeq };
}

/** Takes the content of a verified log, in its order. */
export interface LogTaker {
  /** A line that is not a checkpoint, without its LF. */
  line(line: Uint8Array): void;
  /** A checkpoint that counts for nothing, without its LF: of the Python original, or void. */
  uncounted(line: Uint8Array, is: "older" | "void"): void;
  /** Raw bytes between two checkpoints, at least one. */
  stretch(bytes: Uint8Array): void;
  /** A checkpoint's line, LF included; `isInside`: it is a line of the log. */
  checkpoint(checkpoint: Checkpoint, line: Uint8Array, isInside: boolean): void;
}

/** The second pass: reads the verified bytes again, and passes them on. */
export class Copying {
  readonly #target: SignableLog;
  readonly #options: VerifyOptions;
  readonly #path: string;
  readonly #through: Through;
  readonly #genesis: Genesis;
  readonly #writer: LogTaker;
  /** The head was written: nothing follows it. */
  #isWhole = false;
  #end = 0;

  constructor(
    target: SignableLog,
    options: VerifyOptions,
    { path }: VerifyReport,
    through: Through,
    genesis: Genesis,
    writer: LogTaker,
  ) {
    this.#target = target;
    this.#options = options;
    this.#path = path;
    this.#through = through;
    this.#genesis = genesis;
    this.#writer = writer;
  }

  /** Returns where the copied part of the log ends. */
  async run(host: Host): Promise<number> {
    const { root, logId, dialect } = this.#target;
    const place = await openLogPath(host, logId, { create: false, root });
    try {
      const sidecar = hasSidecar(dialect)
        ? openIfThere(place.directory, sidecarOf(place.name))
        : null;
      const log = openToRead(place);
      try {
        if (sidecar) await this.#withSidecar(log, sidecar);
        else await this.#inside(log);
      } finally {
        log.close();
        sidecar?.close();
      }
    } finally {
      place.directory.close();
    }
    if (!this.#isWhole) throw changedWhileRead(this.#path, 0);
    return this.#end;
  }

  async #inside(log: OpenFile): Promise<void> {
    const { crypto } = this.#options;
    const hash = crypto.runningSha256();
    const walk = new Walk(crypto, envelopeOf(this.#target.dialect), {
      lines: (bytes) => {
        if (this.#isWhole) return;
        hash.update(bytes);
        this.#lines(bytes);
      },
      claim: (line, start, claim) => {
        if (this.#isWhole) return;
        this.#end = start + line.length;
        if (claim.is !== "checkpoint") {
          this.#writer.uncounted(line.subarray(0, -1), "older");
        } else if (claim.checkpoint.byteOffset !== start) {
          this.#writer.uncounted(line.subarray(0, -1), "void"); // The log was verified.
        } else {
          this.#compare(claim.checkpoint, line, () => hash.hex());
          this.#writer.checkpoint(claim.checkpoint, line, true);
        }
        hash.update(line);
      },
    });
    for await (const chunk of readExactly(log, 0, this.#through.end, this.#path)) {
      walk.feed(chunk);
      this.#options.onProgress?.(chunk.length);
      if (this.#isWhole) return;
    }
  }

  async #withSidecar(log: OpenFile, sidecar: OpenFile): Promise<void> {
    const hash = this.#options.crypto.runningSha256();
    hash.update(fromHex(this.#genesis.salt));
    let at = 0;
    for await (const { checkpoint, line } of readSidecar(sidecar, sidecarOf(this.#path))
      .checkpoints) {
      const { byteOffset: to, seq } = checkpoint;
      if (seq > this.#through.seq) break;
      await this.#copyTo(log, at, to, (chunk) => hash.update(chunk));
      at = to;
      this.#end = to;
      this.#compare(checkpoint, line, () => hash.hex());
      this.#writer.checkpoint(checkpoint, line, false);
    }
  }

  async #copyTo(
    log: OpenFile,
    from: number,
    to: number,
    take: (chunk: Uint8Array) => void,
  ): Promise<void> {
    const isRaw = contentOf(this.#target) === "bytes";
    if (isRaw && to - from > STRETCH_BYTES_MAX) {
      const reason = `it has ${to - from} bytes between two checkpoints`;
      throw cannotDisclose(this.#path, reason, `the limit is ${STRETCH_BYTES_MAX}`);
    }
    const pieces: Uint8Array[] = [];
    const whole = new WholeLines((bytes) => this.#lines(bytes));
    for await (const chunk of readExactly(log, from, to, this.#path)) {
      take(chunk);
      if (isRaw) pieces.push(chunk.slice());
      else whole.feed(chunk);
      this.#options.onProgress?.(chunk.length);
    }
    if (pieces.length > 0) this.#writer.stretch(Buffer.concat(pieces));
  }

  #lines(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LF, start);
      this.#writer.line(bytes.subarray(start, end));
      start = end + 1;
    }
  }

  /** Whether these are the bytes that were verified. */
  #compare({ seq, hash }: Checkpoint, line: Uint8Array, own: () => string): void {
    if (seq !== this.#through.seq) return;
    const lineHash = toHex(this.#options.crypto.sha256(line));
    this.#isWhole = lineHash === this.#through.line && hash === own();
    if (!this.#isWhole) throw changedWhileRead(this.#path, 0);
  }
}

/** The head of a log that can be disclosed. */
export function refuseUnsigned(report: VerifyReport): Through {
  const { verdict, path, profile, signed_through: through } = report;
  if (verdict === "unsigned" || profile === LEGACY_PROFILE) {
    const reason = verdict === "unsigned" ? NOT_SIGNED : SIGNED_IN_OLDER_FORMAT;
    const next =
      "`doctor --fix --vouch` signs one of your own; `redact --plain` writes a copy that proves nothing";
    throw cannotDisclose(path, reason, next);
  }
  if (verdict !== "verified" && verdict !== "incomplete") {
    const message = `${path} is ${verdict}, so nothing of it is disclosed; see verbatim verify`;
    throw new VerbatimError("NOT_VERIFIED", message, { path, verdict });
  }
  if (!through || through.seq === 0) {
    const next = "append to it with signing, or repair --vouch; then try again";
    throw cannotDisclose(path, NO_CHECKPOINT, next);
  }
  return through;
}

/** The checkpoints from the one at which a copy ends that is to be some turns behind. */
class OlderHeads {
  readonly #until: { readonly turnsBack: number; readonly endMax: number };
  /** In order; of those that are old enough only the newest. */
  readonly #heads: { readonly said: Checkpoint; readonly line: string }[] = [];

  constructor(until: { readonly turnsBack: number; readonly endMax: number }) {
    this.#until = until;
  }

  add(said: Checkpoint, line: string): void {
    this.#heads.push({ said, line });
    while (this.#heads[1] && this.#isOld(this.#heads[1].said, said)) this.#heads.shift();
  }

  #isOld({ turn, byteOffset }: Checkpoint, newest: Checkpoint): boolean {
    return turn <= newest.turn - this.#until.turnsBack && byteOffset <= this.#until.endMax;
  }

  through(path: string, newest: Through): Through {
    const last = this.#heads.find(({ said }) => said.seq === newest.seq)?.said;
    const [head] = this.#heads;
    if (!last || !head || head.said.seq === 0 || !this.#isOld(head.said, last)) {
      throw cannotDisclose(path, NOTHING_YET, "wait for more turns");
    }
    const { seq, ts } = head.said;
    return { ...newest, seq, ts, line: head.line };
  }

  linesBetween(head: Through, newest: Through): number {
    const size = ({ seq }: Through) => {
      return this.#heads.find(({ said }) => said.seq === seq)?.said.tree.size ?? 0;
    };
    return size(newest) - size(head);
  }
}

const NOT_SIGNED = "it is not signed";
const SIGNED_IN_OLDER_FORMAT = "its signatures are of the older format";
export const NOTHING_YET = "no signed turn of it is old enough to be shown";
export const NO_CHECKPOINT = "it has no checkpoint after its first, which is never shown whole";

function cannotDisclose(path: string, reason: string, next: string): VerbatimError {
  const message = `${path} cannot be disclosed: ${reason}; ${next}`;
  return new VerbatimError("CANNOT_DISCLOSE", message, { path, reason });
}

/** Whether a log was refused because nothing, or too little of it, is signed. */
export function isUnsigned(cause: unknown): boolean {
  if (!(cause instanceof VerbatimError) || cause.code !== "CANNOT_DISCLOSE") return false;
  const { reason } = cause.details as { readonly reason: string };
  return reason === NOT_SIGNED || reason === SIGNED_IN_OLDER_FORMAT;
}

/** Files to which lines refer by a hash without salt: if something is found in one, that goes too. */
class SpillReferences {
  readonly #target: SignableLog;
  readonly #references = new Map<string, SpillReference>();
  readonly #whole: WholeLines | null;

  constructor(target: SignableLog) {
    this.#target = target;
    const { spilling } = dialectNamed(target.dialect).writing ?? {};
    const logName = basename(target.logId);
    this.#whole = spilling
      ? new WholeLines((bytes) => {
          const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
          for (let mark = lines.indexOf(SPILL_MARK); mark !== -1; ) {
            const start = lines.lastIndexOf(LF, mark) + 1;
            const end = lines.indexOf(LF, mark);
            const { value } = decodeLine(lines, start, end);
            for (const each of spilling.referencesOf(value, logName))
              this.#references.set(each.sha256, each);
            mark = lines.indexOf(SPILL_MARK, end);
          }
        })
      : null;
  }

  feed(bytes: Uint8Array): void {
    this.#whole?.feed(bytes);
  }

  /** Finds the hashes of files in which something is to be withheld, or that cannot be read. */
  async finder(host: Host, finder: Finder): Promise<Finder> {
    if (this.#references.size === 0) return () => [];
    const { root, logId } = this.#target;
    const path = `${root}/${dirname(logId)}`;
    const directory = await host.files.openDirectory(path, { create: false, root });
    const byRule = new Map<string, string[]>();
    try {
      for (const [sha256, reference] of this.#references) {
        const read = await readSpill(directory, reference);
        const rule = "content" in read ? finder(read.content, 0)[0]?.rule : "spill";
        if (rule !== undefined) byRule.set(rule, [...(byRule.get(rule) ?? []), sha256]);
      }
    } finally {
      directory.close();
    }
    return allOf(...[...byRule].map(([rule, hashes]) => matching(hashes, rule)));
  }
}
