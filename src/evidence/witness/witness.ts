/**
 * Witness: remembers the newest tree of each log, and cosigns only what continues it (C2SP
 * tlog-witness). A server runs it.
 *
 * - Checking against the last tree and storing the new one is one step, for all processes. It is
 *   durable before the cosignature is returned.
 * - A stored tree is never replaced by one that does not continue it. A record that cannot be read
 *   is a fault, never a log that was not seen before.
 *
 * In addition to the protocol, a checkpoint of a Verbatim log has one line for each `seq`: a second
 * one is refused with 422. Both are kept as evidence, signed by the log's own key.
 */

import { join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import type { UserPaths } from "../../core/base/node-paths.ts";
import { readUserFile, userFileMark } from "../../core/base/node-user-files.ts";
import { readSmallFile, replaceFileDurably } from "../../core/base/replace.ts";
import { keyRefused, withLockedDirectory } from "../../trust/keys/key-files.ts";
import { loadOwnKeys, loadSigner, type Signer } from "../../trust/keys/keys.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { toHex, utf8 } from "../../trust/proof/bytes.ts";
import { isConsistent } from "../../trust/proof/merkle.ts";
import {
  isKeyName,
  type NoteKey,
  noteMessage,
  readNote,
  readVerifierKey,
  signatureLine,
  signedBy,
  spellNote,
  spellVerifierKey,
} from "../../trust/proof/tlog/note.ts";
import {
  isReserved,
  partsOfOrigin,
  readHeadLine,
  readSubmission,
  readTreeHead,
  type Submission,
  type TreeHead,
} from "../../trust/proof/tlog/tree-head.ts";

/** Longer requests are not read. One of ours has about 3 KB. */
export const SUBMISSION_BYTES_MAX = 96 * 1024;
/** Logs that one witness follows: a listed key can begin any number. */
const LOGS_MAX = 100_000;
/** Contradictions kept per log; later ones are refused like the others, and not kept. */
export const EVIDENCE_MAX = 16;
const STEM = "witness";
/** Backups leave it out: a witness must not forget what it saw since then. */
const FOLDER = ".witness";
const TEXT = "text/plain; charset=utf-8";
const SIZE_TYPE = "text/x.tlog.size";

export interface WitnessAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422;
  readonly type: string;
  readonly text: string;
}

export interface WitnessOptions {
  readonly host: Host;
  /** The server's; its records are in `.witness/`. */
  readonly dataDirectory: string;
  /** The operator's list. */
  readonly listPath: string;
  readonly places: Pick<UserPaths, "keyDirectory" | "trustPath">;
  readonly nowMs: () => number;
  readonly logsMax?: number;
}

/** What was submitted, once its signature holds. */
interface CheckedSubmission {
  readonly head: TreeHead;
  readonly submission: Submission;
  readonly body: string;
  readonly logLines: readonly string[];
}

export class Witness {
  readonly #options: WitnessOptions;
  readonly #admitted: AdmittedLogs;
  readonly #signer: Signer;
  readonly #key: NoteKey;
  /** Requests wait for each other here; other processes wait for the lock. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(options: WitnessOptions, admitted: AdmittedLogs, signer: Signer) {
    this.#options = options;
    this.#admitted = admitted;
    this.#signer = signer;
    this.#key = { name: admitted.name, role: "witness", publicKey: signer.publicKey };
  }

  /** Creates the witness's key if there is none. It signs nothing else. */
  static async open(options: WitnessOptions): Promise<Witness> {
    const { host, places, listPath } = options;
    const admitted = new AdmittedLogs(listPath);
    const keyDirectory = join(places.keyDirectory, STEM);
    const signer = await loadSigner(host, { ...places, keyDirectory });
    const own = await loadOwnKeys(places);
    if (own.some(({ kid }) => kid === signer.kid)) {
      throw keyRefused(keyDirectory, "it is also your key for sessions; a witness needs its own");
    }
    return new Witness(options, admitted, signer);
  }

