/**
 * Witness folder: cosigned heads, time stamps and evidence, next to the pinned heads. Format:
 * docs/formats/witness.md, "What is kept".
 *
 *     <state directory>/witnessed/<log>/<witness>.note       the newest note that a witness cosigned
 *                                       <witness>.given-up   the same, before `keys head accept`
 *                                       <seq>-<line>-<n>.tsr a time stamp of a checkpoint's line
 *                                       evidence-<n>         two signed lines of one checkpoint
 *
 * A note is replaced only by one of a larger `seq`. Nothing here is trusted: signatures are checked
 * at each use.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, ioError } from "../../core/base/errors.ts";
import { openAgain, writeAtOnce } from "../../core/base/file-steps.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readUserFile } from "../../core/base/node-user-files.ts";
import { withLockedDirectory } from "../../trust/keys/key-files.ts";
import { NOTE_CHARS_MAX, readNote } from "../../trust/proof/tlog/note.ts";
import { readHeadLine, readTreeHead } from "../../trust/proof/tlog/tree-head.ts";

const FOLDER = "witnessed";
const STAMP = /^(\d{1,16})-([0-9a-f]{64})-(\d{1,4})\.tsr$/;
const NUMBERED_MAX = 1000;

export interface KeptNote {
  readonly text: string;
  /** `keys head accept` gave up what it names. */
  readonly isGivenUp: boolean;
}

export interface KeptStamp {
  readonly path: string;
  readonly seq: number;
  readonly line: string;
}

export class WitnessFolder {
  readonly #host: Host;
  readonly #root: string;

  constructor(host: Host, stateDirectory: string) {
    this.#host = host;
    this.#root = join(stateDirectory, FOLDER);
  }

  notes(log: string): readonly KeptNote[] {
    return this.#names(log).flatMap((name) => {
      const isGivenUp = name.endsWith(".given-up");
      if (!isGivenUp && !name.endsWith(".note")) return [];
      const rules = { access: "own", bytesMax: NOTE_CHARS_MAX } as const;
      const text = readUserFile(join(this.#root, log, name), rules)?.text ?? null;
      return text === null ? [] : [{ text, isGivenUp }];
    });
  }

  stamps(log: string): readonly KeptStamp[] {
    return this.#names(log).flatMap((name) => {
      const [, seq, line = ""] = STAMP.exec(name) ?? [];
      return seq === undefined
        ? []
        : [{ path: join(this.#root, log, name), seq: Number(seq), line }];
    });
  }

  /** A kept note of any log; null if there is none. */
  anyNote(): KeptNote | null {
    for (const log of this.#names("")) {
      const [note] = this.notes(log);
      if (note) return note;
    }
    return null;
  }

  /** `kid` names the witness's key. */
  async keepNote(log: string, kid: string, text: string): Promise<void> {
    await this.#change(log, async (directory) => {
      const name = `${kid.slice(0, 16)}.note`;
      const before = readUserFile(join(directory.path, name), {
        access: "own",
        bytesMax: NOTE_CHARS_MAX,
      });
      if (seqOf(before?.text ?? "") > seqOf(text)) return;
      await write(directory, name, Buffer.from(text));
    });
  }

  /** Returns the path. */
  keepStamp(log: string, seq: number, line: string, bytes: Uint8Array): Promise<string> {
    return this.#keepNumbered(log, (n) => `${seq}-${line}-${n}.tsr`, bytes);
  }

  /** Returns the path: a new one, or of the same evidence. */
  keepEvidence(log: string, bytes: Uint8Array): Promise<string> {
    return this.#keepNumbered(log, (n) => `evidence-${n}`, bytes);
  }

  /** The log was accepted without what witnesses saw. Returns whether there was any. */
  async giveUp(log: string): Promise<boolean> {
    const names = this.#names(log).filter((name) => name.endsWith(".note"));
    if (names.length === 0) return false;
    await this.#change(log, async (directory) => {
      for (const name of names) directory.rename(name, name.replace(/note$/, "given-up"));
      await directory.sync();
    });
    return true;
  }

  #keepNumbered(log: string, nameOf: (n: number) => string, bytes: Uint8Array): Promise<string> {
    return this.#change(log, async (directory) => {
      let n = 1;
      for (; n < NUMBERED_MAX && existsSync(join(directory.path, nameOf(n))); n++) {
        const rules = { access: "own", bytesMax: bytes.length } as const;
        const text = readUserFile(join(directory.path, nameOf(n)), rules)?.text;
        if (text === Buffer.from(bytes).toString()) return join(directory.path, nameOf(n));
      }
      await write(directory, nameOf(n), bytes);
      return join(directory.path, nameOf(n));
    });
  }

  #change<T>(log: string, work: (directory: Directory) => Promise<T>): Promise<T> {
    return withLockedDirectory(this.#host, join(this.#root, log), FOLDER, work);
  }

  #names(log: string): string[] {
    try {
      return readdirSync(join(this.#root, log)).sort();
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT") return [];
      throw ioError(join(this.#root, log), "listing", cause);
    }
  }
}

function seqOf(text: string): number {
  const head = readTreeHead(readNote(text)?.body ?? "");
  return (head && readHeadLine(head)?.seq) ?? -1;
}

/** Durable once resolved. */
async function write(directory: Directory, name: string, bytes: Uint8Array): Promise<void> {
  const file = openAgain(directory, `${name}.tmp`);
  try {
    writeAtOnce(file, bytes);
    await file.sync();
  } finally {
    file.close();
  }
  directory.rename(`${name}.tmp`, name);
  await directory.sync();
}
