/** Proof view: the verdict on a proof of single lines, and these lines. */

import { notCheckedIn, type ProofJudgement } from "../../../src/trust/proof/inclusion/judge.ts";
import { VERDICT_WORDS } from "../proof/proof-words.ts";
import { countText, fullTimeOf } from "../words.ts";
import { KeyLine, VerdictPanel } from "./copy-verdict.tsx";
import type { CopyRow } from "./judge-copy.ts";

const SENTENCES = {
  verified: "These lines were in the log at this place when it was signed. Others are not judged.",
  tampered: "This proof is not of what was signed. Do not rely on anything in it.",
};

export function provenRows({ lines, header }: ProofJudgement): CopyRow[] {
  const is = header?.content === "bytes" ? "bytes" : "line";
  return lines.map(({ index, entry, turn, seq, ts, bytes, gaps }) => {
    const name = entry === null ? "Context" : `Entry ${entry}, as the prover says`;
    const place = turn === null ? name : `${name}, turn ${turn}`;
    const note = `${place}, in checkpoint ${seq} of ${fullTimeOf(ts)}`;
    return { is, bytes, gaps, because: null, number: index + 1, note };
  });
}

interface ProofVerdictProps {
  readonly judged: ProofJudgement;
  readonly canVerify: boolean;
}

export function ProofVerdict({ judged, canVerify }: ProofVerdictProps) {
  const { verdict, lines, keys, prover, genesis, consistent } = judged;
  const amount = lines.length > 0 ? `: ${countText(lines.length, "line")}` : "";
  const text = `${VERDICT_WORDS[verdict]}${amount}`;
  const used = [...keys, prover];
  return (
    <VerdictPanel {...judged} text={text} used={used} canVerify={canVerify} sentences={SENTENCES}>
      {genesis === "stated" && prover !== null && (
        <>
          <dt>How the log began</dt>
          <dd>
            is stated by <KeyLine answer={prover} />
          </dd>
        </>
      )}
      {consistent.length > 0 && <dt>Continued</dt>}
      {consistent.map(([from, to]) => (
        <dd key={to}>
          Checkpoint {to} continues the log of checkpoint {from}.
        </dd>
      ))}
      <dt>Cannot be checked</dt>
      <dd>{notCheckedIn(genesis).join("; ")}</dd>
    </VerdictPanel>
  );
}
