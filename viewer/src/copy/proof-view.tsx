/** Proof view: a proof of single lines, judged and shown in this browser. */

import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { notCheckedIn, type ProofJudgement } from "../../../src/trust/proof/inclusion/judge.ts";
import type { Verdict } from "../../../src/trust/proof/verdict.ts";
import { TONES, VERDICT_WORDS } from "../proof/proof-words.ts";
import { countText, fullTimeOf } from "../words.ts";
import { CopyLine } from "./copy-line.tsx";
import { KeyForm, KeyLine } from "./copy-verdict.tsx";
import { VerdictChip } from "./verdict-chip.tsx";

const SENTENCES: Readonly<Partial<Record<Verdict, string>>> = {
  verified: "These lines were in the log at this place when it was signed. Others are not judged.",
  tampered: "This proof is not of what was signed. Do not rely on anything in it.",
  unreadable: "No verdict was reached: the proof is too long, or of a newer version.",
  untrusted:
    "Nothing says that it was changed. Whether the right person signed it, only their key can tell.",
  incomplete: "What is signed is valid. Some of it was unsigned when its signer found it.",
};

interface Props {
  readonly judged: ProofJudgement;
  readonly canVerify: boolean;
}

export function ProofView({ judged, canVerify }: Props) {
  const { lines, consistent } = judged;
  return (
    <>
      <VerdictPanel judged={judged} canVerify={canVerify} />
      <section aria-labelledby="lines-title">
        <h2 id="lines-title">Lines</h2>
        {consistent.map(([from, to]) => (
          <p key={to}>
            Checkpoint {to} continues the log of checkpoint {from}.
          </p>
        ))}
        <ol class="copy-lines">
          {lines.map(({ index, entry, turn, seq, ts, bytes, gaps }) => (
            <li key={index}>
              <p class="copy-note">
                {entry === null ? "Context" : `Entry ${entry}, as the prover says`}
                {turn !== null && `, turn ${turn}`}, in checkpoint {seq} of {fullTimeOf(ts)}
              </p>
              <ol class="copy-lines">
                <CopyLine
                  row={{ is: "line", bytes, gaps, because: null, number: index + 1 }}
                  reasons={[]}
                />
              </ol>
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

function VerdictPanel({ judged, canVerify }: Props) {
  const { verdict, lines, keys, prover, genesis, findings } = judged;
  const amount = lines.length > 0 ? `: ${countText(lines.length, "line")}` : "";
  const reasons = findings.filter((each) => each.verdict === verdict);
  return (
    <VerdictChip tone={TONES[verdict]} text={`${VERDICT_WORDS[verdict]}${amount}`}>
      <p>{SENTENCES[verdict] ?? ""}</p>
      {verdict !== "verified" && (
        <ul class="copy-findings">
          {reasons.map(({ code, message }, n) => (
            <li key={n}>
              {pageText(message)} <small>{code}</small>
            </li>
          ))}
        </ul>
      )}
      {!canVerify && <p role="alert">This browser cannot check Ed25519 signatures on this page.</p>}
      <dl>
        <dt>Signed by</dt>
        <dd>
          {keys.map((key) => (
            <KeyLine key={key.kid ?? ""} answer={key} />
          ))}
        </dd>
        {genesis === "stated" && prover !== null && (
          <>
            <dt>How the log began</dt>
            <dd>
              is stated by <KeyLine answer={prover} />
            </dd>
          </>
        )}
        <dt>Cannot be checked</dt>
        <dd>{notCheckedIn(genesis).join("; ")}</dd>
      </dl>
      <KeyForm used={[...keys, prover]} />
    </VerdictChip>
  );
}
