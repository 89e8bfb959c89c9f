/** Browser check: a session's bytes, checked in the browser. Loaded when a session is opened. */

import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionHead } from "../../../src/client/session-shapes.ts";
import { BytesSource } from "./bytes-source.ts";
import { checkEnd } from "./check-end.ts";
import { checkWhole } from "./check-whole.ts";
import { END_BYTES } from "./checked.ts";
import { WebProofCrypto } from "./web-crypto.ts";

interface CheckOptions {
  readonly client: VerbatimClient;
  readonly head: SessionHead;
  readonly isWhole: boolean;
  readonly signal: AbortSignal;
  readonly progress: (bytes: number, of: number) => void;
}

export async function browserCheck({ client, head, isWhole, signal, progress }: CheckOptions) {
  const crypto = new WebProofCrypto();
  const canVerify = await crypto.canVerify();
  const source = new BytesSource(client.sessions, head, crypto, signal);
  const checked = await (isWhole ? checkWhole(source, progress) : checkEnd(source, END_BYTES));
  return { checked, canVerify };
}
