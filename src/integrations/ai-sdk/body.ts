/**
 * Body: an answer's chunks as the AI SDK sends them to a browser, from any byte on.
 *
 * - The bytes are those of the SDK's own response (`createUIMessageStreamResponse`), and depend on
 *   the chunks only: a client that was cut off after n bytes gets the rest by asking for it from n.
 */

import type { UIMessageChunk } from "ai";

const encoder = new TextEncoder();
const DONE = encoder.encode("data: [DONE]\n\n");

/** `from`: bytes to skip. `reading` is aborted when it is over, or from outside. */
export function bodyOf(
  chunks: AsyncIterable<readonly UIMessageChunk[]>,
  from: number,
  reading: AbortController,
): ReadableStream<Uint8Array> {
  const events = eventsOf(chunks, reading.signal);
  let skipped = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        while (true) {
          const { value, done } = await events.next();
          if (done) {
            reading.abort();
            return controller.close();
          }
          const rest = value.subarray(Math.min(value.length, from - skipped));
          skipped += value.length - rest.length;
          if (rest.length > 0) return controller.enqueue(rest);
        }
      },
      cancel: () => reading.abort(),
    },
    { highWaterMark: 0 },
  );
}

async function* eventsOf(
  chunks: AsyncIterable<readonly UIMessageChunk[]>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const together of chunks) {
    const text = together.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    yield encoder.encode(text);
  }
  if (!signal.aborted) yield DONE; // Otherwise the rest is unknown.
}
