/** Session row: one session in the list: title, agent, usage. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { SessionItem } from "../../../src/client/session-shapes.ts";
import { VERDICTS } from "../../../src/proof/verdict.ts";
import { shownText } from "../../../src/render/html/markup.ts";
import { grouped, lengthOf } from "../../../src/render/phrases.ts";
import { SIGNS, TONES, VERDICT_WORDS } from "../proof/proof-words.ts";
import { sessionHref } from "../route.ts";
import { client } from "../server.ts";
import {
  agoOf,
  counted,
  keptText,
  lastName,
  nameOf,
  STATUS_WORDS,
  shortCount,
  shortMoney,
} from "../words.ts";
import { JUDGED_BYTES_MAX, verdictFor } from "./verdicts.ts";

/** Updated every half minute, so that "1 min. ago" is. */
const nowMs = signal(Date.now());
setInterval(() => {
  nowMs.value = Date.now();
}, 30_000);

export function SessionRow({ session }: { readonly session: SessionItem }) {
  const { id, agent, model, dialect, updatedAt, modifiedAt } = session;
  const { program, project, branch, parent } = session;
  const at = updatedAt ?? modifiedAt;
  return (
    <a class="session-row" href={sessionHref(id)}>
      <StatusDot session={session} />
      <span class="row-main">
        <span class="row-title">{shownText(nameOf(session))}</span>
        <span class="row-meta">
          {agent !== null && <span class="row-agent">{shownText(agent)}</span>}
          {model !== null && <span>{shownText(model)}</span>}
          <span>{program ?? dialect}</span>
          {project !== null && (
            <span title={shownText(project)}>{shownText(lastName(project))}</span>
          )}
          {branch !== null && <span>{shownText(branch)}</span>}
          {typeof parent === "string" && <span>subagent</span>}
          {session.isMissing && <span>log missing</span>}
          {session.isKept && <span>{keptText(session)}</span>}
        </span>
      </span>
      <Figures session={session} />
      <span class="row-end">
        <time dateTime={at} title={at}>
          {agoOf(at, nowMs.value)}
        </time>
        <Verdict session={session} />
      </span>
    </a>
  );
}

function Figures({ session }: { readonly session: SessionItem }) {
  const { turns, totalTokens, inputTokens, outputTokens, spend, durationMs } = session;
  const known = inputTokens === null && outputTokens === null ? null : 0;
  const tokens = totalTokens ?? (known === null ? null : (inputTokens ?? 0) + (outputTokens ?? 0));
  const took = typeof durationMs === "number" ? lengthOf(durationMs) : null;
  return (
    <span class="row-figures">
      <Figure text={turns === 0 ? null : counted(turns, "turn")} />
      <Figure
        text={tokens === null ? null : `${shortCount(tokens)} tokens`}
        title={tokens === null ? "" : `${grouped(tokens)} tokens`}
      />
      <Figure text={spend === null ? null : shortMoney(spend)} />
      <Figure text={took} />
    </span>
  );
}

function Figure({ text, title }: { readonly text: string | null; readonly title?: string }) {
  if (text === null) return <span class="figure none" />;
  return (
    <span class="figure" title={title}>
      {text}
    </span>
  );
}

export function isRunning({ status, isLive }: SessionItem): boolean {
  return isLive && (status === "running" || status === null);
}

function StatusDot({ session }: { readonly session: SessionItem }) {
  const { status } = session;
  const isLive = isRunning(session);
  const word = isLive ? "Live" : status === null ? "" : STATUS_WORDS[status];
  const kind = isLive ? "live" : (status ?? "unknown");
  return (
    <span class={`dot ${kind}`} title={word}>
      <span class="unseen">{word}</span>
    </span>
  );
}

function Verdict({ session }: { readonly session: SessionItem }) {
  const { id, bytes, modifiedAt } = session;
  const [verdict, show] = useState<string | null>(null);
  useEffect(() => {
    if (bytes > JUDGED_BYTES_MAX) return;
    const asked = verdictFor(client.peek(), session);
    const unsubscribe = asked.verdict.subscribe(show);
    return () => {
      unsubscribe();
      asked.release();
    };
  }, [id, bytes, modifiedAt]);
  if (verdict === null) return <span class="verdict none" />;
  const known = VERDICTS.find((each) => each === verdict) ?? "unreadable";
  // An honest session that is being written: its last lines are signed when their turn ends.
  if (known === "incomplete" && session.isLive) return <span class="verdict">signing</span>;
  return (
    <span class={`verdict ${known} tone-${TONES[known]}`}>
      {SIGNS[TONES[known]]} {VERDICT_WORDS[known]}
    </span>
  );
}
