/**
 * Recording: the same 20-turn, 50 KB rye threads signed, unsigned, and unsigned with the least that
 * signing them takes, in turns, on the disk.
 */

import { generateKeyPairSync, sign } from "node:crypto";
import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { setImmediate as diskAtWork } from "node:timers/promises";
import { promisify } from "node:util";
import { median } from "../measure/compare.ts";
import { threadEvents } from "../sessions/recording.ts";
import { openStore } from "./built.ts";

const events = threadEvents();
/** What a checkpoint signs: a hash in hex, and its own line. */
const MESSAGES = [Buffer.alloc(64, "0"), Buffer.alloc(900, "x")];
/** About as long as a checkpoint's line is. */
const CHECKPOINT = Buffer.alloc(1000, "x");
const { privateKey } = generateKeyPairSync("ed25519");
const synced = promisify(fdatasync);

export interface Slowness {
  /** How long signed threads take over unsigned ones, closing included. */
  readonly signed: number;
  /**
   * The same of unsigned ones with two signatures at the end of each turn, of the thread and of its
   * thread.json, made while the disk is at work, and one more write and sync: nothing is hashed,
   * composed or serialised for them.
   */
  readonly least: number;
}

type Way = "signed" | "bare" | "least";
const WAYS: readonly Way[] = ["signed", "bare", "least"];

export async function slownessOfSigning(root: string, threads: number): Promise<Slowness> {
  const options = { dialect: "rye", agent: "bench", durability: "disk" } as const;
  const stores = {
    signed: await openStore({ ...options, root: `${root}-signed`, sign: true }),
    bare: await openStore({ ...options, root: `${root}-bare` }),
    least: await openStore({ ...options, root: `${root}-least` }),
  };
  const ms: Record<Way, number[]> = { signed: [], bare: [], least: [] };
  for (let n = 0; n < threads; n++) {
    // None of them always comes after the same one.
    for (const way of WAYS.map((_, at) => WAYS[(at + n) % WAYS.length] as Way)) {
      const session = await stores[way].create({ id: `thread-${n}` });
      await session.appendNative({ type: "thread_start", model: "m", inputs: {} });
      const extra = way === "least" ? openSync(`${root}-least/extra-${n}`, "w") : null;
      const start = performance.now();
      for (const event of events) {
        const appended = session.appendNative(event);
        if (extra !== null && ENDS.has(event.type)) {
          await diskAtWork();
          signTwice();
        }
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
  const [signed, bare, least] = WAYS.map((way) => median(ms[way])) as [number, number, number];
  return { signed: signed / bare, least: least / bare }; // One slow sync is one slow thread.
}

const ENDS: ReadonlySet<unknown> = new Set(["step_finish", "thread_complete"]);

function signTwice(): void {
  for (const message of MESSAGES) sign(null, message, privateKey);
}
