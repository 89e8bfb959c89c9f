/**
 * claude-code: the sessions that Claude Code keeps in the user's home. Page:
 * docs/formats/claude-code.md. Rows are read by the same code as those of `entire` and `claude`.
 */

import type { Native } from "../dialect.ts";
import { asideOf, isProgramsPrompt, isSilent } from "../entire/aside.ts";
import { compaction } from "../entire/compaction.ts";
import { decode, isRow } from "../entire/decode.ts";
import { QueueMemory } from "../entire/queue.ts";
import { resultViews } from "../entire/result-views.ts";
import { subagents } from "../entire/subagents.ts";
import { tools } from "../entire/tools.ts";
import { readerDialect } from "../reader.ts";
import { retention } from "./files/retention.ts";
import { about } from "./rows.ts";
import { idAt, isSubagent, layout, logPath, nameOf } from "./session-id.ts";

export const claudeCode = readerDialect("claude-code", {
  tools,
  resultViews,
  subagents,
  program: {
    label: "Claude Code",
    resume: (name) => `claude --resume ${name}`,
    roots({ environment: { CLAUDE_CONFIG_DIR, XDG_CONFIG_HOME }, home }) {
      const given = (CLAUDE_CONFIG_DIR ?? "").split(",").map((path) => path.trim());
      const own = given.filter((path) => path.startsWith("/"));
      if (own.length > 0) return own;
      const config = XDG_CONFIG_HOME?.startsWith("/") ? XDG_CONFIG_HOME : `${home}/.config`;
      return [`${home}/.claude`, `${config}/claude`];
    },
    changes: "grows",
    retention,
  },
  usageIn: "messages",
  layout,
  logPath,
  idAt,
  nameOf,
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
  compaction,
  remembers: (state) => new QueueMemory(state),
});
