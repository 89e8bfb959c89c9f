/**
 * Found meta: a thread.json as read, and whether it can be trusted. Checks VM1 to VM3 of
 * integrations/rye/verified-meta.ts.
 */

import { dirname } from "node:path";
import type { Host } from "../../../core/base/host.ts";
import { readSmallFile } from "../../../core/base/replace.ts";
import type { VerifyReport } from "../../../trust/judge/report.ts";
import { nodeCrypto } from "../../../trust/keys/node-crypto.ts";
import type { Keys } from "../../../trust/proof/ed25519-keys.ts";
import { judgeThread } from "../../../trust/proof/thread-signature.ts";
import type { SessionLog } from "../../../trust/session-log.ts";
import type { Trust } from "../../../trust/trusted-keys/trust.ts";
import { threadKeys } from "../../../trust/trusted-keys/trust.ts";
import type { SignedFile } from "../../facets/files.ts";
import { META_NAME } from "../thread-id.ts";
import type { StoredThreadMeta } from "../thread-meta.ts";
import { headSeqIn, parseMeta } from "./derived-files.ts";
import { META_BYTES_MAX } from "./threads.ts";

/** Verdicts on a log whose signatures hold. */
const HOLDS: readonly VerifyReport["verdict"][] = ["verified", "incomplete"];

export interface MetaJudge {
  readonly threadId: string;
  readonly keys: Keys;
  /** The verdict on the thread's log. */
  readonly report: VerifyReport;
}

type JudgedMeta =
  | { readonly meta: StoredThreadMeta; readonly doubt: null }
  | {
      readonly meta: null;
      readonly doubt: { readonly verdict: VerifyReport["verdict"]; readonly why: string };
    };

/**
 * A thread.json as read. Read it before its log is verified, and pass it the log's checkpoints: it
 * names one of them (VM3).
 */
export class MetaOnDisk implements SignedFile {
  readonly text: string;
  readonly #namedSeq: number | null;
  #namedLine: string | null = null;

  constructor(text: string) {
    this.text = text;
    this.#namedSeq = headSeqIn(text);
  }

  /** Reads the file next to a thread's log; null if there is none. */
  static async read(host: Host, { root, logId }: SessionLog): Promise<MetaOnDisk | null> {
    try {
      const path = dirname(`${root}/${logId}`);
      const directory = await host.files.openDirectory(path, { create: false, root });
      try {
        const file = directory.open(META_NAME, "read");
        const isTooLong = file.size() > META_BYTES_MAX;
        file.close();
        // Too long counts as damaged, as for every reader of it.
        const text = isTooLong ? "" : await readSmallFile(directory, META_NAME);
        return text === null ? null : new MetaOnDisk(text);
      } finally {
        directory.close();
      }
    } catch (cause) {
      if ((cause as { code?: unknown } | null)?.code === "ENOENT") return null;
      throw cause;
    }
  }

  readonly onCheckpoint = (seq: number, line: string): void => {
    if (seq === this.#namedSeq) this.#namedLine = line;
  };

  doubtOf(id: string, trust: Trust, report: VerifyReport): JudgedMeta["doubt"] {
    return this.judge({ threadId: id, keys: threadKeys(trust, id), report }).doubt;
  }

  /** The content, if it can be trusted (VM1, VM2, VM3). */
  judge({ threadId, keys, report }: MetaJudge): JudgedMeta {
    const verdict = judgeThread(this.text, { crypto: nodeCrypto, keys, threadId });
    if (!verdict.ok) return doubted(DOUBTS[verdict.reason] ?? "tampered", verdict.reason);
    const meta = parseMeta(this.text);
    if (!meta) return doubted("unreadable", "it is no thread.json");
    if (Object.hasOwn(meta, "reconstructed")) {
      return doubted("untrusted", "it was rebuilt from the log, and is not signed");
    }
    if (!HOLDS.includes(report.verdict)) return doubted(report.verdict, "its log does not verify");
    const { rev, head } = verdict;
    const known = report.signed_through;
    if (!known || rev < known.rev || head.seq > known.seq) {
      const which = `it is revision ${rev}, and the log knows of ${known?.rev ?? "none"}`;
      return doubted("rollback", which);
    }
    if (head.seq !== this.#namedSeq || head.line !== this.#namedLine) {
      return doubted(
        "tampered",
        "it is of another log: it names a checkpoint that is not in this one",
      );
    }
    return { meta, doubt: null };
  }
}

function doubted(verdict: VerifyReport["verdict"], why: string): JudgedMeta {
  return { meta: null, doubt: { verdict, why } };
}

/** The verdict on the file by the reason its signature is doubted; any other reason: altered. */
const DOUBTS: Readonly<Record<string, VerifyReport["verdict"]>> = {
  malformed: "unreadable",
  unsigned: "unsigned",
  "signed as version 1": "untrusted",
  "unknown key": "untrusted",
  "untrusted key": "untrusted",
};
