/**
 * Recording: 20-turn, 50 KB rye threads with their markdown and thread.json, against the bare log
 * appends of the same lines. Creating and closing the threads is not timed.
 */

import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Durability } from "../../src/doors/log.ts";
import { openLog, openStore } from "./built.ts";

const TURNS = 20;
/** About as long as a thread.json is. */
const META = JSON.stringify({ thread_id: "thread", text: "x".repeat(400) }, null, 2);
const events = threadEvents();

export class Recording {
  readonly #directory: string;
  readonly #durability: Durability;
  #made = 0;

  constructor(directory: string, durability: Durability) {
    this.#directory = directory;
    this.#durability = durability;
  }

  /** How long our way takes over the bare one, for that many threads each, alternately. */
  async slowness(threads: number): Promise<number> {
    const store = await openStore({
      dialect: "rye",
      root: this.#newPath(),
      agent: "bench",
      durability: this.#durability,
    });
    const lines = await this.#linesOfOurs();
    let [oursMs, bareMs] = [0, 0];
    for (let n = 0; n < threads; n++) {
      const session = await store.create({ id: `thread-${n}` });
      await session.appendLines([{ type: "thread_start", model: "m", inputs: {} }]);
      oursMs += await timeMs(async () => {
        for (const event of events) await session.appendLines([event]);
        await turn(); // With `os` the markdown and thread.json are written then.
      });
      await session.close();
      bareMs += await this.#bareMs(lines);
    }
    await store.close();
    return oursMs / bareMs;
  }

  /**
   * The time of the minimum that any program must do to record such a thread: serialise each line,
   * append it, write the text, and replace thread.json. Nothing is validated, completed or
   * rendered.
   */
  async leastSlowness(threads: number): Promise<number> {
    const lines = await this.#linesOfOurs();
    const values = lines.map((line) => JSON.parse(line.toString("utf8")) as unknown);
    const text = Buffer.concat(lines);
    let [leastMs, bareMs] = [0, 0];
    for (let n = 0; n < threads; n++) {
      const path = this.#newPath();
      writeFileSync(`${path}.json`, META);
      const markdown = openSync(`${path}.md`, "a", 0o600);
      const least = await openLog(`${path}.jsonl`, { durability: this.#durability });
      leastMs += await timeMs(async () => {
        for (const value of values) await least.append(Buffer.from(JSON.stringify(value)));
        writeSync(markdown, text);
        writeFileSync(`${path}.json.tmp`, META, { flag: "wx", mode: 0o600 });
        renameSync(`${path}.json.tmp`, `${path}.json`);
      });
      closeSync(markdown);
      await least.close();
      bareMs += await this.#bareMs(lines);
    }
    return leastMs / bareMs;
  }

  async #bareMs(lines: readonly Buffer[]): Promise<number> {
    const log = await openLog(`${this.#newPath()}.jsonl`, { durability: this.#durability });
    const ms = await timeMs(async () => {
      for (const line of lines) await log.append(line);
    });
    await log.close();
    return ms;
  }

  /** The lines that our store writes. */
  async #linesOfOurs(): Promise<Buffer[]> {
    const root = this.#newPath();
    const store = await openStore({ dialect: "rye", root, agent: "bench", durability: "os" });
    const session = await store.create({ id: "thread" });
    for (const event of events) await session.appendLines([event]);
    await store.close();
    const text = readFileSync(join(root, ".ai/threads/thread/transcript.jsonl"), "utf8");
    return text
      .trimEnd()
      .split("\n")
      .map((line) => Buffer.from(line));
  }

  #newPath(): string {
    return join(this.#directory, `${this.#durability}-${this.#made++}`);
  }
}

async function timeMs(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** What a runner writes in twenty turns, each with a tool call, and the end: about 50 KB. */
export function threadEvents(): Record<string, unknown>[] {
  const text = "It was the best of times, it was the worst of times, it was the age of wisdom. ";
  const turns = Array.from({ length: TURNS }, (_, turn) => [
    { type: "step_start", turn_number: turn + 1 },
    { type: "assistant_text", text: text.repeat(6) },
    { type: "tool_call_start", tool: "read", call_id: `c${turn}`, input: { path: `/src/${turn}` } },
    { type: "tool_call_result", call_id: `c${turn}`, output: text.repeat(14), duration_ms: 12 },
    {
      type: "step_finish",
      cost: { spend: 0.0012 },
      tokens: { input_tokens: 900, output_tokens: 120 },
      finish_reason: "tool_use",
    },
  ]);
  return [
    { type: "user_message", text: text.repeat(4), role: "user" },
    ...turns.flat(),
    { type: "thread_complete", cost: { turns: TURNS, tokens: 20_400, spend: 0.024 } },
  ];
}
