/** Preview: the selected session next to the list on a wide screen: its facts, and how it ends. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { EntryItem, SessionItem } from "../../../src/client/session-shapes.ts";
import { typedIn } from "../../../src/dialects/shared/typed-text.ts";
import { markdownHtml } from "../../../src/sessions/render/html/markdown-html.ts";
import { type Html, html, pageText } from "../../../src/sessions/render/html/markup.ts";
import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import { AgentMark } from "../agent-mark.tsx";
import { HtmlView } from "../html-view.tsx";
import { sessionHref } from "../route.ts";
import { client } from "../server.ts";
import { cents, clockOf, countText, sessionName } from "../words.ts";
import { changedAt, dayOf } from "./day-groups.ts";
import { Verdict } from "./session-row.tsx";
import { sessionTokens, tookOf } from "./session-words.ts";

const ENTRIES = 30;
const TEXTS = 4;
const TEXT_MAX = 600;
/** A row that is only passed is not loaded. */
const PAUSE_MS = 150;

/** Wide enough for a third column; list.css has the same width. */
const wide = matchMedia("(min-width: 100rem)");
const isWide = signal(wide.matches);
wide.addEventListener("change", ({ matches }) => {
  isWide.value = matches;
});

export function Preview({ session }: { readonly session: SessionItem | undefined }) {
  return isWide.value && session !== undefined ? <Shown session={session} /> : null;
}

function Shown({ session }: { readonly session: SessionItem }) {
  const texts = useLastTexts(session);
  return (
    <aside class="session-preview" aria-label="The selected session">
      <h2>
        <AgentMark label={session.agentLabel} />
        <a href={sessionHref(session.id)}>{pageText(sessionName(session))}</a>
      </h2>
      <Verdict session={session} />
      <dl>
        {factsOf(session).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{pageText(value)}</dd>
          </div>
        ))}
      </dl>
      {texts.map(({ start, role, said }) => (
        <article key={start} class={`preview-text by-${role}`}>
          <a class="preview-role" href={sessionHref(session.id, start)}>
            {role === "user" ? "User" : "Assistant"}
          </a>
          <HtmlView html={said} />
        </article>
      ))}
    </aside>
  );
}

function factsOf(session: SessionItem): [string, string][] {
  const { project, branch, model, agentLabel, cost, turns, linesAdded, linesRemoved } = session;
  const date = changedAt(session);
  const tokens = sessionTokens(session);
  const lines = linesAdded === null ? null : `+${linesAdded} −${linesRemoved ?? 0}`;
  const facts: [string, string | null][] = [
    ["Project", project],
    ["Branch", branch],
    ["Agent", agentLabel],
    ["Model", model],
    ["Last entry", `${dayOf(date, new Date())} ${clockOf(date.toISOString())}`],
    ["Duration", tookOf(session)],
    ["Turns", turns === 0 ? null : countText(turns, "turn")],
    ["Lines changed", lines],
    ["Tokens", tokens === null ? null : groupDigits(tokens)],
    ["Cost", cost === null ? null : cents(cost)],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
}

interface LastText {
  readonly start: number;
  readonly role: string;
  readonly said: Html;
}

function useLastTexts({ id, bytes, isMissing }: SessionItem): readonly LastText[] {
  const [texts, show] = useState<readonly LastText[]>([]);
  useEffect(() => show([]), [id]);
  useEffect(() => {
    if (isMissing) return;
    let isOver = false;
    const load = async () => {
      try {
        const page = await client.peek().sessions.entries(id, { limit: ENTRIES, native: false });
        if (!isOver) show(lastTexts(page.entries));
      } catch {
        // Opening the session shows why.
      }
    };
    const timer = setTimeout(load, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [id, bytes, isMissing]);
  return texts;
}

function lastTexts(entries: readonly EntryItem[]): LastText[] {
  return entries
    .flatMap(({ start, entry }) => {
      if (entry?.kind !== "message" || entry.saidBy !== undefined) return [];
      if (entry.role !== "user" && entry.role !== "assistant") return [];
      const text = entry.role === "user" ? (typedIn(entry.parts) ?? "") : textIn(entry.parts);
      if (text.trim() === "") return [];
      const cut = text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)} …` : text;
      const said = html`<div class="text">${markdownHtml(cut).html}</div>`;
      return [{ start, role: entry.role, said }];
    })
    .slice(-TEXTS);
}

function textIn(parts: NonNullable<EntryItem["entry"]>["parts"]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
