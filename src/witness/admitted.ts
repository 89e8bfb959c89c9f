/**
 * Admitted: the operator's list of logs that a witness cosigns, by signing key. Format:
 * docs/formats/witness.md, "The operator's list".
 *
 * A change of the file takes effect with the next request. A faulty file is refused as a whole: a
 * partly read list could miss what the operator removed.
 */

import { VerbatimError } from "../base/errors.ts";
import { readUserFile, userFileMark } from "../base/node-user-files.ts";
import { isKeyName, type NoteKey, readVerifierKey } from "../proof/tlog/note.ts";
import { isReserved, partsOfOrigin } from "../proof/tlog/tree-head.ts";
import { nodeCrypto } from "../signing/keys/node-crypto.ts";

const FILE_BYTES_MAX = 1024 * 1024;

export class AdmittedLogs {
  readonly #path: string;
  #mark: string | null | undefined;
  #name = "";
  #keys: readonly NoteKey[] = [];

  constructor(path: string) {
    this.#path = path;
    this.#look();
  }

  /** The witness's own name. */
  get name(): string {
    return this.#name;
  }

  /** The keys that may sign for this origin, under the origin's name; none if it is unknown. */
  keysOf(origin: string): readonly NoteKey[] {
    this.#look();
    const owner = partsOfOrigin(origin)?.name;
    return this.#keys
      .filter(({ name }) => name === origin || name === owner)
      .map((key) => ({ ...key, name: origin }));
  }

  #look(): void {
    const mark = userFileMark(this.#path);
    if (mark !== null && mark === this.#mark) return;
    const rules = { access: "own", bytesMax: FILE_BYTES_MAX, followsLinks: true } as const;
    const file = readUserFile(this.#path, rules);
    if (file === null) throw refused(this.#path, "there is no such file");
    if (file.fault !== null) throw refused(this.#path, file.fault);
    const names: string[] = [];
    const keys: NoteKey[] = [];
    for (const [n, line] of file.text.split("\n").entries()) {
      const [word = "", value = "", ...more] = line.trim().split(/[ \t]+/);
      if (word === "" || word.startsWith("#")) continue;
      const fault = more.length > 0 ? "it has too many words" : add(word, value);
      if (fault !== null) throw refused(this.#path, `line ${n + 1}: ${fault}`);
    }
    const [name] = names;
    if (name === undefined || names.length > 1) {
      throw refused(this.#path, "it must have one line `name` and the witness's name");
    }
    [this.#mark, this.#name, this.#keys] = [mark, name, keys];

    function add(word: string, value: string): string | null {
      if (word === "name") {
        names.push(value);
        return isKeyName(value) ? null : "a name has no spaces and no plus";
      }
      if (word !== "log") return "it begins neither with `name` nor with `log`";
      const { key, fault } = readVerifierKey(nodeCrypto, value, "log");
      if (key === null) return fault;
      // Otherwise a note could be taken for something else that the same key signs.
      if (isReserved(key.name)) return "the name of a log never begins with verbatim/";
      keys.push(key);
      return null;
    }
  }
}

function refused(path: string, reason: string): VerbatimError<"BAD_SETTING"> {
  return new VerbatimError("BAD_SETTING", `the list of logs ${path} is refused: ${reason}`, {
    ...{ setting: "witness", from: path, reason },
  });
}
