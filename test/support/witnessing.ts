/** Witnessing: a real witness in this process, and a log that it admits. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../src/core/base/host.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { Witness } from "../../src/evidence/witness/witness.ts";
import { tempDirectory } from "./temp-directory.ts";
import { bodyOf, consistency, extension, leavesOf, NoteSigner, submission } from "./tlog.ts";

export const WITNESS_NAME = "witness.example/w1";
export const USER_NAME = "ada.example";
export const LOG = "7d6fd7774f0d87624da6dcf16d0d3d10";
export const ORIGIN = `${USER_NAME}/${LOG}`;

export class Witnessing {
  readonly home: string;
  readonly log: NoteSigner;
  readonly #vkeys: string[];

  constructor(log = new NoteSigner(), home = tempDirectory()) {
    this.home = home;
    this.log = log;
    this.#vkeys = [log.vkey(USER_NAME)];
    this.admit();
  }

  /** Writes the operator's list; with these keys too. */
  admit(...vkeys: string[]): void {
    this.#vkeys.push(...vkeys);
    this.list(`name ${WITNESS_NAME}`, ...this.#vkeys.map((vkey) => `log ${vkey}`));
  }

  list(...lines: string[]): void {
    writeFileSync(join(this.home, "logs"), `${lines.join("\n")}\n`, { mode: 0o600 });
  }

  open(nowMs: () => number = Date.now, host: Host = nodeHost, logsMax?: number): Promise<Witness> {
    return Witness.open({
      host,
      dataDirectory: join(this.home, "data"),
      listPath: join(this.home, "logs"),
      places: { keyDirectory: join(this.home, "keys"), trustPath: join(this.home, "trust.json") },
      nowMs,
      ...(logsMax === undefined ? {} : { logsMax }),
    });
  }

  /** A request for a tree of `size` leaves; `seq` is the size unless told. */
  request(old: number, size: number, { salt = "", seq = size, origin = ORIGIN } = {}): string {
    const leaves = leavesOf(size, salt);
    const proof = old > 0 && old <= size ? consistency(old, leaves) : [];
    return submission(old, proof, this.log.note(bodyOf(origin, leaves, extension(seq))));
  }
}
