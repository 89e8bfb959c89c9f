/** Dear tables: the most expensive sessions and prompts, each a link. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type {
  CountedPrompt,
  CountedSession,
  CountedSums,
} from "../../../src/client/usage-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import { sessionHref } from "../route.ts";
import { zone } from "../settings.ts";
import { countText, dayIn, dayText, lastName, sessionName, shortCount } from "../words.ts";
import { Cost } from "./short-text.tsx";
import { FigureTable } from "./usage-tables.tsx";

interface SessionTableProps {
  readonly client: VerbatimClient;
  readonly sessions: readonly CountedSession[];
}

export function SessionTable({ client, sessions }: SessionTableProps) {
  const titles = useTitles(client, sessions);
  return (
    <section class="usage-card">
      <h2>Most expensive sessions</h2>
      {sessions.length === 0 && <p class="usage-note">None in this time.</p>}
      <FigureTable head="Session" figures={["Cost", "Tokens"]}>
        {sessions.map((session) => {
          const { name, title, session: id, agent, project, lastAt } = session;
          const known = id === null ? name : titles.get(id);
          const text = pageText(known ?? title ?? "…");
          return (
            <Row key={`${name}${id}`} sums={session}>
              {id === null ? (
                <span class="usage-name">{text}</span>
              ) : (
                <a class="usage-name" href={sessionHref(id)}>
                  {text}
                </a>
              )}
              <Facts
                facts={[
                  agent,
                  project && lastName(project),
                  lastAt && dayText(dayIn(lastAt, zone.value)),
                ]}
              />
            </Row>
          );
        })}
      </FigureTable>
    </section>
  );
}

/** Titles as the list has them, by id. The report has first prompts, and later: it reads the logs. */
function useTitles(client: VerbatimClient, sessions: readonly CountedSession[]) {
  const [titles, setTitles] = useState<ReadonlyMap<string, string>>(new Map());
  const wanted = sessions.flatMap(({ session }) => session ?? []);
  useEffect(() => {
    for (const id of wanted.filter((each) => !titles.has(each))) {
      const { title, name } = sessions.find(({ session }) => session === id) ?? {};
      const know = (title: string) => setTitles((known) => new Map(known).set(id, title));
      client.sessions.get(id).then(
        (item) => know(sessionName(item)),
        () => know(title ?? name ?? id),
      );
    }
  }, [client, wanted.join(" ")]);
  return titles;
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
          const started = subagents > 0 ? countText(subagents, "subagent") : null;
          return (
            <Row key={`${session} ${start}`} sums={prompt}>
              <a class="usage-name" href={sessionHref(session, start)}>
                {pageText(text)}
              </a>
              <Facts
                facts={[
                  agent,
                  project && lastName(project),
                  at && dayText(dayIn(at, zone.value)),
                  started,
                ]}
              />
            </Row>
          );
        })}
      </FigureTable>
    </section>
  );
}

function Facts({ facts }: { readonly facts: readonly (string | null)[] }) {
  const known = facts.filter((fact) => fact !== null);
  return <span class="usage-facts">{pageText(known.join(" · "))}</span>;
}

interface RowProps {
  readonly sums: CountedSums;
  readonly children: ComponentChildren;
}

function Row({ sums, children }: RowProps) {
  return (
    <tr>
      <th scope="row">{children}</th>
      <td class="usage-figure">
        <Cost sums={sums} />
      </td>
      <td class="usage-figure" title={groupDigits(Math.round(sums.total))}>
        {shortCount(sums.total)}
      </td>
    </tr>
  );
}
