/**
 * Spill proof: checks that the spill files of a signed log are unchanged.
 *
 * A signed line contains the hash of each file, so the files are covered by the signature. Reads
 * the bytes being verified, and checks the files when all lines are known.
 */

import { basename, dirname } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { decodeLine } from "../../core/log/json.ts";
import type { FilesProof } from "../../trust/judge/verify-options.ts";
import type { Finding } from "../../trust/proof/verdict.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import type { Spilling, SpillReference } from "../facets/writing.ts";
import { readSpill } from "./spill-files.ts";

const LF = 0x0a;
/** Very few lines refer to a file, and parsing all of them would take longer than hashing. */
const MARK = Buffer.from('"spill"');

interface Referring {
  readonly reference: SpillReference;
  /** Offset of its line. */
  readonly at: number;
}

export class SpillProof implements FilesProof {
  readonly #host: Host;
  readonly #log: SessionLog;
  readonly #spilling: Spilling;
  readonly #mayLack: boolean;
  readonly #whole = new WholeLines((lines) => this.#lines(lines));
  readonly #referring: Referring[] = [];
  #end = 0;

  /** `mayLack`: of a copy that a server received, without the files. */
  constructor(host: Host, log: SessionLog, spilling: Spilling, mayLack = false) {
    this.#host = host;
    this.#log = log;
    this.#spilling = spilling;
    this.#mayLack = mayLack;
  }

  onBytes(bytes: Uint8Array): void {
    this.#whole.feed(bytes);
  }

  async findings(): Promise<readonly Finding[]> {
    if (this.#referring.length === 0) return [];
    const { root, logId } = this.#log;
    const path = `${root}/${dirname(logId)}`;
    const directory = await this.#host.files.openDirectory(path, { create: false, root });
    try {
      const findings: Finding[] = [];
      for (const { reference, at } of this.#referring) {
        const read = await readSpill(directory, reference);
        if (!("fault" in read)) continue;
        const message = `${reference.name}, to which a signed line refers, is ${read.fault}`;
        findings.push({
          code: "SPILL_CHANGED",
          verdict: this.#mayLack && read.fault === "missing" ? null : "tampered",
          byteOffset: at,
          turn: null,
          message,
        });
      }
      return findings;
    } finally {
      directory.close();
    }
  }

  #lines(bytes: Uint8Array): void {
    const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let mark = lines.indexOf(MARK); mark !== -1; ) {
      const start = lines.lastIndexOf(LF, mark) + 1;
      const end = lines.indexOf(LF, mark);
      const { value } = decodeLine(lines, start, end);
      const at = this.#end + start;
      for (const reference of this.#spilling.referencesOf(value, basename(this.#log.logId))) {
        this.#referring.push({ reference, at });
      }
      mark = lines.indexOf(MARK, end);
    }
    this.#end += lines.length;
  }
}
