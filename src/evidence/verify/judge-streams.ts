/**
 * Judge streams: the report on each stream of a data directory, including what it inherits.
 *
 * What `meta.jsonl` says about a stream is compared with its checkpoints (signed-claims.ts). The
 * bytes that a fork inherits are judged as the source's own bytes up to the checkpoint that the
 * fork's genesis names, and so on to the first stream of the chain.
 *
 * JS1  A fork is verified only if every byte that a server returns for it is: its own, and those of
 *      its sources. Bytes of a source after the fork point do not matter.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { openIfThere } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { StreamState } from "../../streams/commit/stream-state.ts";
import { openOrEmpty } from "../../streams/journal/empty-file.ts";
import { contradictions, forkFault } from "../../streams/signing/signed-claims.ts";
import { type SignedStreamLog, signedLogOf } from "../../streams/signing/stream-files.ts";
import type { RootNames } from "../../trust/heads/heads.ts";
import { unreadableReport } from "../../trust/judge/assemble.ts";
import { readSidecar } from "../../trust/judge/inspect-sidecar.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { judgeOpen, sizeIfThere } from "../../trust/judge/verify.ts";
import type { VerifyOptions } from "../../trust/judge/verify-options.ts";
import {
  type Finding,
  type FindingCode,
  findingOf,
  type Verdict,
  worse,
} from "../../trust/proof/verdict.ts";
import { sidecarOf } from "../../trust/session-log.ts";

/** What streams are judged by. */
export interface StreamJudging {
  /** `names`: the data directory's names in pins. */
  optionsFor(log: SignedStreamLog, names: RootNames): VerifyOptions;
  /** The streams with a pinned head, under any of the directory's names. */
  pinnedIn(names: RootNames): readonly string[];
}

export type KnownStreamState = Pick<
  StreamState,
  "path" | "file" | "isJson" | "status" | "base" | "end" | "isClosed" | "fork"
>;

export interface JudgeParts {
  readonly root: string;
  readonly names: RootNames;
  /** Null if there is none, which is treated like an empty one. */
  readonly logs: Directory | null;
  readonly streams: ReadonlyMap<string, KnownStreamState>;
  readonly judging: StreamJudging;
  /** Called with every judged byte of a stream's own file, in order. */
  readonly onBytes?: (stream: KnownStreamState, bytes: Uint8Array) => void;
}

/** A checkpoint of a source that a fork names. */
interface NamedCheckpoint {
  readonly line: string;
  /** End of the range that it covers, in the stream. */
  readonly upTo: number;
}

interface JudgedStream {
  readonly report: VerifyReport;
  readonly isFinal: boolean;
  readonly named: ReadonlyMap<number, NamedCheckpoint>;
}

export class StreamJudge {
  readonly #parts: JudgeParts;
  /** By source, the checkpoints that forks name; only these are kept. */
  readonly #wanted = new Map<string, Set<number>>();
  /** Cached, because each fork of a source needs it. */
  readonly #sources = new Map<string, Promise<JudgedStream>>();

  private constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  static async of(parts: JudgeParts): Promise<StreamJudge> {
    const judge = new StreamJudge(parts);
    await judge.#readForks();
    return judge;
  }

  async report(stream: KnownStreamState): Promise<VerifyReport> {
    const judged = await this.#judged(stream);
    const { report } = judged;
    if (report.findings.some(({ code }) => NOT_LOOKED_AT.has(code))) return report;
    const { signed_through: through } = report;
    const signed = through && {
      from: report.from,
      isFinal: judged.isFinal,
      bytes: through.byte_offset,
    };
    const found = contradictions(stream, signed, report.file.bytes);
    return withFindings(report, [...found, ...(await this.#inherited(stream, judged))]);
  }

  /** Collects the checkpoints of sources that forks name. */
  async #readForks(): Promise<void> {
    const { logs, streams } = this.#parts;
    for (const { file, fork, status } of streams.values()) {
      if (fork === null || status === "deleted" || !logs) continue;
      const from = await fromOf(logs, sidecarOf(file));
      if (from === null) continue;
      const wanted = this.#wanted.get(fork.source) ?? new Set();
      this.#wanted.set(fork.source, wanted.add(from.seq));
    }
  }

  #judged(stream: KnownStreamState): Promise<JudgedStream> {
    const known = this.#sources.get(stream.path);
    if (known !== undefined) return known;
    const judged = this.#judge(stream);
    if (this.#wanted.has(stream.path)) this.#sources.set(stream.path, judged);
    return judged;
  }

  async #judge(stream: KnownStreamState): Promise<JudgedStream> {
    const { root, names, logs, judging, onBytes } = this.#parts;
    const target = signedLogOf(root, stream);
    const wanted = this.#wanted.get(stream.path);
    const named = new Map<number, NamedCheckpoint>();
    const finals: number[] = [];
    const options = {
      ...judging.optionsFor(target, names),
      ...(onBytes ? { onBytes: (bytes: Uint8Array) => onBytes(stream, bytes) } : {}),
      onCheckpoint: (seq: number, line: string, said: { kind: string; byteOffset: number }) => {
        if (said.kind === "final") finals.push(seq);
        if (wanted?.has(seq)) named.set(seq, { line, upTo: stream.base + said.byteOffset });
      },
    };
    let hasCheckpoints = false;
    try {
      if (!logs) throw notThere(`${root}/${target.logId}`);
      const place = { directory: logs, name: stream.file, path: `${logs.path}/${stream.file}` };
      hasCheckpoints = !!sizeIfThere(logs, sidecarOf(stream.file));
      const log = openLog(logs, stream);
      try {
        const report = await judgeOpen(place, log, target, options);
        const through = report.signed_through?.seq ?? -1;
        return { report, named, isFinal: finals.some((seq) => seq <= through) };
      } finally {
        log.close();
      }
    } catch (cause) {
      const report = unreadableReport(target, options, cause, hasCheckpoints);
      return { report, named, isFinal: false };
    }
  }

  /** Findings that keep a fork's inherited bytes from being verified (JS1). */
  async #inherited(fork: KnownStreamState, judged: JudgedStream): Promise<Finding[]> {
    const seen = new Set<string>();
    let [child, of, upTo] = [fork, judged, fork.base];
    while (child.base > 0 && of.report.signed_through !== null) {
      seen.add(child.path);
      const source = this.#parts.streams.get(child.fork?.source ?? "");
      if (source === undefined || source.status === "deleted" || seen.has(source.path)) {
        return [sourceFinding("rollback", child.fork?.source ?? "its source", "is not there")];
      }
      const parent = await this.#judged(source);
      const { signed_through: through, from } = parent.report;
      const other = through && forkFault(source, from);
      if (other !== null) return [sourceFinding("tampered", source.path, `is another: ${other}`)];
      const fault = sourceFault(child, of.report, source, parent, upTo);
      if (fault !== null) return [fault];
      child = source;
      of = parent;
      upTo = Math.min(upTo, source.base);
    }
    return [];
  }
}

