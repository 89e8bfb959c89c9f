/**
 * Verify copy: the verdict on a disclosed copy, by the user's trusted keys and pinned heads.
 *
 * Never throws because of the file's content. The session of a copy is what its checkpoints say, so
 * a key that is trusted for some sessions only is not trusted here, as for any log outside a store.
 */

import { closeSync, openSync, writeSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { readExactly } from "../../trust/judge/inspect.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { beginsAsMasked } from "../../trust/proof/disclosure/copy-file.ts";
import {
  type DisclosedLine,
  DisclosureJudge,
  type DisclosureResult,
  NOT_CHECKED,
} from "../../trust/proof/disclosure/judge.ts";
import type { Reason } from "../../trust/proof/disclosure/statement.ts";
import { fpOf, type KeyAnswer, type Keys, kidOf } from "../../trust/proof/ed25519-keys.ts";
import type { Pin } from "../../trust/proof/pin.ts";
import type { Freshness } from "../../trust/proof/pins.ts";
import { type Finding, findingOf, type Verdict, worse } from "../../trust/proof/verdict.ts";
import { transcriptKeys } from "../../trust/trusted-keys/trust.ts";
import type { UserJudging } from "../verify/user-judging.ts";
import { WITHHELD } from "./hits.ts";

/** A public format, like the report on a session: fields are added, never renamed. */
export interface DisclosedCopyReport {
  readonly schema: "verbatim.disclosure/1";
  readonly verdict: Verdict;
  readonly path: string;
  readonly session: string | null;
  readonly dialect: string | null;
  readonly log: string | null;
  /** The last checkpoint up to which everything is valid, under a trusted key. */
  readonly signed_through: {
    readonly seq: number;
    readonly turn: number;
    readonly ts: string;
  } | null;
  readonly checkpoints: { readonly total: number; readonly valid: number };
  /** Lines that are not checkpoints; of a raw stream, stretches between checkpoints. */
  readonly lines: { readonly total: number; readonly full: number; readonly withheld: number };
  readonly strings_withheld: number;
  /** By the redactor. */
  readonly withheld: readonly Reason[];
  /** Unsigned lines at the end of the log when it was disclosed, by the redactor. */
  readonly left_out: { readonly lines: number; readonly bytes: number } | null;
  /** `stated`: the redactor states how the log began; a finding says if that does not count. */
  readonly genesis: "opened" | "stated" | "absent" | null;
  readonly from: VerifyReport["from"];
  readonly found: VerifyReport["found"];
  readonly redactor: (ReportedKey & { readonly ts: string }) | null;
  readonly keys: readonly ReportedKey[];
  readonly links: VerifyReport["links"];
  readonly freshness: SeenFreshness;
  /** Of a rollback: the pinned head that the copy contradicts. */
  readonly missing: VerifyReport["missing"];
  readonly not_checked: readonly string[];
  readonly findings: VerifyReport["findings"];
}

/** `behind`: it ends before the pinned head, of the same log. */
export type SeenFreshness = Freshness | "behind";

export type ReportedKey = VerifyReport["keys"][number];

export interface VerifyCopyOptions {
  readonly judging: UserJudging;
  /** A public key, 32 bytes, that counts as trusted unless the user decided otherwise. */
  readonly key?: Uint8Array | null;
  readonly requirePin?: boolean;
  readonly onProgress?: (bytes: number, of: number) => void;
  /** What is shown counts only if the verdict says so. */
  readonly onShown?: (line: DisclosedLine) => void;
}

export async function verifyCopy(
  host: Host,
  path: string,
  { judging, key = null, requirePin = false, onProgress, onShown }: VerifyCopyOptions,
): Promise<DisclosedCopyReport> {
  const full = resolve(path);
  const remembered = judging.remembered({ place: "", id: "" });
  const keys = withKey(transcriptKeys(judging.trust, null), key);
  const pinnedSeqOf = (log: string) => remembered.ofLog(log)?.seq ?? null;
  const callback = onShown && { onShown };
  const judge = new DisclosureJudge({ crypto: nodeCrypto, keys, pinnedSeqOf, ...callback });
  const extra: Finding[] = [];
  let isMasked = false;
  try {
    const place = await openLogPath(host, basename(full), { create: false, root: dirname(full) });
    try {
      const file = openToRead(place);
      try {
        const size = file.size();
        let done = 0;
        for await (const chunk of readExactly(file, 0, size, full)) {
          if (done === 0) isMasked = beginsAsMasked(chunk);
          judge.feed(chunk);
          done += chunk.length;
          onProgress?.(done, size);
        }
      } finally {
        file.close();
      }
    } finally {
      place.directory.close();
    }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    extra.push(findingOf("UNREADABLE", "unreadable", message));
  }
  if (isMasked) extra.push(MASKED);
  const disclosed = judge.finish();
  const { log, newestSeq, pinnedLine } = disclosed.judge;
  const pin = log === null ? null : remembered.ofLog(log);
  const seen = judgeSeen(pin, { newestSeq, line: pinnedLine }, requirePin);
  const isDecided = extra.length > 0;
  const damaged = remembered.isDamaged ? [PINS_DAMAGED] : [];
  const findings = isDecided ? extra : [...disclosed.findings, ...damaged, ...seen.findings];
  return reportOf(full, disclosed, findings, seen);
}

/**
 * Verifies a copy, and writes the lines that it shows to a new file: a log that is read like any
 * other, with `[withheld]` for each string that is not shown. Lines that are withheld are not there.
 */
export async function writeShownLines(
  host: Host,
  path: string,
  log: string,
  judging: UserJudging,
): Promise<DisclosedCopyReport> {
  const file = openSync(log, "wx", 0o600);
  try {
    const onShown = ({ is, bytes, gaps }: DisclosedLine) => {
      if (is !== "line" || bytes === null) return;
      let from = 0;
      for (const { at, length } of gaps) {
        writeSync(file, bytes.subarray(from, at));
        writeSync(file, WITHHELD);
        from = at + length;
      }
      writeSync(file, bytes.subarray(from));
      writeSync(file, "\n");
    };
    return await verifyCopy(host, path, { judging, onShown });
  } finally {
    closeSync(file);
  }
}

const MASKED = findingOf(
  "UNSIGNED",
  "unsigned",
  "it is a masked copy of a session, which is not signed and proves nothing",
);

const PINS_DAMAGED = findingOf(
  "PIN_MAY_BE_MISSING",
  null,
  "some remembered heads cannot be read; this log's may be among them",
);

/**
 * Compares a copy or a proof with the pinned head of its log. It may be older, and what it shows stays
 * true: only another checkpoint with the pinned number contradicts it. `line` is the hash of that
 * checkpoint's line, or null if it has none.
 */
export function judgeSeen(
  pin: Pick<Pin, "seq" | "line" | "byteOffset" | "ts"> | null,
  { newestSeq, line }: { readonly newestSeq: number | null; readonly line: string | null },
  requirePin: boolean,
): {
  readonly findings: readonly Finding[];
  readonly freshness: SeenFreshness;
  readonly missing: DisclosedCopyReport["missing"];
} {
  if (!pin) {
    const findings = [findingOf("UNPINNED", "unpinned", "no head is remembered")];
    return { findings: requirePin ? findings : [], freshness: "none", missing: null };
  }
  const { seq, byteOffset, ts } = pin;
  if (line !== null && line !== pin.line) {
    const message = `another checkpoint ${seq} was seen before, signed ${ts}: another history`;
    const missing = { seq, byte_offset: byteOffset, ts };
    return { findings: [findingOf("FORK", "rollback", message)], freshness: "none", missing };
  }
  const isBehind = newestSeq !== null && newestSeq < seq;
  const own = newestSeq !== null && newestSeq > seq ? "ahead" : "match";
  const known = line === null || newestSeq === null ? "none" : own;
  return { findings: [], freshness: isBehind ? "behind" : known, missing: null };
}

function reportOf(
  path: string,
  disclosed: DisclosureResult,
  findings: readonly Finding[],
  { freshness, missing }: Pick<DisclosedCopyReport, "freshness" | "missing">,
): DisclosedCopyReport {
  const { judge, header, counts, statement, redactor } = disclosed;
  const through = judge.signedThrough;
  const verdict = findings.reduce<Verdict>(
    (so, each) => (each.verdict === null ? so : worse(so, each.verdict)),
    "verified",
  );
  return {
    schema: "verbatim.disclosure/1",
    verdict,
    path,
    session: judge.session,
    dialect: header?.dialect ?? null,
    log: judge.log,
    signed_through: through && { seq: through.seq, turn: through.turn, ts: through.ts },
    checkpoints: { total: judge.total, valid: judge.sound },
    lines: { total: counts.lines, full: counts.full, withheld: counts.withheld },
    strings_withheld: counts.strings,
    withheld: statement?.withheld ?? [],
    left_out: statement?.leftOut ?? null,
    genesis: header?.genesis ?? null,
    from: through && judge.from,
    found: judge.found,
    redactor: statement && redactor && { ...reportedKey(redactor), ts: statement.ts },
    keys: judge.keys.map(reportedKey),
    links: judge.links.filter(({ seq }) => through !== null && seq <= through.seq),
    freshness,
    missing,
    not_checked: NOT_CHECKED,
    findings: findings.map(({ code, verdict, byteOffset, turn, message }) => {
      return { code, verdict, byte_offset: byteOffset, turn, message };
    }),
  };
}

export function reportedKey({ kid, fp, owner, refusal, rotatedFrom }: KeyAnswer): ReportedKey {
  return { kid, fp, owner, trusted: refusal === null, rotated_from: rotatedFrom ?? null };
}

/** A key that the caller names counts unless the user revoked or limited it. */
export function withKey(keys: Keys, publicKey: Uint8Array | null): Keys {
  if (!publicKey) return keys;
  const kid = kidOf(nodeCrypto, publicKey);
  const given: KeyAnswer = {
    publicKey,
    kid,
    fp: fpOf(nodeCrypto, publicKey),
    owner: "--key",
    refusal: null,
  };
  return {
    ...keys,
    byKid(asked, ts) {
      const own = keys.byKid(asked, ts);
      return asked === kid && own.refusal === "KEY_UNKNOWN" ? given : own;
    },
  };
}
