/** Seeds: lines of each program whose sessions are read, and where it keeps a session. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dialectNamed } from "../../src/dialects/all.ts";
import { READ_DIALECT_NAMES } from "../../src/dialects/registry.ts";
import { docsPage } from "../support/docs-page.ts";
import { sampleFolders } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { filesIn } from "./sample.ts";

const shared = sharedFiles("samples");

export const PROGRAMS = READ_DIALECT_NAMES.filter(
  (name) => dialectNamed(name).program !== undefined,
);

/** Names that programs give to logs; the first that a reader takes is used. */
const UUID = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";
const NAMES = [
  `rollout-2026-08-03T10-48-56-${UUID}.jsonl`,
  `session-2026-08-03T10-48-${UUID}.jsonl`,
  `2026-08-03T10-48-56-000Z_${UUID}.jsonl`,
  `${UUID}.jsonl`,
  "events.jsonl",
  "wire.jsonl",
  "context.jsonl",
  "chat_history.jsonl",
  "transcript.jsonl",
  "transcript_full.jsonl",
];

/** Where the program keeps a session as a plain log; null if it keeps none as a plain log. */
export function placeOf(name: string): string | null {
  const { layout, idAt } = dialectNamed(name).naming;
  const layouts = [layout, ...("others" in layout ? (layout.others ?? []) : [])];
  for (const each of layouts) {
    const levels = "levels" in each ? each.levels.map((level) => level ?? "2026") : ["2026"];
    const names = "levels" in each ? NAMES : [each.logName];
    const paths = names.map((log) => [...each.under, ...levels, log]);
    const path = paths.find((segments) => idAt(segments) !== null);
    if (path !== undefined) return path.join("/");
  }
  return null;
}

/** Lines of the program: those of its page, and some of its samples. */
export function seedsOf(name: string): string[] {
  const page = existsSync(new URL(`../../docs/formats/${name}.md`, import.meta.url))
    ? docsPage(`formats/${name}`).fences.filter(({ info }) => info.startsWith("jsonl"))
    : [];
  const folders = [name, `more/${name}`, `more/${name.split("-")[0]}`].map((folder) =>
    join(shared.path, folder),
  );
  const own = sampleFolders(name).map(({ path }) => path);
  const files = [...own, ...folders.filter(existsSync)].flatMap((folder) => filesIn(folder));
  const lines = files.flatMap((file) => readFileSync(file, "utf8").split("\n").slice(0, 400));
  const short = lines.filter((line) => line !== "" && line.length < 4000);
  const step = Math.max(1, Math.floor(short.length / 60));
  return [
    ...page.flatMap(({ body }) => body.trimEnd().split("\n")),
    ...short.filter((_, at) => at % step === 0),
  ];
}
