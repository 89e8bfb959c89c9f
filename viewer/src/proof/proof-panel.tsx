/** Proof panel: what was checked in this browser, by whose keys, and what the server says beside it. */

import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionVerdict } from "../../../src/client/session-shapes.ts";
import { sessionHref } from "../route.ts";
import { sizeOf } from "../words.ts";
import type { AlteredRange, Checked } from "./checked.ts";
import { percent } from "./proof-badge.tsx";
import { type ProofStore, proofOf } from "./proof-store.ts";
import {
  checkedWords,
  ownerWords,
  pinWords,
  SIGNS,
  sentenceOf,
  TONES,
  toneOf,
  trustWords,
} from "./proof-words.ts";
import "./proof.css";

const ALTERED_SHOWN_MAX = 20;

interface PanelProps {
  readonly client: VerbatimClient;
  readonly id: string;
}

export function ProofPanel({ client, id }: PanelProps) {
  const proof = proofOf(client, id);
  const state = proof.state.value;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: on a small screen it scrolls, by keys, too.
    <section id="proof-panel" class="proof-panel" aria-labelledby="proof-title" tabIndex={0}>
      <h2 id="proof-title">Proof</h2>
      {state.is === "checking" && <Checking proof={proof} share={state.share} />}
      {state.is === "failed" && <p role="alert">It could not be checked: {state.reason}</p>}
      {state.is === "checked" && <Found proof={proof} checked={state.checked} />}
    </section>
  );
}

function Checking({ proof, share }: { readonly proof: ProofStore; readonly share: number }) {
  const state = proof.state.value;
  const isLong = state.is === "checking" && state.isWhole;
  return (
    <>
      <p>Your browser is checking what was signed: {percent(share)}</p>
      <progress value={share} max={1} aria-label="Checked so far" />
      {isLong && (
        <button type="button" onClick={() => proof.stopWhole()}>
          Stop
        </button>
      )}
    </>
  );
}

function Found({ proof, checked }: { readonly proof: ProofStore; readonly checked: Checked }) {
  const can = proof.canVerify.value !== false;
  const tone = toneOf(checked, can);
  const { isWhole, bytes } = checked;
  return (
    <>
      <p class={`proof-sentence tone-${tone}`}>
        <span aria-hidden="true">{SIGNS[tone]}</span> <span>{sentenceOf(checked, can)}</span>
      </p>
      {checked.altered.length > 0 && <Altered id={proof.id} ranges={checked.altered} />}
      <dl>
        <dt>Checked here</dt>
        <dd>
          {checkedWords(checked)}
          {!isWhole && (
            <button type="button" onClick={() => proof.checkAll()}>
              Check all of it ({sizeOf(bytes.total)})
            </button>
          )}
        </dd>
        {checked.keys.length > 0 && <SigningKeys checked={checked} />}
        {checked.signedAt !== null && (
          <>
            <dt>Last signed</dt>
            <dd>
              <time dateTime={checked.signedAt}>{new Date(checked.signedAt).toLocaleString()}</time>
              , by the signer's clock
            </dd>
          </>
        )}
        <ServerSays report={proof.report.value} checked={checked} can={can} />
      </dl>
    </>
  );
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
            bytes {from} to {to}
          </small>
        </li>
      ))}
      {props.ranges.length > shown.length && <li>and {props.ranges.length - shown.length} more</li>}
    </ul>
  );
}

function SigningKeys({ checked }: { readonly checked: Checked }) {
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
          That the signatures are of this key, your browser has checked. Whether the key is to be
          trusted it cannot know: the trust list is that of the user who runs this server.
        </small>
      </dd>
    </>
  );
}

interface ServerSaysProps {
  readonly report: SessionVerdict | null;
  readonly checked: Checked;
  readonly can: boolean;
}

function ServerSays({ report, checked, can }: ServerSaysProps) {
  if (report === null) {
    return (
      <>
        <dt>The server says</dt>
        <dd>nothing yet</dd>
      </>
    );
  }
  const word = report.verdict as keyof typeof TONES;
  const agrees = can && checked.isWhole && word === checked.verdict;
  return (
    <>
      {checked.verdict !== "unsigned" && (
        <>
          <dt>Remembered end</dt>
          <dd>{pinWords(report)}</dd>
        </>
      )}
      <dt>The server says</dt>
      <dd>
        <strong class={`tone-${TONES[word] ?? "plain"}`}>{word}</strong>
        {agrees && ", as your browser does"}
      </dd>
    </>
  );
}
