/**
 * Lines to write and read: made by a seeded generator, so that every run has the same bytes. They have
 * no LF.
 */

const WORDS = (
  "the agent reads a file then runs tests and finds one failing because path was not closed " +
  "so it writes patch and asks again whether result should be kept or thrown away now"
).split(" ");
const FOREIGN_WORDS = ["naïve", "Übergröße", "日本語", "файл", "señal", "→", "🙂"];
const PRINTABLE =
  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;-_/+*()[]{}<>";

/** JSON of exactly `bytes` bytes, all of them printable ASCII. */
export function smallLines(count: number, bytes: number): Buffer[] {
  const random = seededRandom(1);
  return Array.from({ length: count }, (_, sequence) => {
    const empty = JSON.stringify({ sequence, text: "" });
    let text = "";
    while (empty.length + text.length < bytes) text += pick(random, [...PRINTABLE]);
    return Buffer.from(JSON.stringify({ sequence, text }));
  });
}

/** JSON of about `bytes` bytes, nested as an agent's turn is; every second has words beyond ASCII. */
export function turnLines(count: number, bytes: number): Buffer[] {
  const random = seededRandom(2);
  return Array.from({ length: count }, (_, sequence) => {
    const lines: string[] = [];
    let line = turnLine(random, sequence, lines);
    while (line.length < bytes) {
      lines.push(sentence(random, 12, sequence % 2 === 1));
      line = turnLine(seededRandom(sequence), sequence, lines);
    }
    return line;
  });
}

function turnLine(random: () => number, sequence: number, lines: string[]): Buffer {
  const id = () => Math.floor(random() * 2 ** 32).toString(16);
  const tokens = () => Math.floor(random() * 20_000);
  return Buffer.from(
    JSON.stringify({
      type: "assistant",
      sequence,
      id: `turn-${id()}-${id()}`,
      parent: sequence === 0 ? null : `turn-${id()}-${id()}`,
      time: new Date(1_700_000_000_000 + sequence * 1000).toISOString(),
      message: {
        role: "assistant",
        content: [
          { type: "text", text: lines.slice(0, 3).join("\n") },
          {
            type: "tool_use",
            id: `call-${id()}`,
            name: "write",
            input: { path: `src/${id()}.ts`, overwrite: false, lines: lines.slice(3) },
          },
        ],
        usage: { input: tokens(), output: tokens(), cached: tokens(), cost: random() },
      },
    }),
  );
}

function sentence(random: () => number, words: number, isForeign: boolean): string {
  const text = Array.from({ length: words }, () => pick(random, WORDS));
  if (isForeign) text.push(pick(random, FOREIGN_WORDS));
  return text.join(" ");
}

function pick<T>(random: () => number, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

/** Numbers in [0, 1), by mulberry32: small, and random enough. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
