/**
 * The page of capture, held against the code: its programs are run, with the official SDKs, against
 * a server that replays streams; its limits are the code's.
 *
 * Method: a program is run unchanged, except for its imports of this package, which name the
 * sources, and those of the SDKs, which name where they are installed.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test } from "vitest";
import {
  CAPTURE_LIMITS,
  CAPTURED_BLOCK_BYTES,
  CAPTURED_DEPTH_MAX,
  CAPTURED_NAME_CHARS_MAX,
} from "../../src/core/base/limits.ts";
import { docsPage } from "../support/docs-page.ts";
import { compiledText } from "../support/program.ts";
import { STREAMS, sseBytes } from "../support/provider-streams.ts";
import { replayServer } from "../support/replay-server.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const execute = promisify(execFile);
const { text: page, block } = docsPage("capture");
const sourceOf = (path: string) =>
  fileURLToPath(new URL(`../../src/doors/${path}`, import.meta.url));

const MODULES: Readonly<Record<string, string>> = {
  "verbatim-log": sourceOf("index.ts"),
  "verbatim-log/capture": sourceOf("capture.ts"),
  "@anthropic-ai/sdk": fileURLToPath(import.meta.resolve("@anthropic-ai/sdk")),
  openai: fileURLToPath(import.meta.resolve("openai")),
};

function programOf(name: string): string {
  return block(`${name === "fetch" ? "ts" : "js"} ${name}`).replace(
    / from "([^"]+)";/g,
    (_, from: string) => {
      return ` from ${JSON.stringify(MODULES[from] ?? assert.fail(from))};`;
    },
  );
}

/** The output of a program of the page, with a provider's server that sends this stream. */
async function run(name: string, stream: string): Promise<string> {
  const { events, sse } = STREAMS[stream] ?? assert.fail(stream);
  const { url } = await replayServer({ body: sseBytes(events, sse) });
  const cwd = tempDirectory();
  const { stdout, stderr } = await execute(
    process.execPath,
    [await compiledText(programOf(name))],
    {
      cwd,
      env: {
        PATH: process.env.PATH,
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "key",
        OPENAI_BASE_URL: url,
        OPENAI_API_KEY: "key",
      },
    },
  );
  assert.equal(stderr, "");
  return stdout;
}

test("docs/capture.md: the program for Anthropic prints the events and the result", async () => {
  const types = STREAMS.anthropic?.events.map(({ type }) => type).filter((type) => type !== "ping");
  const lines = (await run("anthropic", "anthropic")).trimEnd().split("\n");
  assert.deepEqual(lines, [...(types ?? []), "7 tool_use 89"]);
});

test("docs/capture.md: the program for OpenAI prints the result", async () => {
  assert.equal(await run("openai", "openai chat"), "Grüße 😀\u007f tool_calls 150\n");
});

test("docs/capture.md: the program without an SDK prints the text as it comes", async () => {
  assert.equal(await run("fetch", "anthropic"), "I look it up:\n\u2028“né”");
});

test("docs/capture.md names the limits that the code has", () => {
  const { messageBytesMax, eventCharsMax } = CAPTURE_LIMITS;
  const said = page.replaceAll("\n", " ");
  for (const limit of [
    `at most ${messageBytesMax / 2 ** 20} MiB as JSON`,
    `counting ${CAPTURED_BLOCK_BYTES / 1024} KiB more`,
    `${eventCharsMax.toLocaleString("en-US")} characters`,
    `nests ${CAPTURED_DEPTH_MAX} deep`,
    `${CAPTURED_NAME_CHARS_MAX.toLocaleString("en-US")} characters`,
  ]) {
    assert.ok(said.includes(limit), limit);
  }
});

test("docs/capture.md names the tested versions of the SDKs", () => {
  const read = (path: string) =>
    JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));
  const { devDependencies } = read("package.json");
  for (const name of ["@anthropic-ai/sdk", "openai"]) {
    assert.ok(page.includes(`\`${name}\` ${devDependencies[name]}`), name);
  }
});
