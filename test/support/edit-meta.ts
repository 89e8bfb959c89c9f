/** Edits the state of streams in `meta.jsonl`, as a person without a key could. */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  encodeMetaLine,
  type MetaLine,
  type StreamLine,
} from "../../src/streams/journal/meta-file.ts";

/** The state of a stream in `meta.jsonl`. */
export type MetaState = { -readonly [K in keyof StreamLine["state"]]: StreamLine["state"][K] };

/** Rewrites every line of `meta.jsonl` about a stream, with a valid crc. */
export function editMeta(
  directory: string,
  path: string,
  change: (state: MetaState) => void,
): void {
  const file = join(directory, "meta.jsonl");
  let [at, start] = [0, 0];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  const edited = lines.map((text) => {
    const { crc: _, ...parsed } = JSON.parse(text);
    const line = parsed as MetaLine;
    if (line.kind === "stream" && line.state.path === path) change(line.state as MetaState);
    const bytes = encodeMetaLine(line.kind === "checkpoint" ? { ...line, start } : line);
    at += bytes.length;
    if (line.kind === "checkpoint" || line.kind === "store") start = at;
    return bytes;
  });
  writeFileSync(file, Buffer.concat(edited));
  for (const name of ["streams.db", "streams.db-wal", "streams.db-shm", "streams.mark"]) {
    rmSync(join(directory, name), { force: true });
  }
}
