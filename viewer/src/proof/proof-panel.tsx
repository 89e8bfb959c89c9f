/** Proof panel: the verdicts of this browser and the server, the keys, and what to do next. */

import type { VerbatimClient } from "../../../src/client/client.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import type { Verdict } from "../../../src/trust/proof/verdict.ts";
import { sessionHref } from "../route.ts";
import { fullTimeOf, sizeOf } from "../words.ts";
import {
  type BrowserWord,
  browserVerdict,
  percent,
  type ServerWord,
  serverVerdict,
} from "./badge.ts";
import type { AlteredRange, CheckResult } from "./checked.ts";
import { type ProofStore, proofOf } from "./proof-store.ts";
import {
  checkedWords,
  ownerWords,
  pinWords,
  SIGNS,
  TONES,
  trustWords,
  VERDICT_WORDS,
} from "./proof-words.ts";
import "./proof.css";

const ALTERED_SHOWN_MAX = 20;

interface PanelProps {
  readonly client: VerbatimClient;
  readonly id: string;
}

export function ProofPanel({ client, id }: PanelProps) {
  const proof = proofOf(client, id);
  const { tone, sentence, advice } = proof.badge.value;
  const browser = proof.browser.value;
  const server = proof.server.value;
  const checked = browser.is === "checked" ? browser.checked : null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: on a small screen it scrolls, by keys, too.
    <section id="proof-panel" class="proof-panel" aria-labelledby="proof-title" tabIndex={0}>
      <h2 id="proof-title">Proof</h2>
      <p class={`proof-sentence tone-${tone}`}>
        <span aria-hidden="true">{SIGNS[tone]}</span> <span>{sentence}</span>
      </p>
      {advice !== null && <Advice text={advice} />}
      {checked !== null && checked.altered.length > 0 && (
        <Altered id={proof.id} ranges={checked.altered} />
      )}
      <dl>
        <dt>Your browser</dt>
        <dd>
          <BrowserSays proof={proof} word={browser} />
        </dd>
        <dt>The server</dt>
        <dd>
          <ServerSays word={server} />
        </dd>
        {checked !== null && checked.keys.length > 0 && <SigningKeys checked={checked} />}
        {checked !== null && checked.signedAt !== null && (
          <>
            <dt>Last signed</dt>
            <dd>
              <time dateTime={checked.signedAt}>{fullTimeOf(checked.signedAt)}</time>, by the
              signer's clock
            </dd>
          </>
        )}
      </dl>
      {(browser.is === "failed" || server.is === "failed") && (
        <button type="button" onClick={() => proof.checkAgain()}>
          Check again
        </button>
      )}
    </section>
  );
}

/** Commands are between backticks. */
export function Advice({ text }: { readonly text: string }) {
  const pieces = text.split("`");
  return (
    <p class="proof-advice">
      {pieces.map((piece, n) => (n % 2 === 0 ? piece : <code key={n}>{pageText(piece)}</code>))}
    </p>
  );
}

function BrowserSays({ proof, word }: { readonly proof: ProofStore; readonly word: BrowserWord }) {
  if (word.is === "failed") return <span role="alert">could not check it: {word.reason}</span>;
  if (word.is === "checking") return <Checking proof={proof} share={word.share} />;
  const { checked, canVerify } = word;
  const verdict = browserVerdict(word);
  return (
    <>
      {verdict === null ? (
        "not checked"
      ) : (
        <VerdictWord verdict={verdict} isWhole={checked.isWhole} />
      )}
      {`: ${checkedWords(checked)}`}
      {!checked.isWhole && (
        <button type="button" onClick={() => proof.checkAll()}>
          Check all of it ({sizeOf(checked.bytes.total)})
        </button>
      )}
      <small>
        {canVerify
          ? "It checks the log and its signatures. It cannot see pins or other files."
          : "This browser cannot check Ed25519 signatures on this page."}
      </small>
    </>
  );
}

function Checking({ proof, share }: { readonly proof: ProofStore; readonly share: number }) {
  return (
    <>
      checking {percent(share)} <progress value={share} max={1} aria-label="Checked so far" />
      {proof.isWholeRunning.value && (
        <button type="button" class="stop" onClick={() => proof.stopWhole()}>
          Stop
        </button>
      )}
    </>
  );
}

function ServerSays({ word }: { readonly word: ServerWord }) {
  const verdict = serverVerdict(word);
  if (word.is === "failed") return <span role="alert">could not check it: {word.reason}</span>;
  if (word.is !== "said" || verdict === null) {
    return <>{word.is === "asking" ? "checking …" : "not asked: the session is very long"}</>;
  }
  const why = word.report.findings.find((finding) => finding.verdict === word.report.verdict);
  return (
    <>
      <VerdictWord verdict={verdict} isWhole={true} />
      {why !== undefined && `: ${why.message}`}
      {verdict !== "unsigned" && <div>{pinWords(word.report)}</div>}
      <small>
        It also checks pins (remembered ends), the files next to the log, and whom its user trusts.
      </small>
    </>
  );
}

function VerdictWord(props: { readonly verdict: Verdict; readonly isWhole: boolean }) {
  const { verdict, isWhole } = props;
  const word = verdict === "verified" && !isWhole ? "end verified" : VERDICT_WORDS[verdict];
  return <strong class={`tone-${TONES[verdict]}`}>{word}</strong>;
}

function Altered(props: { readonly id: string; readonly ranges: readonly AlteredRange[] }) {
  const shown = props.ranges.slice(0, ALTERED_SHOWN_MAX);
  return (
    <ul class="proof-altered">
      {shown.map(({ from, to, turn }) => (
        <li key={from}>
          <a href={sessionHref(props.id, from)}>
            {turn === null ? "Show the place" : `Show what was altered in turn ${turn}`}
          </a>{" "}
          <small>
            bytes {groupDigits(from)} to {groupDigits(to)}
          </small>
        </li>
      ))}
      {props.ranges.length > shown.length && <li>and {props.ranges.length - shown.length} more</li>}
    </ul>
  );
}

function SigningKeys({ checked }: { readonly checked: CheckResult }) {
  return (
    <>
      <dt>Signed by</dt>
      <dd>
        {checked.keys.map(({ kid, owner, refusal }) => (
          <div key={kid ?? ""}>
            <code title={kid ?? ""}>{(kid ?? "").slice(0, 16)}</code>
            {owner !== null && <> of {ownerWords(owner)}</>}, {trustWords(refusal)}
          </div>
        ))}
        <small>
          Your browser checked that this key made the signatures. Whether to trust the key is for
          the user who runs this server to say: the trust list is theirs.
        </small>
      </dd>
    </>
  );
}
