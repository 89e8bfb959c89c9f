/** Dialect: rye's threads, as the store asks for them. The root is the project's directory. */

import type { Dialect, Native, WriterFacts } from "../dialect.ts";
import { decode } from "./decode.ts";
import { completeNative, type Envelope, readEnvelope } from "./envelope.ts";
import { express } from "./express.ts";
import { ryeSigning } from "./signing.ts";
import { idAt, logPath } from "./thread-id.ts";
import { isSilentType } from "./vocabulary.ts";

export type { Envelope };

/**
 * The dialect, writing lines in the given envelope; it reads both. Always the same object for the
 * same envelope: functions made anew for each session would be slow anew in each.
 */
export function ryeDialect({ envelope = "flat" }: { readonly envelope?: Envelope } = {}): Dialect {
  return DIALECTS[envelope];
}

const DIALECTS: Readonly<Record<Envelope, Dialect>> = {
  flat: makeDialect("flat"),
  payload: makeDialect("payload"),
};

/** The dialect with the envelope of the thread-transcripts document. */
export const rye: Dialect = DIALECTS.flat;

function makeDialect(envelope: Envelope): Dialect {
  return {
    name: "rye",
    signing: ryeSigning(envelope),
    logPath,
    idAt,
    decode,
    sessionOf: (value: unknown) => readEnvelope(value).event?.threadId ?? null,
    isSilent: (native: Native) => isSilentType(readEnvelope(native).event?.type ?? ""),
    express,
    complete: (native: Native, facts: WriterFacts) =>
      completeNative(native, {
        envelope,
        threadId: facts.id,
        defaultDirective: facts.agent,
        nowMs: facts.nowMs,
      }),
  };
}
