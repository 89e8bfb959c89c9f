/** Masked items: the entries of a page with what scan finds in them masked, and what is said of that. */

import { nodeHost } from "../../core/base/node-host.ts";
import { toByteOffset } from "../../core/base/offset.ts";
import { hostOf } from "../../dialects/all.ts";
import type { StoredEntry } from "../../dialects/files/stored-entries.ts";
import { MaskedCounts, maskedEntries } from "../../evidence/redact/masked-copy.ts";
import { DEFAULT_RULES, findsOfSession } from "../../evidence/share/create-share.ts";
import type { BadLineRun } from "../../sessions/render/html/page.ts";
import { textOption } from "../command/command.ts";
import type { ExportSource } from "./export-formats.ts";

const NO_RULES = "none";

export interface MaskedItems {
  /** For readers of the page. */
  readonly notice: string;
  items(): AsyncIterable<StoredEntry | BadLineRun>;
}

/** Null if nothing is masked: nothing is found, or `--redact none`. Says on stderr what was done. */
export async function maskedItems({
  session,
  run,
  last,
}: ExportSource): Promise<MaskedItems | null> {
  const { io, options } = run;
  const names = (textOption("--redact", options.redact) ?? DEFAULT_RULES).split(",");
  if (names.includes(NO_RULES)) {
    io.err("not masked: keys and personal data stay in the page");
    return null;
  }
  const { root, id, logId } = session;
  const target = { dialect: session.dialect.name, root, id, logId };
  const host = hostOf(nodeHost, target);
  const rules = names.map((name) => name.trim());
  const finds = await findsOfSession(nodeHost, session, rules);
  const counts = new MaskedCounts();
  const places = { ...finds, onPlace: counts.add.bind(counts) };
  for await (const _ of maskedEntries(host, target, places));
  if (counts.all.length === 0) return null;
  const found = counts.all.map(({ rule, lines, strings }) => `${rule} ${lines + strings}`);
  const notice = `masked: ${found.join(", ")}`;
  io.err(`${notice}; --redact none leaves them in the page`);
  return {
    notice: `What scan found is ${notice}. This page is no proof of what the session says.`,
    async *items() {
      let held: (StoredEntry | BadLineRun)[] = [];
      for await (const masked of maskedEntries(host, target, { ...finds, onPlace: () => {} })) {
        const { number: line, entry, fault, rule } = masked;
        const reason = rule === null ? (fault ?? "") : `withheld by the rule ${rule}`;
        const place = { line, start: toByteOffset(line), end: toByteOffset(line + 1) };
        const bad = { listed: [{ line, offset: place.start, reason }], more: 0 };
        const item = entry === null ? bad : { ...entry, ...place };
        if (last === null) yield item;
        else held = [...held, item].slice(-last);
      }
      yield* held;
    },
  };
}
