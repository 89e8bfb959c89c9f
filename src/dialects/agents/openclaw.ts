/** openclaw: the sessions of OpenClaw's agents. Rows are pi's. Page: docs/formats/openclaw.md. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Aside, Native } from "../../core/model/entry.ts";
import { readerDialect } from "../reader.ts";
import { get, getObject } from "../shared/fields.ts";
import { eitherPathIds, pathIds } from "../shared/path-ids.ts";
import {
  branching,
  compaction,
  decode,
  isHeader,
  isProgramsPrompt,
  isSilent,
  about as piAbout,
  asideOf as piAsideOf,
  resultViews,
  tools,
} from "./pi.ts";

/**
 * Session ids: the path below `agents`, without the ending.
 *
 *     agents/<agent>/sessions/<session>.jsonl
 *     agents/<agent>/sessions/<session>.jsonl.reset.<time>      after /new and /reset
 *     agents/<agent>/sessions/<session>.jsonl.deleted.<time>
 */

const where = { under: ["agents"], levels: [null, "sessions"] };
/** Copies of a session at a compaction, and traces, are not sessions. */
const isSession = (name: string) => !/\.checkpoint\.|\.trajectory$/.test(name);
const live = pathIds({ ...where, ending: ".jsonl", isName: isSession });
const ARCHIVED = /\.jsonl\.(?:reset|deleted)\.[^/]+$/;
const archived = pathIds({ ...where, ending: "", isName: (name) => ARCHIVED.test(name) });

const { logPath, idAt, layout } = eitherPathIds([live, archived], (id) =>
  ARCHIVED.test(id) ? archived : live,
);

/** The session's own id, and for an archived one what follows it. */
function nameOf(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

function agentOf(id: string): string | null {
  return id.split("/")[0] ?? null;
}

/** The session that a header of session `id` names, by its path or by its own id. */
function parentOf(id: string, named: string): string | null {
  const segments = named.split(/[/\\]/);
  const [agents, agent = "", folder, file = ""] = segments.slice(-4);
  if (segments.length === 1)
    return idAt(["agents", agentOf(id) ?? "", "sessions", `${named}.jsonl`]);
  return agents === "agents" && folder === "sessions" ? idAt([agents, agent, folder, file]) : null;
}

/** Models of messages that OpenClaw itself writes in the model's name. */
const OWN_MODELS: readonly unknown[] = ["delivery-mirror", "gateway-injected"];

export const openclaw = readerDialect("openclaw", {
  naming: {
    layout,
    logPath,
    idAt,
    nameOf,
    agentOf,
  },
  reading: {
    decode,
    isOwn: isHeader,
    about: (row, id) => piAbout(row, (named) => parentOf(id, named)),
    asideOf,
    isSilent,
    isProgramsPrompt,
    tools,
    resultViews,
  },
  turns: {
    compaction,
    branching,
  },
  program: {
    hasForks: true,
    unreadDatabases,
  },
});

function asideOf(row: Native): Aside | null {
  const message = getObject(row, "message");
  const isOwn =
    get(message, "provider") === "openclaw" && OWN_MODELS.includes(get(message, "model"));
  return isOwn ? "program" : piAsideOf(row);
}

/** Databases where version 2026.9.6 and later keep sessions, which are not read yet: one per agent. */
export function unreadDatabases(root: string): readonly string[] {
  const agents = join(root, "agents");
  return namesIn(agents)
    .map((agent) => join(agents, agent, "agent", "openclaw-agent.sqlite"))
    .filter((path) => isFile(path));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return []; // Not there, or not permitted: the listing of sessions reports that.
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}
