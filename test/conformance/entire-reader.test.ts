/**
 * What Entire's parser reads from a file: the crafted cases that it was measured on, and everything
 * that we write.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";
import { SessionTranscript } from "../../src/doors/entire.ts";
import {
  type EntireReading,
  readAsEntire,
  SCANNED_LINE_BYTES_MAX,
} from "../support/entire-reader.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const USER = { type: "user", uuid: "u-1", message: { role: "user", content: "explain main.rs" } };
const USAGE = {
  input_tokens: 1200,
  output_tokens: 350,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 800,
};
const TEXT = { type: "text", text: "Let me write that." };
const WRITE = { type: "tool_use", id: "t", name: "Write", input: { file_path: "src/main.rs" } };

function answer(message: object = {}): object {
  return {
    type: "assistant",
    uuid: "u-2",
    message: { role: "assistant", id: "msg_1", content: [TEXT, WRITE], usage: USAGE, ...message },
  };
}

const lines = (...rows: readonly unknown[]) =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const GOOD = lines(USER, answer());

const ALL: EntireReading = {
  lines: 2,
  prompts: ["explain main.rs"],
  texts: [TEXT.text],
  modifiedFiles: ["src/main.rs"],
  tokens: { input: 1200, output: 350, cacheCreation: 5, cacheRead: 800, apiCalls: 1 },
};
const NO_TOKENS = { input: 0, output: 0, cacheCreation: 0, cacheRead: 0, apiCalls: 0 };

const surrogates = GOOD.replace("explain", "\\ud800xplain");
const notUtf8 = Buffer.from(GOOD.replace("explain", "\xff"), "latin1");

const CASES: readonly (readonly [string, string | Buffer, Partial<EntireReading>])[] = [
  ["the document's line shape", GOOD, {}],
  ["more keys in a line", lines({ ...USER, gitBranch: "main", sig: {} }, answer({ odd: 1 })), {}],
  ["a header row", lines({ type: "header", v: 1 }) + GOOD, { lines: 3 }],
  [
    "a signed checkpoint row",
    GOOD + lines({ type: "checkpoint", event_type: "checkpoint", uuid: "u-3", payload: { v: 2 } }),
    { lines: 3 },
  ],
  ["a torn last line", `${GOOD}{"type":"user","mess`, {}],
  ["CR and LF", GOOD.replaceAll("\n", "\r\n"), {}],
  ["a lone surrogate", surrogates, { prompts: ["\ufffdxplain main.rs"] }],
  ["bytes that are not UTF-8", notUtf8, { prompts: ["\ufffd main.rs"] }],
  ["a line that is a list", `[1]\n${GOOD}`, {}],
  [
    "an assistant without message.id",
    lines(USER, answer({ id: undefined })),
    { tokens: NO_TOKENS },
  ],
  ["a count of 7.0", GOOD.replace(":350", ":7.0"), { tokens: NO_TOKENS }],
  ["a count of 7.5", GOOD.replace(":350", ":7.5"), { tokens: NO_TOKENS }],
  [
    "a count of null",
    GOOD.replace(":350", ":null"),
    { tokens: { input: 1200, output: 0, cacheCreation: 5, cacheRead: 800, apiCalls: 1 } },
  ],
  [
    "an assistant's content as a text",
    lines(USER, answer({ content: "hi" })),
    { texts: [], modifiedFiles: [] },
  ],
  ["a BOM", `\ufeff${GOOD}`, { lines: 1, prompts: [] }],
  [
    "pretty-printed JSON",
    `${JSON.stringify(USER, null, 2)}\n${lines(answer())}`,
    { lines: 1, prompts: [] },
  ],
  ["a numeric uuid", lines({ ...USER, uuid: 7 }, answer()), { lines: 1, prompts: [] }],
  [
    "a line over 10 MiB",
    GOOD + lines({ ...USER, message: { content: [], pad: "x".repeat(SCANNED_LINE_BYTES_MAX) } }),
    { lines: 3, modifiedFiles: [], tokens: null },
  ],
  [
    "a message in several rows",
    lines(
      USER,
      answer({ usage: { ...USAGE, output_tokens: 3 } }),
      answer(),
      answer({ content: [] }),
    ),
    { lines: 4, texts: [TEXT.text, TEXT.text], modifiedFiles: ["src/main.rs", "src/main.rs"] },
  ],
];

test.each(CASES)("Entire's parser: %s", (_, file, found) => {
  assert.deepEqual(readAsEntire(Buffer.from(file)), { ...ALL, ...found });
});

const text = fc.string({ unit: "binary", maxLength: 30 });
const count = fc.nat({ max: 1e6 });
const usage = fc.record(
  {
    input_tokens: count,
    output_tokens: count,
    cache_creation_input_tokens: fc.option(count),
    cache_read_input_tokens: count,
  },
  { requiredKeys: [] },
);
const turn = fc.oneof(
  fc.record({ user: text }),
  fc.record({ blocks: fc.array(text.map((said) => ({ type: "text", text: said }))) }),
  fc.record({
    said: text,
    path: fc.string({ minLength: 1 }),
    usage,
    asText: fc.boolean(),
  }),
);

test("Entire reads everything we write: every prompt, text, file and token", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 8 }), async (turns) => {
      const transcript = await SessionTranscript.open({
        cwd: tempDirectory(),
        model: "m",
        durability: "os",
      });
      const [prompts, texts, files]: string[][] = [[], [], []];
      const used = [0, 0, 0, 0];
      for (const each of turns) {
        if ("user" in each) {
          await transcript.user(each.user);
          prompts?.push(each.user.toWellFormed());
        } else if ("blocks" in each) {
          await transcript.user(each.blocks);
          prompts?.push(each.blocks.map((block) => block.text.toWellFormed()).join("\n\n"));
        } else {
          const input = { file_path: each.path };
          const blocks = [
            { type: "text", text: each.said },
            { ...WRITE, input },
          ];
          const content = each.asText ? each.said : blocks;
          await transcript.assistant({ content, usage: each.usage });
          texts?.push(each.said.toWellFormed());
          if (!each.asText) files?.push(each.path.toWellFormed());
          const names = Object.keys(USAGE) as (keyof typeof USAGE)[];
          for (const [n, name] of names.entries())
            used[n] = (used[n] ?? 0) + (each.usage[name] ?? 0);
        }
      }
      await transcript.end();
      if (turns.length === 0) return;
      const [input = 0, output = 0, cacheCreation = 0, cacheRead = 0] = used;
      const apiCalls = turns.filter((each) => "usage" in each).length;
      assert.deepEqual(readAsEntire(readFileSync(transcript.path)), {
        lines: turns.length,
        prompts: prompts?.filter((prompt) => prompt !== ""),
        texts,
        modifiedFiles: files,
        tokens: { input, output, cacheCreation, cacheRead, apiCalls },
      });
    }),
    { numRuns: 40 },
  );
});
