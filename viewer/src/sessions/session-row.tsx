/** Session row: one session in the list: title, project, model, usage. */

import type { SessionItem } from "../../../src/client/session-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import { VERDICTS } from "../../../src/trust/proof/verdict.ts";
import { AgentMark } from "../agent-mark.tsx";
import { Shield } from "../proof/proof-badge.tsx";
import { SIGNS, TONES, VERDICT_WORDS } from "../proof/proof-words.ts";
import { sessionHref } from "../route.ts";
import {
  cents,
  clockOf,
  deletionText,
  erasedText,
  fullTimeOf,
  STATUS_WORDS,
  sessionName,
  shortCount,
} from "../words.ts";
import { changedAt, dayOf } from "./day-groups.ts";
import {
  projectNameOf,
  sessionTokens,
  shortModel,
  tookOf,
  unusualVerdict,
} from "./session-words.ts";

interface RowProps {
  readonly session: SessionItem;
  /** Whether the row is below the heading of its day. */
  readonly isInDay: boolean;
  /** Whether it is open beside the list. */
  readonly isCurrent: boolean;
  readonly onSelect: () => void;
}

export function SessionRow({ session, isInDay, isCurrent, onSelect }: RowProps) {
  const date = changedAt(session);
  const clock = clockOf(date.toISOString());
  return (
    <a
      class="session-row"
      href={sessionHref(session.id)}
      aria-current={isCurrent ? "page" : undefined}
      onFocus={onSelect}
      data-steps
    >
      <span class="row-mark">
        <AgentMark label={session.agentLabel} />
        <StatusDot session={session} />
      </span>
      <span class="row-main">
        <span class="row-title">
          {session.starred && (
            <span class="row-star" title="Starred">
              ★<span class="unseen">Starred: </span>
            </span>
          )}
          {pageText(sessionName(session))}
        </span>
        <Meta session={session} />
      </span>
      <Figures session={session} />
      <ProofSign session={session} />
      <time class="row-time" dateTime={date.toISOString()} title={fullTimeOf(date.toISOString())}>
        {isInDay ? clock : `${dayOf(date, new Date())} ${clock}`}
      </time>
    </a>
  );
}

function Meta({ session }: { readonly session: SessionItem }) {
  const { agentLabel, model, branch, project, directory, parent } = session;
  const isChild = typeof parent === "string";
  return (
    <span class="row-meta">
      <Verdict session={session} />
      {project !== null && (
        <span class="row-project" title={pageText(directory ?? project)}>
          {pageText(projectNameOf(project))}
        </span>
      )}
      {session.sender !== null && (
        <span class="row-sender" title={senderTitle(session.sender)}>
          {pageText(session.sender.user)}@{pageText(session.sender.machine)}
        </span>
      )}
      {session.tags.map((tag) => (
        <span key={tag} class="row-tag">
          #{pageText(tag)}
        </span>
      ))}
      {branch !== null && <span class="row-branch">{pageText(branch)}</span>}
      <span>{pageText(agentLabel)}</span>
      {model !== null && <span title={pageText(model)}>{pageText(shortModel(model))}</span>}
      {isChild && <span>subagent</span>}
      {session.isMissing && <span>log missing</span>}
      {session.erased && <span title={pageText(erasedText(session.erased))}>text erased</span>}
      {session.isKept && <span>{deletionText(session)}</span>}
    </span>
  );
}

function senderTitle({ folder, tokens }: NonNullable<SessionItem["sender"]>): string {
  const by = tokens.length > 0 ? `, where these tokens may send: ${tokens.join(", ")}` : "";
  return pageText(`User and machine as the sender says; sent to the folder ${folder}${by}`);
}

function Figures({ session }: { readonly session: SessionItem }) {
  const { linesAdded, linesRemoved, cost } = session;
  const tokens = sessionTokens(session);
  const hasLines = linesAdded !== null || linesRemoved !== null;
  return (
    <span class="row-figures">
      <span class="figure lines" title={hasLines ? "Lines that edits added and removed" : ""}>
        {hasLines && (
          <>
            {linesAdded ? <ins>+{shortCount(linesAdded)}</ins> : null}{" "}
            {linesRemoved ? <del>−{shortCount(linesRemoved)}</del> : null}
          </>
        )}
      </span>
      <span class="figure" title="From the first entry to the last">
        {tookOf(session)}
      </span>
      <span class="figure" title={tokens === null ? "" : `${groupDigits(tokens)} tokens`}>
        {tokens === null ? null : `${shortCount(tokens)} tokens`}
      </span>
      <span class="figure cost">{cost === null ? null : cents(cost)}</span>
    </span>
  );
}

/** `running` is what the log says last; only a writer at work makes a session live. */
export function isRunning({ isLive }: Pick<SessionItem, "isLive">): boolean {
  return isLive;
}

function StatusDot({ session }: { readonly session: SessionItem }) {
  const { status, isLive } = session;
  const word = isLive ? "Live" : status === null ? "" : STATUS_WORDS[status];
  const kind = isLive ? "live" : (status ?? "unknown");
  return (
    <span class={`dot ${kind}`} title={word}>
      <span class="unseen">{word}</span>
    </span>
  );
}

/** Every verdict, at a glance. */
function ProofSign({ session: { verdict, isLive } }: { readonly session: SessionItem }) {
  const known = VERDICTS.find((each) => each === verdict);
  if (known === undefined) return <span class="row-proof" />;
  const isSigning = known === "incomplete" && isLive;
  const tone = isSigning ? "plain" : TONES[known];
  const word = isSigning ? "signing …" : VERDICT_WORDS[known];
  return (
    <span class={`row-proof tone-${tone}`} title={word}>
      <Shield tone={tone} />
      <span class="unseen">{word}</span>
    </span>
  );
}

export function Verdict({ session }: { readonly session: SessionItem }) {
  const verdict = unusualVerdict(session);
  if (verdict === null) return null;
  return (
    <span class={`verdict ${verdict} tone-${TONES[verdict]}`}>
      {SIGNS[TONES[verdict]]} {VERDICT_WORDS[verdict]}
    </span>
  );
}
