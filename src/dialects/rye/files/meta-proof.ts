/**
 * Meta proof: checks the thread.json of a signed rye thread, and reports faults as findings of the
 * verdict on its log. Page: docs/formats/checkpoint.md, "thread.json".
 *
 * - The file is read after the log. A writer has thread.json on disk before a checkpoint names its
 *   revision, and a checkpoint before thread.json names it as head. So an honest writer's file is
 *   never older than the log that was read before it, whenever that writer was killed.
 * - A head is looked up in the log itself, at the byte that it names, even past the verified part:
 *   a writer may have appended since.
 * - The log's own statements decide whether the file must be signed, never the file alone.
 */

import type { OpenFile } from "../../../core/base/files.ts";
import type { Host } from "../../../core/base/host.ts";
import { readStretch } from "../../../core/log/bytes.ts";
import type { FilesProof, JudgedLog } from "../../../trust/judge/verify-options.ts";
import { nodeCrypto } from "../../../trust/keys/node-crypto.ts";
import { LF, toHex } from "../../../trust/proof/bytes.ts";
import type { Keys } from "../../../trust/proof/ed25519-keys.ts";
import { withSuccessors } from "../../../trust/proof/rotations.ts";
import {
  judgeThread,
  type ThreadDoubt,
  type ThreadFacts,
  type ThreadHead,
} from "../../../trust/proof/thread-signature.ts";
import {
  type Finding,
  type FindingCode,
  findingOf,
  type SignedThrough,
  type Verdict,
} from "../../../trust/proof/verdict.ts";
import type { SessionLog } from "../../../trust/session-log.ts";
import type { StoredThreadMeta } from "../thread-meta.ts";
import { parseMeta } from "./derived-files.ts";
import { MetaOnDisk } from "./meta-on-disk.ts";

/** Much longer than any checkpoint. */
const HEAD_BYTES_MAX = 64 * 1024;

type Doubted = Extract<ReturnType<typeof judgeThread>, { readonly ok: false }>;

/** The log's statements that its thread.json is compared with. */
interface Stated {
  readonly through: SignedThrough;
  /** The signer of this log also signs thread.json, or did. */
  readonly isSigned: boolean;
  /** All writers sign every line, at least since the last signed revision of the file. */
  readonly isComplete: boolean;
}

export class MetaProof implements FilesProof {
  readonly #host: Host;
  readonly #target: SessionLog & { readonly id: string };
  /** Keys that the user trusts for threads, and keys that those handed the log over to. */
  #keys: Keys;

  constructor(host: Host, target: SessionLog & { readonly id: string }, keys: Keys) {
    this.#host = host;
    this.#target = target;
    this.#keys = keys;
  }

  onBytes(): void {}

