/**
 * Signed meta: the `thread.json` of a signed thread: its revision, the log's head in it, and
 * whether a found file may be continued. Does not touch the file itself.
 *
 * - A found file that does not verify, or belongs to another log, is never signed over: it
 *   continues unsigned, and that is reported. Otherwise the next writer would sign an altered file,
 *   or another thread's file put in its place.
 * - A new revision is above all those in the file and in the log's checkpoints, and counts once the
 *   file is written: a checkpoint never names a revision that is not on disk.
 */

import { VerbatimError } from "../../../core/base/errors.ts";
import { formatPythonJson, jsonTree } from "../../../trust/proof/canonical-json.ts";
import { isJsonMap, type JsonMap, parseJson } from "../../../trust/proof/json-tree.ts";
import { judgeThread, signThread } from "../../../trust/proof/thread-signature.ts";
import type { NamedCheckpoint, Newest } from "../../../trust/signer/signer-state.ts";
import { threadKeys } from "../../../trust/trusted-keys/trust.ts";
import type { SigningTools } from "../../facets/files.ts";
import { formatThreadMeta, type StoredThreadMeta, withoutSignatures } from "../thread-meta.ts";

export class SignedMeta {
  readonly #threadId: string;
  readonly #parts: SigningTools;
  /** As read or written, with its numbers as spelt there. */
  #was: JsonMap | null = null;
  #rev = 0;
  /** The head in the file as last read or written. */
  #head: NamedCheckpoint | null = null;
  /** Why the found file is not signed; null if it may be. */
  #doubt: string | null = null;
  #toldDoubt: string | null = null;

  constructor(threadId: string, tools: SigningTools) {
    this.#threadId = threadId;
    this.#parts = tools;
  }

  /** The current revision. */
  get rev(): number {
    return Math.max(this.#rev, this.#parts.newest()?.rev ?? 0);
  }

  /** Takes the current text; null if there is no usable one, and the file is created. */
  async found(text: string | null): Promise<void> {
    this.#doubt = null;
    this.#was = null;
    if (text === null) return;
    const { tree } = parseJson(text);
    this.#was = isJsonMap(tree) ? tree : null;
    const threadId = this.#threadId;
    const { crypto, trust } = this.#parts;
    const keys = threadKeys(await trust(), threadId);
    const verdict = judgeThread(text, { crypto, keys, threadId });
    if (!verdict.ok) {
      this.#doubt = verdict.reason;
    } else if (verdict.rev < this.rev) {
      this.#doubt = "an older revision than the log knows of";
    } else if (!isNamed(verdict.head, [this.#head, this.#parts.named()])) {
      this.#doubt = "it names a checkpoint that is not in the log";
    } else {
      this.#rev = verdict.rev;
      this.#head = verdict.head;
    }
  }

  /** Why the found file is not signed; null if it may be. */
  get doubt(): string | null {
    return this.#doubt;
  }

  /** Like `write`, for a caller's content: throws UNSIGNABLE_JSON if it cannot be signed. */
  async writeSigned(meta: StoredThreadMeta, put: (text: string) => Promise<void>): Promise<void> {
    jsonTree({ ...withoutSignatures(meta) }, this.#was ?? undefined);
    await this.write(meta, put);
  }

  /** Writes the meta, signed if possible; `put` replaces the file. */
  async write(meta: StoredThreadMeta, put: (text: string) => Promise<void>): Promise<void> {
    const rev = this.rev + 1;
    const head = this.#parts.newest();
    const signed = await this.#signed(meta, rev, head);
    if (!signed) return put(formatThreadMeta(withoutSignatures(meta)));
    await put(formatPythonJson(signed));
    this.#rev = rev; // Counts only once the file is written.
    this.#was = signed;
    this.#head = head;
  }

  async #signed(
    meta: StoredThreadMeta,
    rev: number,
    newest: Newest | null,
  ): Promise<JsonMap | null> {
    const { signer, crypto, nowMs } = this.#parts;
    if (this.#doubt) return this.#unsigned(`what was found there is not verified: ${this.#doubt}`);
    if (!newest) return null; // Nothing in the log is signed yet either.
    const { seq, byteOffset: byte_offset, line } = newest;
    const value = { ...withoutSignatures(meta), rev, head: { seq, byte_offset, line } };
    try {
      const tree = jsonTree(value, this.#was ?? undefined);
      const { kid, fp } = signer;
      const sign = (message: Uint8Array) => signer.sign(message);
      return await signThread(tree as JsonMap, { sign, kid, fp, crypto, nowMs });
    } catch (cause) {
      if (!(cause instanceof VerbatimError && cause.code === "UNSIGNABLE_JSON")) throw cause;
      return this.#unsigned(cause.message);
    }
  }

  #unsigned(why: string): null {
    if (why !== this.#toldDoubt) {
      const { onWarning } = this.#parts;
      const threadId = this.#threadId;
      onWarning(
        `thread.json of ${threadId} is written without a signature: ${why}; where its content is ` +
          "not right, delete it, and it is rebuilt from the log",
      );
    }
    this.#toldDoubt = why;
    return null;
  }
}

function isNamed({ seq, line }: NamedCheckpoint, known: readonly (NamedCheckpoint | null)[]) {
  return known.some((each) => each?.seq === seq && each.line === line);
}
