/** Images and files of messages, from `append` to the request of a provider. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { type NewEntry, openStore, type Part } from "../../src/doors/index.ts";
import { resume } from "../../src/doors/resume.ts";
import { renderEntry } from "../../src/sessions/render/entry-markdown.ts";
import { searchableText } from "../../src/sessions/search/searchable.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const DATA = "iVBORw0KGgo=";
const IMAGE: Part = { type: "image", mediaType: "image/png", name: "oven.png", data: DATA };
const FILE: Part = { type: "file", mediaType: "application/pdf", data: "JVBERg==" };
const TEXT: NewEntry = { kind: "message", role: "user", parts: [{ type: "text", text: "Hi" }] };
const said = (...parts: Part[]): NewEntry => ({ kind: "message", role: "user", parts });
const IDS = {
  verbatim: undefined,
  homeagent: undefined,
  rye: undefined,
  entire: undefined,
  claude: "app/s1",
  sdk: "ai-sdk/s1",
} as const;
type WrittenName = keyof typeof IDS;

async function appended(dialect: WrittenName, ...entries: NewEntry[]) {
  const root = tempDirectory();
  const store = await openStore({ dialect, root, durability: "os" });
  const id = IDS[dialect];
  const session = id === undefined ? await store.create({ agent: "cook" }) : store.session(id);
  for (const entry of entries) await session.append(entry);
  await store.close();
  return session;
}

test.each(Object.keys(IDS) as WrittenName[])(
  "an image that was appended in %s is read, shown and sent to each provider",
  async (dialect) => {
    const session = await appended(dialect, said({ type: "text", text: "Look." }, IMAGE, FILE));
    const entries = await session.last(20);
    const parts = entries.flatMap((entry) => entry.parts);
    assert.deepEqual(parts.slice(1), [IMAGE, FILE]);
    assert.match(entries.map(searchableText).join(" "), /oven\.png/);
    assert.match(
      entries.map((entry) => renderEntry(entry)).join(""),
      /\[image image\/png, oven\.png, 8 bytes\]\n\n\s*.*\n*\[file application\/pdf, 4 bytes\]/,
    );
    const options = { allowUnsigned: true, prompt: null } as const;
    const url = `data:image/png;base64,${DATA}`;
    const anthropic = await resume(session, { ...options, for: "anthropic" });
    const source = { type: "base64", media_type: "image/png", data: DATA };
    assert.deepEqual(anthropic.messages[0]?.content.at(-1), { type: "image", source });
    const dropped = anthropic.report.actions.filter(({ action }) => action === "left_out");
    assert.deepEqual(
      dropped.map(({ why }) => why).filter((why) => why !== "silent"),
      ["block_not_taken"],
    );
    const chat = await resume(session, { ...options, for: "openai-chat" });
    assert.ok(
      JSON.stringify(chat.messages).includes(`{"type":"image_url","image_url":{"url":"${url}"}}`),
    );
    const items = await resume(session, { ...options, for: "openai-responses" });
    assert.ok(
      JSON.stringify(items.messages).includes(`{"type":"input_image","image_url":"${url}"`),
    );
  },
);

test("an image that is too long for a line of another format is refused, and nothing is written", async () => {
  const root = tempDirectory();
  const store = await openStore({ dialect: "rye", root, durability: "os" });
  const session = await store.create({ agent: "cook" });
  await session.append(said({ ...IMAGE, data: "A".repeat(12 * 2 ** 20) }));
  const before = readFileSync(session.path).length;
  await refusal(
    session.append(said({ ...IMAGE, data: "A".repeat(16 * 2 ** 20) })),
    "LINE_TOO_LONG",
  );
  assert.equal(readFileSync(session.path).length, before);
  await store.close();
});

test.each(["entire", "verbatim"] as const)(
  "a large image in %s is in a file next to the log, and never left out in silence",
  async (dialect) => {
    const data = "A".repeat(16 * 2 ** 20);
    const session = await appended(dialect, TEXT, said({ ...IMAGE, data }));
    const options = { for: "anthropic", allowUnsigned: true, prompt: null } as const;
    const { messages } = await resume(session, options);
    assert.ok(JSON.stringify(messages).includes(data));
    const [short] = await session.last(1);
    const shown = renderEntry(short ?? assert.fail());
    const [, named = ""] = /\[image image\/png, ([\w-]+\.0\.spill)\]/.exec(shown) ?? [];
    const directory = dirname(session.path);
    const spill = readdirSync(directory).find((name) => name.endsWith(".spill")) ?? assert.fail();
    assert.ok(named !== "" && spill.endsWith(named));
    rmSync(join(directory, spill));
    const { report } = await resume(session, options);
    assert.deepEqual(
      report.actions.map(({ why, line }) => `${why} ${line}`),
      ["bad_line 2"],
    );
  },
);
