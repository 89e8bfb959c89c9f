/**
 * Plain copy: the lines of a log with what is found masked in the text, and without any proof. For logs that
 * are unsigned, or signed in the older format only. Checkpoints are left out: their hashes are of
 * the original lines, and their salt would tell more.
 */

import type { Host } from "../../core/base/host.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { lineTooLong, readExactly } from "../../trust/judge/inspect.ts";
import { LF } from "../../trust/proof/bytes.ts";
import { asciiJson } from "../../trust/proof/checkpoint.ts";
import { claimOf } from "../../trust/proof/claims.ts";
import { envelopeOf, hasSidecar } from "../../trust/proof/envelopes.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import type { SignableLog } from "../../trust/session-log.ts";
import type { WithheldPlace } from "./copy-writer.ts";
import { type Finder, maskedLine, rulesOf, WITHHELD, withheldBy } from "./hits.ts";

export interface PlainOptions {
  readonly finder: Finder;
  readonly reason: string;
  readonly out: (bytes: Uint8Array) => void;
  readonly onPlace: (place: WithheldPlace) => void;
}

/** Writes the copy; returns how many lines it has, and how many are unchanged. */
export async function copyPlainly(
  host: Host,
  target: SignableLog,
  { finder, reason, out, onPlace }: PlainOptions,
): Promise<{ readonly lines: number; readonly full: number }> {
  const { root, logId, dialect } = target;
  const place = await openLogPath(host, logId, { create: false, root });
  const counts = { lines: 0, full: 0 };
  let number = 0;
  const take = (line: Uint8Array) => {
    number++;
    if (!hasSidecar(dialect) && claimOf(line, envelopeOf(dialect)) !== null) return;
    counts.lines++;
    const hits = finder(line, number);
    if (hits.length === 0) counts.full++;
    const replacement = hits.length === 0 ? null : maskedLine(line, hits, finder);
    if (replacement) {
      for (const { from, to, hits } of replacement.values) {
        onPlace({ line: number, what: "value", rule: rulesOf(hits), bytes: to - from });
      }
      out(Buffer.concat([replacement.bytes, Buffer.from("\n")]));
      return;
    }
    const withheld = hits.length === 0 ? null : withheldBy(line, 1, hits);
    if (withheld?.is === "line") {
      onPlace({ line: number, what: "line", rule: withheld.rule, bytes: line.length });
      out(Buffer.from(`${asciiJson({ withheld: { rule: withheld.rule, reason } })}\n`));
      return;
    }
    let from = 0;
    for (const { at, length, rule } of withheld?.parts ?? []) {
      onPlace({ line: number, what: "string", rule, bytes: length });
      out(line.subarray(from, at));
      out(Buffer.from(WITHHELD));
      from = at + length;
    }
    out(Buffer.concat([line.subarray(from), Buffer.from("\n")]));
  };
  const whole = new WholeLines((bytes) => {
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LF, start);
      take(bytes.subarray(start, end));
      start = end + 1;
    }
  });
  try {
    const log = openToRead(place);
    try {
      for await (const chunk of readExactly(log, 0, log.size(), place.path)) {
        whole.feed(chunk);
        if (whole.restBytes > LOG_LIMITS.lineBytesMax) throw lineTooLong(0);
      }
    } finally {
      log.close();
    }
  } finally {
    place.directory.close();
  }
  return counts;
}