/** With these findings the stream was unreadable or gone: there is nothing to compare. */
const NOT_LOOKED_AT: ReadonlySet<FindingCode> = new Set([
  ...(["UNREADABLE", "NOT_FOUND", "TOO_LONG"] as const),
]);

/** The fault in the part of a source that a fork inherits, up to `upTo` in the source; or null. */
function sourceFault(
  child: KnownStreamState,
  { from }: VerifyReport,
  source: KnownStreamState,
  { report, named }: JudgedStream,
  upTo: number,
): Finding | null {
  if (from === null) return null; // Already reported by forkFault.
  const { verdict, signed_through: through, found } = report;
  const head = named.get(from.seq);
  const isThere = report.log === from.log && head?.line === from.line;
  if (!isThere || head === undefined || (through?.seq ?? -1) < from.seq) {
    const isBad = BAD.has(verdict);
    const message = "has not, under a trusted signature, the checkpoint that its genesis names";
    return sourceFinding(isBad ? verdict : "rollback", source.path, message);
  }
  if (source.end < child.base) {
    return sourceFinding("rollback", source.path, "ends before it, as meta.jsonl says");
  }
  if (head.upTo < Math.min(from.at, upTo)) {
    return sourceFinding("incomplete", source.path, "was signed only in part when it was forked");
  }
  if (!found.some(([start]) => source.base + start < upTo)) return null;
  return sourceFinding("incomplete", source.path, "has bytes before it that were found unsigned");
}

const BAD: ReadonlySet<Verdict> = new Set(["tampered", "unreadable", "rollback", "untrusted"]);

function sourceFinding(verdict: Verdict, source: string, what: string): Finding {
  return findingOf(
    "SOURCE_NOT_VERIFIED",
    verdict,
    `what it begins with, in ${source}: that ${what}`,
  );
}

/** A report with more findings, and the resulting verdict. */
export function withFindings<R extends Pick<VerifyReport, "verdict" | "findings">>(
  report: R,
  findings: readonly Finding[],
): R {
  if (findings.length === 0) return report;
  const said = findings.map(({ byteOffset, ...rest }) => ({ ...rest, byte_offset: byteOffset }));
  const verdict = findings.reduce((so, each) => worse(so, each.verdict ?? so), report.verdict);
  return { ...report, verdict, findings: [...report.findings, ...said] };
}

/** A stream's file is created with its first byte. */
function openLog(logs: Directory, { file, base, end }: KnownStreamState): OpenFile {
  if (end === base) return openOrEmpty(logs, file);
  const log = openIfThere(logs, file);
  if (log === null) throw notThere(`${logs.path}/${file}`);
  return log;
}

/** The origin that a fork's genesis claims, correct or not; null for none. */
async function fromOf(logs: Directory, name: string) {
  try {
    const sidecar = logs.open(name, "read");
    try {
      for await (const { checkpoint } of readSidecar(sidecar, `${logs.path}/${name}`).checkpoints) {
        return checkpoint.kind === "genesis" ? checkpoint.from : null;
      }
    } finally {
      sidecar.close();
    }
  } catch {
    // Judging the fork reports what is wrong with it.
  }
  return null;
}

export function notThere(path: string): VerbatimError {
  return new VerbatimError("LOG_NOT_FOUND", `there is no log at ${path}`, { path });
}
