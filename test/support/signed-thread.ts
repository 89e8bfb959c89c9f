/**
 * Signed logs: lines and their checkpoints, in the log or in a sidecar, made by the signer itself.
 */

import type { Signer } from "../../src/trust/keys/keys.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { asciiJson } from "../../src/trust/proof/checkpoint.ts";
import { LogSigner } from "../../src/trust/signer/log-signer.ts";
import { nothingSigned } from "../../src/trust/signer/signer-state.ts";

export interface SignedLog {
  readonly bytes: Buffer;
  /** Where each turn ends, its checkpoint included. */
  readonly ends: readonly number[];
  /** The checkpoints of a log that has them in a sidecar file. */
  readonly sidecar: Buffer;
}

interface Spelling {
  readonly line: object;
  /** A checkpoint's envelope. */
  readonly envelope: object;
  readonly hasSidecar: boolean;
}

const NOW = "2026-02-09T04:03:50.365Z";
const TS = "2026-02-09T04:03:50.365000+00:00";

/** A rye thread of some turns, each of one line and the checkpoint over it. */
export function signedThread(
  signer: Signer,
  id: string,
  { turns = 3, salt = 1, word = "said" } = {},
): Promise<SignedLog> {
  const of = { thread_id: id, directive: "hello" };
  return signedLog(signer, turns, salt, (turn) => ({
    line: { ts: TS, type: "user_message", ...of, text: `${word} ${turn}` },
    envelope: { ts: TS, type: "checkpoint", ...of },
    hasSidecar: false,
  }));
}

/** The same for a HomeAgent session, with its checkpoints in a sidecar file. */
export function signedTurns(signer: Signer, id: string, { turns = 3 } = {}): Promise<SignedLog> {
  return signedLog(signer, turns, 1, (turn) => ({
    line: { turnId: String(turn), role: "user", content: `said ${turn}`, ts: 1_770_609_830_365 },
    envelope: { timestamp: NOW, thread_id: `homeagent:${id}` },
    hasSidecar: true,
  }));
}

async function signedLog(
  signer: Signer,
  turns: number,
  salt: number,
  spell: (turn: number) => Spelling,
): Promise<SignedLog> {
  const { hasSidecar } = spell(0);
  const begun = nothingSigned(nodeCrypto, new Uint8Array(32).fill(salt), hasSidecar);
  const parts = { crypto: nodeCrypto, signer, isSidecar: hasSidecar, nowIso: () => NOW };
  const log = LogSigner.from(begun, parts);
  const lines: Uint8Array[] = [];
  const sidecar: Uint8Array[] = [];
  const ends: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const { line, envelope } = spell(turn);
    const draft = log.draft();
    lines.push(Buffer.from(`${JSON.stringify(line)}\n`));
    draft.addLines(lines.at(-1) as Uint8Array);
    const opening = `${asciiJson(envelope).slice(0, -1)},`;
    const checkpoint = await draft.checkpoint("turn", opening, { turn, rev: 0 });
    (hasSidecar ? sidecar : lines).push(checkpoint);
    draft.commit();
    ends.push(lines.reduce((bytes, part) => bytes + part.length, 0));
  }
  return { bytes: Buffer.concat(lines), ends, sidecar: Buffer.concat(sidecar) };
}
