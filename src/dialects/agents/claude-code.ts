/**
 * claude-code: the sessions that Claude Code keeps in the user's home. Page:
 * docs/formats/claude-code.md. Rows are read by the same code as those of `entire` and `claude`.
 */

import { readUserFile } from "../../core/base/node-user-files.ts";
import type { Native } from "../../core/model/entry.ts";
import { agentRowIn, asideOf, isProgramsPrompt, isSilent } from "../entire/aside.ts";
import { compaction, resultViews, subagents, tools } from "../entire/claude-rows.ts";
import { decode, isRow } from "../entire/decode.ts";
import { QueueMemory } from "../entire/queue.ts";
import type { Retention } from "../facets/program.ts";
import type { SessionDetails } from "../facets/reading.ts";
import { readerDialect } from "../reader.ts";
import { getNumber, getObject, getString, isObject } from "../shared/fields.ts";
import { eitherPathIds, lastSegment, pathIds } from "../shared/path-ids.ts";

/**
 * Session ids: `<project>/<session>`, and subagents below their session.
 *
 *     projects/<project>/<session>.jsonl
 *     projects/<project>/<session>/subagents/agent-<id>.jsonl
 *     projects/<project>/agent-<id>.jsonl                        older versions
 */

const under = ["projects"];
const ending = ".jsonl";
const sessionIds = pathIds({ under, levels: [null], ending });
const subagentIds = pathIds({ under, levels: [null, null, "subagents"], ending });

export const { logPath, idAt, layout } = eitherPathIds([sessionIds, subagentIds], (id) =>
  id.split("/").length > 2 ? subagentIds : sessionIds,
);

export const nameOf = lastSegment;

function isSubagent(id: string): boolean {
  return id.startsWith("agent-", id.lastIndexOf("/") + 1);
}

/** The session that started a subagent; `said` is the session that its rows name. */
export function parentOf(id: string, said: string | null): string | null {
  if (!isSubagent(id)) return null;
  const [project, session, folder] = id.split("/");
  if (folder !== undefined) return `${project}/${session}`;
  return said === null ? null : `${project}/${said}`;
}

/** The logs that the subagent of a session may have, in either version's place. */
function subagentLogs(id: string, agent: string): readonly string[] {
  const [project = ""] = id.split("/");
  return [`${id}/subagents/agent-${agent}`, `${project}/agent-${agent}`];
}

/** Rows: what Claude Code's rows say about their session as a whole. */
export function about(row: Native, id: string): SessionDetails | null {
  const type = getString(row, "type");
  if (type === "summary") return { summary: getString(row, "summary") ?? "" };
  if (type === "ai-title") return { title: getString(row, "aiTitle") ?? "" };
  if (type === "custom-title") return { chosenTitle: getString(row, "customTitle") ?? "" };
  const cwd = getString(row, "cwd");
  if (cwd === null) return null;
  return {
    cwd,
    branch: getString(row, "gitBranch") ?? "",
    parent: parentOf(id, getString(row, "sessionId")) ?? "",
  };
}

/** Retention: how long Claude Code keeps a session before it deletes it at its next start. */
const DAYS_DEFAULT = 30;
const SETTINGS_BYTES_MAX = 2 ** 24;

function retention(root: string): Retention {
  const set = settingIn(`${root}/settings.json`);
  return { days: set ?? DAYS_DEFAULT, setting: `cleanupPeriodDays in ${root}/settings.json` };
}

function settingIn(path: string): number | null {
  try {
    const rules = { bytesMax: SETTINGS_BYTES_MAX, access: "anyone", followsLinks: true } as const;
    const settings: unknown = JSON.parse(readUserFile(path, rules)?.text ?? "");
    return isObject(settings) ? getNumber(settings, "cleanupPeriodDays") : null;
  } catch {
    return null; // No settings, or none that Claude Code could read either.
  }
}

export const claudeCode = readerDialect("claude-code", {
  naming: {
    layout,
    logPath,
    idAt,
    nameOf,
  },
  reading: {
    decode,
    isOwn: isRow,
    about,
    asideOf(native: Native, id, isSubagents = false) {
      // The id is examined only for rows of which it decides: this runs for every row of a listing.
      const isOwn = isSubagents || (native.isSidechain === true && id !== null && isSubagent(id));
      return asideOf(native, id, isOwn);
    },
    isSilent,
    isProgramsPrompt,
    remembers: (state) => new QueueMemory(state),
    tools,
    resultViews,
    subagents: {
      ...subagents,
      ownLogsOf(native, id) {
        const agent = agentRowIn(native) && getString(getObject(native, "data"), "agentId");
        return agent ? subagentLogs(id, agent) : [];
      },
    },
  },
  turns: {
    compaction,
  },
  program: {
    resume: (name) => `claude --resume ${name}`,
    retention,
  },
});
