/**
 * antigravity: the transcripts that Antigravity keeps in the user's home. Page:
 * docs/formats/antigravity.md.
 */

import { directoryIds } from "../path-ids.ts";
import { readerDialect } from "../reader.ts";
import { decode, isOwn } from "./decode.ts";
import { tools } from "./tools.ts";

/** The editor, its later name, and the command. Each may exist. */
const DIRECTORIES = ["antigravity", "antigravity-ide", "antigravity-cli"];

const { layout, logPath, idAt } = directoryIds({
  under: ["brain"],
  levels: [null],
  inside: [".system_generated", "logs"],
  logName: "transcript.jsonl",
});

export const antigravity = readerDialect("antigravity", {
  tools,
  program: {
    label: "Antigravity",
    roots: ({ home }) => DIRECTORIES.map((name) => `${home}/.gemini/${name}`),
    changes: "grows",
  },
  layout,
  logPath,
  idAt,
  decode,
  isOwn,
});
