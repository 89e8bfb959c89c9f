/** Sessions: the files of each session in the ledger, its subagents with it. */

import type { LedgerFile } from "../ledger/pack.ts";
import type { CountedUsage } from "../report/counted-usage.ts";
import type { SessionUsageFiles } from "./prompt-rows.ts";

/** By the name that reports have. */
export function sessionsOf(usage: CountedUsage): Map<string, SessionUsageFiles> {
  const sessions = new Map<string, { own: LedgerFile[]; subagents: LedgerFile[] }>();
  for (const file of usage.ledger.files) {
    const name = usage.sessionOf(file);
    const known = sessions.get(name) ?? { own: [], subagents: [] };
    sessions.set(name, known);
    (file.name === name ? known.own : known.subagents).push(file);
  }
  return new Map([...sessions].map(([name, files]) => [name, { name, ...files }]));
}

/** The session of a log, or the subagent with those that it started. */
export function sessionAt(usage: CountedUsage, dialect: string, root: string, id: string) {
  const { files } = usage.ledger;
  const file = files.find((each) => each.id === id && each.root === root);
  if (file === undefined || file.dialect !== dialect) return null;
  const ofSame = files.filter((each) => each.dialect === dialect);
  const names = new Set([file.name]);
  const subagents = new Set<LedgerFile>();
  // Subagents may start subagents: until no more are found.
  for (let size = -1; size < subagents.size; ) {
    size = subagents.size;
    for (const each of ofSame) {
      if (each.parent === null || !names.has(each.parent) || names.has(each.name)) continue;
      subagents.add(each);
    }
    for (const each of subagents) names.add(each.name);
  }
  const own = ofSame.filter(({ name }) => name === file.name);
  return { name: file.name, own, subagents: [...subagents], file };
}
