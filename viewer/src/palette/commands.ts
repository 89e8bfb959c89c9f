/** Commands: what the palette offers for a text: pages, actions, agents, projects, sessions. */

import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionFacets, SessionItem } from "../../../src/client/session-shapes.ts";
import { formatRoute, type ListQuery, NO_FILTER, sessionHref } from "../route.ts";
import { changedAt, dayOf } from "../sessions/day-groups.ts";
import { projectNameOf, projectNames } from "../sessions/session-words.ts";
import { nextTheme } from "../style/theme-button.tsx";
import { sessionName } from "../words.ts";

export interface Command {
  readonly group: "Pages" | "Actions" | "Agents" | "Projects" | "Sessions";
  readonly name: string;
  /** More about it, dimmed. */
  readonly note: string;
  /** An address, or what to do. */
  readonly deed: string | (() => void);
}

const SESSIONS = 8;
const OF_A_GROUP = 6;

const listHrefOf = (filter: Partial<ListQuery>) => {
  return formatRoute({ page: "sessions", filter: { ...NO_FILTER, ...filter } });
};

const FIXED: readonly Command[] = [
  { group: "Pages", name: "Sessions", note: "All sessions by day", deed: "#/" },
  { group: "Pages", name: "Usage", note: "Cost and tokens", deed: "#/usage" },
  { group: "Pages", name: "Insights", note: "Hours, tools and files", deed: "#/insights" },
  { group: "Pages", name: "Check a disclosed copy or a proof", note: ".vbd, .vbp", deed: "#/copy" },
  ...(
    [
      ["cost", "Most expensive sessions"],
      ["tokens", "Sessions with the most tokens"],
      ["duration", "Longest sessions"],
    ] as const
  ).map(([sort, name]): Command => {
    return { group: "Pages", name, note: "Sessions, sorted", deed: listHrefOf({ sort }) };
  }),
  { group: "Actions", name: "Change colours", note: "light, dark, system", deed: nextTheme },
  {
    group: "Actions",
    name: "Copy the address of this page",
    note: "",
    deed: () => void navigator.clipboard?.writeText(location.href),
  },
];

/** Commands that need no request, and those for what the server has. */
export function commandsFor(
  text: string,
  facets: SessionFacets | null,
  sessions: readonly SessionItem[],
): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ name, note }: Command) => {
    const all = `${name} ${note}`.toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const found = sessions.map(sessionCommand);
  const [agents, projects] = [agentCommands(facets), projectCommands(facets)].map((commands) => {
    return words.length === 0 ? [] : commands.filter(fits).slice(0, OF_A_GROUP);
  });
  return [...found, ...(projects ?? []), ...(agents ?? []), ...FIXED.filter(fits)];
}

function agentCommands(facets: SessionFacets | null): Command[] {
  return (facets?.agents ?? []).map(({ value, sessions }) => {
    const deed = listHrefOf({ agent: value });
    return { group: "Agents", name: value, note: `${sessions} sessions`, deed };
  });
}

function projectCommands(facets: SessionFacets | null): Command[] {
  const projects = facets?.projects ?? [];
  const names = projectNames(projects.map(({ value }) => value));
  return projects.map(({ value }) => {
    const deed = listHrefOf({ project: value });
    return { group: "Projects", name: names.get(value) ?? value, note: value, deed };
  });
}

function sessionCommand(session: SessionItem): Command {
  const project = session.project;
  const facts = [project === null ? "" : projectNameOf(project), session.agentLabel];
  const note = [...facts, dayOf(changedAt(session), new Date())].filter(Boolean).join(" · ");
  return { group: "Sessions", name: sessionName(session), note, deed: sessionHref(session.id) };
}

/** The latest sessions whose titles have the text. */
export async function sessionsWith(client: VerbatimClient, text: string): Promise<SessionItem[]> {
  const title = text.trim();
  const page = await client.sessions.list({
    ...(title !== "" && { title }),
    subagents: false,
    limit: SESSIONS,
  });
  return [...page.sessions];
}
