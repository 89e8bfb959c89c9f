/** Live exports of spans: while a session grows, when its log undoes lines, and through kills. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isBuilt } from "../../scripts/setup.mjs";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { exportLive, exportSpans } from "../../src/doors/otel.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { CliUser, root } from "../cli/cli.ts";
import { put, putThread } from "../cli/stores.ts";
import { Child } from "../support/child.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { Collector, distinct, meaningOf, spansIn } from "./collector.ts";
import { EVENTS, event, ID, makeSession } from "./spanned-session.ts";

test("a live export that is killed and started again sends every span, each under one id", async () => {
  const user = new CliUser();
  const all = makeSession(tempDirectory());
  const collector = await Collector.start();
  const log = put(`${user.cwd}/.ai/threads/${ID}/transcript.jsonl`, linesOf(EVENTS.slice(0, 8)));
  const command = [
    "export",
    ID,
    "--format",
    "otlp",
    "--to",
    collector.url,
    "--follow",
    "--root",
    user.cwd,
  ];
  const killed = user.start(command);
  await collector.until((spans) => spans.length >= 2); // Both tools.
  await killed.kill();
  put(log, linesOf(EVENTS.slice(0, 10)));
  const again = user.start(command);
  await collector.until((spans) => spans.some(({ name }) => name === "turn"));
  put(log, linesOf(EVENTS));
  await collector.until((spans) => spans.some(({ name }) => name.startsWith("invoke_agent")));
  again.signal("SIGINT");
  expect(await again.exitCode()).toBe(0);

  const whole: string[] = [];
  await exportSpans(all.session, { exporter: async (body) => void whole.push(body) });
  expect([...distinct(collector.spans)]).toEqual([...distinct(whole.flatMap(spansIn))]);
  expect(again.stderr).toMatch(/up to byte (\d+) of the log/);
});

test("when a log undoes lines, a live export sends the spans of their replacements", async () => {
  const { project, session } = makeSession(tempDirectory(), EVENTS.slice(0, 8));
  const told: string[] = [];
  const collected = new Map<string, object>();
  let wake: () => void = () => {};
  const exporter = async (body: string) => {
    for (const span of spansIn(body)) {
      told.push(span.name);
      collected.set(span.spanId, meaningOf(span));
    }
    wake();
  };
  const until = async (name: string) => {
    while (!told.includes(name)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const stop = new AbortController();
  const live = exportLive(session, { exporter, signal: stop.signal, lingerMs: 1 });
  await until("execute_tool fs_write");
  const instead = event("tool_call_result", "53.250000", { call_id: "tc_1", error: "disk full" });
  putThread(project, ID, [...EVENTS.slice(0, 7), instead, ...EVENTS.slice(8)]);
  await until("invoke_agent hello_world");
  stop.abort();
  await live;

  const whole: string[] = [];
  await exportSpans(session, { exporter: async (body) => void whole.push(body) });
  for (const [id, meaning] of distinct(whole.flatMap(spansIn))) {
    assert.deepEqual(collected.get(id), meaning);
  }
});

test("the example, killed in the middle and run again, loses no entry and no span", async () => {
  expect(isBuilt(), "dist is older than src: run `npm run build` first").toBe(true);
  const program = join(root, "examples/otel.mjs");
  const run = (where: string) => {
    const env = { PATH: process.env.PATH ?? "", HOME: where };
    return new Child(spawn(process.execPath, [program, where], { env }));
  };
  const where = tempDirectory();
  let killed = run(where);
  let known = await lineWith(killed, /^(\d+) entries/);
  await killed.kill();
  killed = run(where);
  await lineWith(killed, /^[0-9a-f]{16} (.*)/);
  await killed.kill();
  const again = run(where);
  known = await lineWith(again, /^(\d+) entries/);
  const rest = await restOf(again);
  const whole = await restOf(run(tempDirectory()));

  assert.ok(Number(known) > 0);
  const spans = (lines: readonly string[]) => lines.filter((line) => /^[0-9a-f]{16} /.test(line));
  expect(spans(whole).length).toBe(4);
  expect(spans(rest)).toEqual(spans(whole));
  const session = new Store(nodeHost, { dialect: "rye", root: where }).session("kitchen-1");
  const entries = [];
  for await (const { kind } of session.entries()) entries.push(kind);
  const kinds = ["start", "message", "turn_start", "message", "message", "turn_end", "end"];
  expect(entries).toEqual(kinds);
});

async function lineWith(child: Child, pattern: RegExp): Promise<string> {
  for (;;) {
    const line = (await child.line()) ?? assert.fail(`no line like ${pattern}`);
    const match = pattern.exec(line);
    if (match) return match[1] ?? "";
  }
}

async function restOf(child: Child): Promise<string[]> {
  const lines: string[] = [];
  for (let line = await child.line(); line !== null; line = await child.line()) lines.push(line);
  return lines;
}

function linesOf(events: readonly object[]): string {
  return events.map((each) => `${JSON.stringify(each)}\n`).join("");
}