  /** Its public key with its name, for those who trust it. */
  get verifierKey(): string {
    return spellVerifierKey(nodeCrypto, this.#key);
  }

  /** Answers a request `add-checkpoint`. */
  async add(body: Uint8Array): Promise<WitnessAnswer> {
    const signed = this.#read(body);
    if ("status" in signed) return signed;
    const turn = this.#last.then(() => {
      return this.#locked((directory) => this.#judge(directory, signed));
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** The newest cosigned note of a log, by the SHA-256 of its origin in hex; null if none. */
  async newest(originHash: string): Promise<string | null> {
    const path = join(this.#options.dataDirectory, FOLDER);
    const directory = await this.#options.host.files.openDirectory(path, { create: true });
    try {
      return await readSmallFile(directory, originHash);
    } finally {
      directory.close();
    }
  }

  #locked<T>(work: (directory: Directory) => Promise<T>): Promise<T> {
    const { host, dataDirectory } = this.#options;
    return withLockedDirectory(host, join(dataDirectory, FOLDER), STEM, work);
  }

  /** Everything that needs no record. */
  #read(body: Uint8Array): CheckedSubmission | WitnessAnswer {
    const text = body.length > SUBMISSION_BYTES_MAX ? null : decoded(body);
    const submission = text === null ? null : readSubmission(text);
    const note = submission && readNote(submission.note);
    const head = note && readTreeHead(note.body);
    if (!submission || !head) return refusal(400, "the request is malformed");
    const keys = this.#admitted.keysOf(head.origin);
    if (keys.length === 0) return refusal(404, "this witness does not know the log");
    const signatures = keys.map((key) => signedBy(nodeCrypto, note, key));
    const logLines = signatures.flatMap((each) => (each.is === "valid" ? [each.line] : []));
    if (logLines.length === 0 || signatures.some(({ is }) => is === "false")) {
      return refusal(403, "no key that this witness knows for the log signs the checkpoint");
    }
    if (submission.old > head.size) return refusal(400, "the old size is larger than the new one");
    return { head, submission, body: note.body, logLines };
  }

  async #judge(directory: Directory, signed: CheckedSubmission): Promise<WitnessAnswer> {
    const { head, submission, body, logLines } = signed;
    const name = toHex(nodeCrypto.sha256(utf8(head.origin)));
    const stored = await readSmallFile(directory, name);
    const { logsMax = LOGS_MAX } = this.#options;
    if (stored === null && directory.names().filter(isRecord).length >= logsMax) {
      throw new VerbatimError("OVERLOADED", "the witness has too many logs", {
        limit: "logsMax",
        max: logsMax,
      });
    }
    const before = stored === null ? null : storedHead(stored, head.origin);
    if (submission.old !== (before?.size ?? 0)) {
      return { status: 409, type: SIZE_TYPE, text: `${before?.size ?? 0}\n` };
    }
    const fault = faultOf(before, head, submission.proof);
    if (fault !== null) {
      if (stored !== null) await this.#keepEvidence(directory, name, stored, submission.note);
      return refusal(422, fault);
    }
    const time = Math.floor(this.#options.nowMs() / 1000);
    const signature = await this.#signer.sign(noteMessage("witness", body, time));
    const line = signatureLine(nodeCrypto, this.#key, signature, time);
    await replaceFileDurably(directory, name, spellNote(body, [...logLines, line]));
    return { status: 200, type: TEXT, text: line };
  }

  /** Two notes that the log's key signed and that cannot both be true. */
  async #keepEvidence(
    directory: Directory,
    name: string,
    stored: string,
    note: string,
  ): Promise<void> {
    for (let n = 1; n <= EVIDENCE_MAX; n++) {
      const file = `${name}.evidence-${n}`;
      const kept = await readSmallFile(directory, file);
      const text = `${stored}\n${note}`;
      if (kept === text) return;
      if (kept === null) return replaceFileDurably(directory, file, text);
    }
  }
}

/** Why the new tree does not continue the stored one; null if it does. */
function faultOf(
  before: TreeHead | null,
  head: TreeHead,
  proof: readonly Uint8Array[],
): string | null {
  const [size1, size2] = [before?.size ?? 0, head.size];
  const root1 = before?.root ?? emptyRoot();
  if (size2 === 0 && !isSame(head.root, emptyRoot())) return "the root of an empty tree is wrong";
  if (size1 === 0 && proof.length > 0) return "a proof from size 0 must be empty";
  const claim = { size1, root1, size2, root2: head.root, proof };
  if (size1 > 0 && !isConsistent(nodeCrypto, claim)) {
    return "the tree does not continue the one seen before";
  }
  const [old, young] = [before && readHeadLine(before), readHeadLine(head)];
  if (!old || !young || young.seq > old.seq) return null;
  if (young.seq === old.seq && young.line === old.line && size1 === size2) return null;
  return young.seq === old.seq
    ? `another line of checkpoint ${old.seq} was seen before`
    : `checkpoint ${old.seq} was seen before, and this is ${young.seq}`;
}

/** Never taken for missing. */
function storedHead(text: string, origin: string): TreeHead {
  const note = readNote(text);
  const head = note && readTreeHead(note.body);
  if (head?.origin === origin) return head;
  throw new VerbatimError(
    "STORE_DAMAGED",
    "a record of the witness cannot be read; restore it, or end this witness and begin another",
    { path: FOLDER, offset: 0, reason: "it is not a note of its log" },
  );
}

function isRecord(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

function emptyRoot(): Uint8Array {
  return nodeCrypto.sha256(new Uint8Array(0));
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function refusal(status: WitnessAnswer["status"], text: string): WitnessAnswer {
  return { status, type: TEXT, text: `${text}\n` };
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

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
    this.#mark = mark;
    this.#name = name;
    this.#keys = keys;

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
    setting: "witness",
    from: path,
    reason,
  });
}
