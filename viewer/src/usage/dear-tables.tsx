/** Dear tables: the most expensive sessions and prompts, each a link. */

import type { ComponentChildren } from "preact";
import type {
  CountedPrompt,
  CountedSession,
  CountedSums,
} from "../../../src/client/usage-shapes.ts";
import { shownText } from "../../../src/render/html/markup.ts";
import { grouped } from "../../../src/render/phrases.ts";
import { sessionHref } from "../route.ts";
import { costText } from "../settings.ts";
import { counted, lastName, shortCount } from "../words.ts";
import { FigureTable } from "./usage-tables.tsx";

export function SessionTable({ sessions }: { readonly sessions: readonly CountedSession[] }) {
  return (
    <section class="usage-card">
      <h2>Most expensive sessions</h2>
      {sessions.length === 0 && <p class="usage-note">None in this time.</p>}
      <FigureTable head="Session" figures={["Cost", "Tokens"]}>
        {sessions.map((session) => {
          const { name, title, session: id, agent, project, lastAt } = session;
          const text = shownText(title ?? name);
          return (
            <Row key={`${name}${id}`} sums={session}>
              {id === null ? (
                <span class="usage-name">{text}</span>
              ) : (
                <a class="usage-name" href={sessionHref(id)}>
                  {text}
                </a>
              )}
              <Facts facts={[agent, lastName(project), lastAt?.slice(0, 10) ?? null]} />
            </Row>
          );
        })}
      </FigureTable>
    </section>
  );
}

interface PromptTableProps {
  readonly prompts: readonly CountedPrompt[];
  readonly isComplete: boolean;
}

export function PromptTable({ prompts, isComplete }: PromptTableProps) {
  return (
    <section class="usage-card">
      <h2>Most expensive prompts</h2>
      {!isComplete && <p class="usage-note">Logs are being read …</p>}
      {isComplete && prompts.length === 0 && <p class="usage-note">None in this time.</p>}
      <FigureTable head="Prompt" figures={["Cost", "Tokens"]}>
        {prompts.map((prompt) => {
          const { text, session, start, agent, project, at, subagents } = prompt;
          const started = subagents > 0 ? counted(subagents, "subagent") : null;
          return (
            <Row key={`${session} ${start}`} sums={prompt}>
              <a class="usage-name" href={sessionHref(session, start)}>
                {shownText(text)}
              </a>
              <Facts facts={[agent, lastName(project), at?.slice(0, 10) ?? null, started]} />
            </Row>
          );
        })}
      </FigureTable>
    </section>
  );
}

function Facts({ facts }: { readonly facts: readonly (string | null)[] }) {
  const known = facts.filter((fact) => fact !== null);
  return <span class="usage-facts">{shownText(known.join(" · "))}</span>;
}

interface RowProps {
  readonly sums: CountedSums;
  readonly children: ComponentChildren;
}

function Row({ sums, children }: RowProps) {
  return (
    <tr>
      <th scope="row">{children}</th>
      <td class="usage-figure">{costText(sums)}</td>
      <td class="usage-figure" title={grouped(Math.round(sums.total))}>
        {shortCount(sums.total)}
      </td>
    </tr>
  );
}
