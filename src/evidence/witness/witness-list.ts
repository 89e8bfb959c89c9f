/**
 * Witness list: the witnesses that the user trusts, with their keys and addresses. Format:
 * docs/formats/witness.md, "The user's list".
 *
 * Only the user adds one. No project, session or witness can.
 */

import { dirname, join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import type { UserPaths } from "../../core/base/node-paths.ts";
import { readUserFile } from "../../core/base/node-user-files.ts";
import { replaceFileDurably } from "../../core/base/replace.ts";
import { withLockedDirectory } from "../../trust/keys/key-files.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { type NoteKey, readVerifierKey, spellVerifierKey } from "../../trust/proof/tlog/note.ts";

const FILE_NAME = "witnesses";
const FILE_BYTES_MAX = 64 * 1024;
const WITNESSES_MAX = 100;

export interface Witness {
  readonly name: string;
  readonly key: NoteKey;
  /** Where requests go: `<url>/add-checkpoint`. */
  readonly url: string;
}

type Places = Pick<UserPaths, "trustPath">;

export function readWitnesses({ trustPath }: Places): readonly Witness[] {
  const path = join(dirname(trustPath), FILE_NAME);
  const file = readUserFile(path, { access: "own", bytesMax: FILE_BYTES_MAX });
  if (file === null) return [];
  if (file.fault !== null) throw refused(path, file.fault);
  const known: Witness[] = [];
  for (const [n, line] of file.text.split("\n").entries()) {
    const [word = "", name = "", vkey = "", url = "", ...more] = line.trim().split(/[ \t]+/);
    if (word === "" || word.startsWith("#")) continue;
    if (word !== "witness" || more.length > 0) {
      throw refused(path, `line ${n + 1} is not: witness NAME KEY URL`);
    }
    const { witness, fault } = witnessOf(name, vkey, url);
    if (witness === null) throw refused(path, `line ${n + 1}: ${fault}`);
    const twin = known.find((each) => each.name === name || isSameKey(each, witness));
    if (twin) throw refused(path, `line ${n + 1}: ${twin.name} is there already`);
    known.push(witness);
  }
  if (known.length > WITNESSES_MAX) throw refused(path, `it has more than ${WITNESSES_MAX} lines`);
  return known;
}

/** Adds a witness, or gives a known one another address; returns it. */
export async function addWitness(
  host: Host,
  places: Places,
  vkey: string,
  url: string,
): Promise<Witness> {
  const path = join(dirname(places.trustPath), FILE_NAME);
  const { witness, fault } = witnessOf(vkey.split("+")[0] ?? "", vkey, url);
  if (witness === null) throw refused(path, fault);
  return withLockedDirectory(host, dirname(path), FILE_NAME, async (directory) => {
    const known = readWitnesses(places);
    const same = known.find((each) => each.name === witness.name);
    if (same && !isSameKey(same, witness)) {
      throw refused(path, `${same.name} has another key; if it changed, edit the file`);
    }
    const others = known.filter((each) => !isSameKey(each, witness));
    const lines = [...others, witness].map((each) => {
      return `witness ${each.name} ${spellVerifierKey(nodeCrypto, each.key)} ${each.url}\n`;
    });
    await replaceFileDurably(directory, FILE_NAME, lines.join(""));
    return witness;
  });
}

function witnessOf(
  name: string,
  vkey: string,
  url: string,
): { readonly witness: Witness; readonly fault: "" } | { witness: null; fault: string } {
  const { key, fault } = readVerifierKey(nodeCrypto, vkey, "witness");
  if (key === null) return { witness: null, fault: `the key of the witness: ${fault}` };
  const to = URL.canParse(url) ? new URL(url) : null;
  if (to === null || !/^https?:$/.test(to.protocol) || to.search !== "" || to.hash !== "") {
    return { witness: null, fault: "its address is not http:// or https:// and a path" };
  }
  return { witness: { name, key, url: url.replace(/\/+$/, "") }, fault: "" };
}

function isSameKey(one: Witness, other: Witness): boolean {
  return Buffer.compare(one.key.publicKey, other.key.publicKey) === 0;
}

function refused(path: string, reason: string): VerbatimError<"BAD_SETTING"> {
  return new VerbatimError("BAD_SETTING", `the list of witnesses ${path} is refused: ${reason}`, {
    setting: FILE_NAME,
    from: path,
    reason,
  });
}
