/** Verify proofs: the reports on proofs, and how `verify` prints them. */

import { nodeHost } from "../../core/base/node-host.ts";
import { beginsAsPage } from "../../evidence/prove/proof-page.ts";
import { type ProofReport, verifyProof } from "../../evidence/prove/verify-proof.ts";
import type { UserJudging } from "../../evidence/verify/user-judging.ts";
import { beginsAsProof, PROOF_EXTENSION } from "../../trust/proof/inclusion/records.ts";
import type { Run } from "../command/command.ts";
import { countText } from "../serve/findings-report.ts";
import { beginsAs, keyText, laterSeen, readKeyOption } from "./verify-copies.ts";
import { reasonLine } from "./verify-text.ts";

/** More of a line is not printed; `--json` has all of it. */
const TEXT_CHARS_MAX = 300;

/** Whether a file is, or should be, a proof. */
export function isProof(path: string): boolean {
  const begins = (bytes: Uint8Array) => beginsAsProof(bytes) || beginsAsPage(bytes);
  return beginsAs(path, begins, PROOF_EXTENSION);
}

export async function* verifyProofs(
  paths: readonly string[],
  judging: UserJudging,
  { options }: Run,
): AsyncGenerator<{ readonly report: ProofReport; readonly lines: readonly string[] }> {
  if (paths.length === 0) return;
  const key = await readKeyOption(options);
  const requirePin = options.requirePin === true;
  for (const path of paths) {
    const report = await verifyProof(nodeHost, path, { judging, key, requirePin });
    yield { report, lines: describeProof(report) };
  }
}

/** One line with the verdict, then what is proven, and by what. */
function describeProof(report: ProofReport): string[] {
  const { path, verdict, lines, findings } = report;
  const reasons = findings.filter((each) => each.verdict === verdict || !each.verdict);
  const shown =
    lines.length > 0 ? countText(lines.length, "line") : "one checkpoint continues another";
  const amount = `: ${shown}; it says nothing about other lines`;
  return [
    `${path}: ${verdict}${verdict === "verified" ? amount : ""}`,
    ...(verdict === "tampered" || verdict === "unreadable" ? [] : factsOf(report)),
    ...reasons.map(reasonLine),
  ];
}

function factsOf(report: ProofReport): string[] {
  const { session, keys, lines, consistent, genesis, prover } = report;
  return [
    `  of ${session ?? "an unknown session"}, signed by ${keys.map(keyText).join(", ")}`,
    ...lines.map(({ line, entry, turn, seq, ts, text, strings_withheld: withheld }) => {
      const said = entry === null ? "context" : `entry ${entry}`;
      const place = `line ${line} (${said})${turn === null ? "" : `, turn ${turn}`}`;
      const gaps = withheld > 0 ? `, ${countText(withheld, "string")} withheld` : "";
      const cut = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
      return `  ${place}, in checkpoint ${seq} of ${ts}${gaps}: ${cut}`;
    }),
    ...consistent.map(([from, to]) => `  checkpoint ${to} continues the log of checkpoint ${from}`),
    ...laterSeen(report),
    ...(genesis === "stated" && prover
      ? [`  how the log began is stated by ${keyText(prover)}`]
      : []),
    `  cannot be checked: ${report.not_checked.join("; ")}`,
  ];
}