  async findings({ log, judge, tailBytes }: JudgedLog): Promise<readonly Finding[]> {
    const through = judge.signedThrough;
    if (!through) return []; // No signature in the log holds, and the verdict says so.
    this.#keys = withSuccessors(this.#keys, judge.keys, judge.handOvers);
    const found = await MetaOnDisk.read(this.#host, this.#target);
    const stated = {
      through,
      isSigned: through.rev > 0 || judge.isSignedFromStart,
      isComplete:
        tailBytes === 0 && judge.found.length === 0 && through.rev > (judge.foundRev ?? -1),
    };
    const finding = found ? await this.#judge(found.text, log, stated) : missing(through);
    return finding ? [this.#counted(finding, through)] : [];
  }

  async #judge(text: string, log: OpenFile, stated: Stated): Promise<Finding | null> {
    const threadId = this.#target.id;
    const meta = parseMeta(text);
    const verdict = judgeThread(text, { crypto: nodeCrypto, keys: this.#keys, threadId });
    if (!verdict.ok) return this.#doubted(verdict, meta, stated);
    if (!meta) return altered("is signed, and is no thread.json");
    if (Object.hasOwn(meta, "reconstructed")) return reconstructed();
    return compared(verdict, log, stated.through);
  }

  #doubted(doubt: Doubted, meta: StoredThreadMeta | null, stated: Stated): Finding | null {
    const { reason } = doubt;
    if (ALTERED.has(reason))
      return altered(reason === "altered" ? "was altered" : `was altered: ${reason}`);
    const isOurs = stated.isSigned || bearsOurs(meta);
    if (meta && meta.thread_id !== this.#target.id) return otherLog("names another thread");
    if (reason === "unknown key" || reason === "untrusted key") {
      return isOurs ? this.#untrusted(doubt, stated) : unsigned(null);
    }
    if (!isOurs) return unsigned(null); // Another program's; the log does not mention it.
    if (!meta) return altered("is damaged");
    const isBare = !Object.hasOwn(meta, "_signature") && !Object.hasOwn(meta, "_signature2");
    if (!isBare) return altered("has lost one of its two signatures");
    if (Object.hasOwn(meta, "reconstructed")) return reconstructed();
    // Our own writer leaves unsigned what JSON cannot hold safely; so does a writer that signs
    // nothing.
    const isHonest = reason === "malformed" || !stated.isComplete;
    const wasSigned = stated.through.rev > 0 || bearsOurs(meta);
    return wasSigned && !isHonest ? stripped() : unsigned("incomplete");
  }

  /**
   * A key that may sign this log, but was not trusted with more, is no evidence against the file.
   */
  #untrusted({ fp, keyRefusal }: Doubted, { through }: Stated): Finding {
    const isOfLog = fp !== null && this.#keys.byFp(fp).kid === through.kid;
    const isLimited = isOfLog && keyRefusal === "KEY_OF_OTHER_PURPOSE";
    const why = isLimited
      ? "is signed by the log's key, which is not trusted with it (purpose thread)"
      : "is signed by a key that is not trusted with it";
    return finding("META_UNTRUSTED", isLimited ? null : "untrusted", why);
  }

  /**
   * If the user does not trust the log's key, the file is never verified for them, and a missing or
   * unsigned file is only reported. An altered file always counts.
   */
  #counted(found: Finding, { kid, ts }: SignedThrough): Finding {
    const isTrusted = this.#keys.byKid(kid, ts).refusal === null;
    const isLack = LACKS.has(found.code) || found.code === "META_STRIPPED";
    return isTrusted || !isLack ? found : { ...found, verdict: null };
  }
}

const ALTERED: ReadonlySet<ThreadDoubt> = new Set(["altered", "bad signature", "another thread"]);
const LACKS: ReadonlySet<FindingCode> = new Set([
  "META_MISSING",
  "META_UNSIGNED",
  "META_RECONSTRUCTED",
]);

/** Whether it has fields that only a signed write adds. */
function bearsOurs(meta: StoredThreadMeta | null): boolean {
  return ["rev", "head", "_signature2"].some((key) => meta !== null && Object.hasOwn(meta, key));
}

/** Both signatures hold: is the file as new as the log says, and does it belong to this log? */
async function compared(
  { rev, head }: ThreadFacts,
  log: OpenFile,
  through: SignedThrough,
): Promise<Finding | null> {
  if (rev < through.rev) {
    const message = `is revision ${rev}, and the log knows of revision ${through.rev}`;
    return finding("META_BEHIND", "rollback", message);
  }
  if (head.byteOffset >= log.size()) {
    const message = `names a checkpoint at byte ${head.byteOffset}, and the log ends before it`;
    return finding("META_AHEAD", "rollback", message);
  }
  const isThere = (await lineHashAt(log, head)) === head.line;
  return isThere ? null : otherLog("names a checkpoint that is not in the log");
}

async function lineHashAt(log: OpenFile, { byteOffset }: ThreadHead): Promise<string | null> {
  const bytes = await readStretch(
    log,
    byteOffset,
    Math.min(byteOffset + HEAD_BYTES_MAX, log.size()),
  );
  const end = bytes.indexOf(LF) + 1;
  return end === 0 ? null : toHex(nodeCrypto.sha256(bytes.subarray(0, end)));
}

function missing({ rev }: SignedThrough): Finding | null {
  if (rev === 0) return null; // A writer may have been killed before the first write.
  return finding("META_MISSING", "incomplete", `is missing, and the log knows of revision ${rev}`);
}

function altered(what: string): Finding {
  return finding("META_ALTERED", "tampered", what);
}

function otherLog(what: string): Finding {
  return finding("META_OTHER_LOG", "tampered", `${what}: it is not of this thread`);
}

function stripped(): Finding {
  return finding("META_STRIPPED", "tampered", "has lost its signatures");
}

function unsigned(verdict: Verdict | null): Finding {
  const message = "is not signed as the log is, and nothing vouches for what it says";
  return finding("META_UNSIGNED", verdict, message);
}

function reconstructed(): Finding {
  const message = "was rebuilt from the log, because it was missing or damaged";
  return finding("META_RECONSTRUCTED", "incomplete", message);
}

function finding(code: FindingCode, verdict: Verdict | null, what: string): Finding {
  return findingOf(code, verdict, `its thread.json ${what}`);
}
