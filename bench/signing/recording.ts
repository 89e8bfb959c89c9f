/**
 * Recording: the same 20-turn, 50 KB rye threads signed, unsigned, and unsigned with a part of the work
 * of signing, alternately, on the disk.
 */

import { generateKeyPairSync, sign } from "node:crypto";
import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { setImmediate as diskAtWork } from "node:timers/promises";
import { promisify } from "node:util";
import type { LogSigner } from "../../src/trust/signer/log-signer.ts";
import { median } from "../measure/compare.ts";
import { threadEvents } from "../sessions/recording.ts";
import { openStore } from "./built.ts";
import { newLogSigner, OPENING } from "./thread.ts";

const events = threadEvents();
/** What a checkpoint signs: a hash in hex, and its own line. */
const MESSAGES = [Buffer.alloc(64, "0"), Buffer.alloc(900, "x")];
/** About as long as a checkpoint's line is. */
const CHECKPOINT = Buffer.alloc(1000, "x");
const { privateKey } = generateKeyPairSync("ed25519");
const synced = promisify(fdatasync);
const lines = events.map((event) => Buffer.from(`${JSON.stringify(event)}\n`));

/** How long threads take over unsigned ones, closing included. */
export interface Slowness {
  readonly signed: number;
  /**
   * Unsigned, with two signatures at the end of each turn, of the thread and of its thread.json,
   * made during the disk's writes, and one more write and sync: nothing is hashed, composed or
   * serialised for them.
   */
  readonly signatures: number;
  /**
   * The same with a signer that gets each line during its disk write, and makes each turn's
   * checkpoint: none is written, no other line waits for one, and thread.json is not signed.
   */
  readonly signer: number;
}

type Way = "bare" | keyof Slowness;
const WAYS: readonly Way[] = ["bare", "signed", "signatures", "signer"];

export async function slownessOfSigning(root: string, threads: number): Promise<Slowness> {
  const options = { dialect: "rye", agent: "bench", durability: "disk" } as const;
  const stores = {
    bare: await openStore({ ...options, root: `${root}-bare` }),
    signed: await openStore({ ...options, root: `${root}-signed`, sign: true }),
    signatures: await openStore({ ...options, root: `${root}-signatures` }),
    signer: await openStore({ ...options, root: `${root}-signer` }),
  };
  const ms: Record<Way, number[]> = { bare: [], signed: [], signatures: [], signer: [] };
  for (let n = 0; n < threads; n++) {
    // Rotates the order, so that none always follows the same one.
    for (const way of WAYS.map((_, at) => WAYS[(at + n) % WAYS.length] as Way)) {
      const session = await stores[way].create({ id: `thread-${n}` });
      await session.appendLines([{ type: "thread_start", model: "m", inputs: {} }]);
      const meanwhile = MEANWHILE[way]();
      const extra = meanwhile ? openSync(`${root}-${way}/extra-${n}`, "w") : null;
      const start = performance.now();
      for (const [at, event] of events.entries()) {
        const appended = session.appendLines([event]);
        await meanwhile?.(at, ENDS.has(event.type));
        await appended;
      }
      if (extra !== null) {
        signTwice();
        writeSync(extra, CHECKPOINT);
        await synced(extra);
      }
      await session.close();
      ms[way].push(performance.now() - start);
      if (extra !== null) closeSync(extra);
    }
  }
  for (const way of WAYS) await stores[way].close();
  const over = (way: Way) => median(ms[way]) / median(ms.bare); // One slow sync is one slow thread.
  return { signed: over("signed"), signatures: over("signatures"), signer: over("signer") };
}

const ENDS: ReadonlySet<unknown> = new Set(["step_finish", "thread_complete"]);

/** Work done in a thread during the disk write of each of its lines; null for none. */
type Meanwhile = (line: number, endsTurn: boolean) => Promise<void>;

const MEANWHILE: Readonly<Record<Way, () => Meanwhile | null>> = {
  bare: () => null,
  signed: () => null,
  signatures: () => async (_, endsTurn) => {
    if (!endsTurn) return;
    await diskAtWork();
    signTwice();
  },
  signer: () => {
    const signer = newLogSigner();
    let checkpoint: LogSigner | null = null;
    let turn = 0;
    return async (line, endsTurn) => {
      await diskAtWork();
      checkpoint?.commit(); // Its own line is also hashed with the next one.
      const draft = signer.draft();
      draft.addLines(lines[line] as Buffer);
      draft.commit();
      checkpoint = endsTurn ? signer.draft() : null;
      await checkpoint?.checkpoint("turn", OPENING, { turn: ++turn, rev: 0 });
    };
  },
};

function signTwice(): void {
  for (const message of MESSAGES) sign(null, message, privateKey);
}
