/**
 * Rollouts: Codex's files on disk, plain or compressed. A session that has both is read from the
 * plain one, as Codex does: it deletes the other one when it has finished compressing.
 */

import { basename, join } from "node:path";
import { VerbatimError } from "../../../base/errors.ts";
import type { DialectFiles } from "../../dialect-files.ts";
import type { ConvertedLog } from "../../files/converted-host.ts";
import { bytesBelow } from "../../files/json-document.ts";
import { namesOrNone } from "../../files/row-lines.ts";
import { isThere, logsOnce } from "../../files/two-files.ts";
import { COMPRESSED_ENDING, ENDING, idAt, layout, nameOf, threadOf } from "../session-id.ts";
import { nameOfThread } from "./thread-names.ts";
import { decompressed } from "./zstd.ts";

/** The longest compressed file. Text that is compressed this badly is not a rollout. */
export const COMPRESSED_BYTES_MAX = 256 * 1024 * 1024;

export const logsIn = logsOnce(layout, { preferred: ENDING, other: COMPRESSED_ENDING });

/** Codex names the parent by its uuid, which begins with the time: its file is in that day's folder. */
export const files: DialectFiles = {
  async standingOf(_host, root, id) {
    const name = nameOfThread(root, threadOf(id) ?? "");
    const about = name === null ? {} : { about: { chosenTitle: name } };
    return { status: null, agent: null, parent: null, ...about };
  },
  idNamed(root, name) {
    const at = Number.parseInt(name.slice(0, 13).replace("-", ""), 16) || 0;
    const days = [at, at - DAY_MS, at + DAY_MS].map((ms) => {
      const day = new Date(ms).toISOString().slice(0, 10);
      return ["sessions", ...day.split("-")]; // Of the user's time zone.
    });
    for (const place of [...days, ["archived_sessions"]]) {
      const found = namesOrNone(join(root, ...place)).map((each) => idAt([...place, each]));
      const id = found.find((each) => each !== null && nameOf(each) === name);
      if (id) return id;
    }
    return null;
  },
};

const DAY_MS = 86_400_000;

/** The compressed rollout of a session that has no plain one. */
export function convert(root: string, path: readonly string[]): ConvertedLog | null {
  const plain = join(root, ...path);
  if (!plain.endsWith(ENDING) || isThere(plain)) return null;
  const source = plain.slice(0, -ENDING.length) + COMPRESSED_ENDING;
  if (!isThere(source)) return null;
  const bytes = bytesBelow(root, [...path.slice(0, -1), basename(source)], COMPRESSED_BYTES_MAX);
  try {
    return { bytes: decompressed(bytes), source };
  } catch (cause) {
    // A RangeError of the decompressor, too: the file is damaged.
    const reason = cause instanceof Error ? cause.message : "unknown";
    throw new VerbatimError(
      "IO_ERROR",
      `${source} cannot be decompressed: ${reason}; check it with \`zstd --test\``,
      { path: source, operation: "decompressing", errno: "EILSEQ" },
      { cause },
    );
  }
}
