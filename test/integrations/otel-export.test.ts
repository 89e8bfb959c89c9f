/** Exports of spans: what is sent and what is not, from which offset, and the report. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exportLive, exportSpans } from "../../src/doors/otel.ts";
import { ATTR } from "../../src/integrations/otel/span-shapes.ts";
import { CliUser } from "../cli/cli.ts";
import { put, turn } from "../cli/stores.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { Collector, distinct, meaningOf, spansIn } from "./collector.ts";
import { EVENTS, ID, makeSession, PROMPT } from "./spanned-session.ts";

const SECRET = "s3cr3t-token-value";

test("nothing of the conversation is sent unless requested", async () => {
  const { session } = makeSession();
  const said = [PROMPT, "I'll write it.", "7 bytes", "no such file", "secret detail", "The pa"];
  const bodies: string[] = [];
  const exporter = async (body: string) => void bodies.push(body);
  await exportSpans(session, { exporter });
  for (const text of said) assert.ok(!bodies.join().includes(text), text);

  bodies.length = 0;
  await exportSpans(session, { exporter, content: true });
  for (const text of said) assert.ok(bodies.join().includes(text), text);
  const spans = bodies.flatMap(spansIn).map(meaningOf) as {
    name: string;
    attributes: Record<string, string>;
  }[];
  const chat = spans.find(({ name }) => name.startsWith("chat")) ?? assert.fail();
  expect(JSON.parse(chat.attributes[ATTR.GEN_AI_INPUT_MESSAGES] ?? "")).toEqual([
    { role: "user", parts: [{ type: "text", content: PROMPT }] },
  ]);
  expect(JSON.parse(chat.attributes[ATTR.GEN_AI_OUTPUT_MESSAGES] ?? "")).toEqual([
    {
      role: "assistant",
      parts: [
        { type: "text", content: "I'll write it." },
        { type: "tool_call", id: "tc_1", name: "fs_write", arguments: { a: 1 } },
        { type: "tool_call", id: "tc_2", name: "fs_read", arguments: "x" },
      ],
      finish_reason: "tool_use",
    },
  ]);
});

test("an export continues after any offset: spans that had ended there are not sent again, all others are", async () => {
  const { session, starts } = makeSession();
  const told = async (after: number) => {
    const bodies: string[] = [];
    const exporter = async (body: string) => void bodies.push(body);
    const { deliveredTo } = await exportSpans(session, { exporter, after });
    return { ids: bodies.flatMap(spansIn).map(({ spanId }) => spanId), deliveredTo };
  };
  const whole = await told(0);
  for (const [n, start] of starts.entries()) {
    const before = makeSession(tempDirectory(), EVENTS.slice(0, n));
    const bodies: string[] = [];
    if (n > 0) {
      await exportSpans(before.session, { exporter: async (body) => void bodies.push(body) });
    }
    const ended = bodies.flatMap(spansIn).filter(({ attributes }) => {
      return !attributes.some(({ key }) => key === "verbatim.unfinished");
    });
    const rest = (await told(start)).ids;
    assert.deepEqual([...ended.map(({ spanId }) => spanId), ...rest].sort(), whole.ids.toSorted());
  }
  assert.deepEqual((await told(whole.deliveredTo)).ids, []);
});

test("the command sends a session twice as the same spans, and prints no header", async () => {
  const user = new CliUser();
  const { project } = makeSession(user.cwd);
  const collector = await Collector.start();
  const command = [
    "export",
    ID,
    "--format",
    "otlp",
    "--to",
    `${collector.url}/?key=${SECRET}q`,
    "--root",
    project,
  ];
  const header = ["--header", `authorization=Bearer ${SECRET}`];
  collector.respond = (response) => response.end("{}");
  const first = await user.run([...command, ...header], {
    env: { OTEL_EXPORTER_OTLP_HEADERS: `x-team=${SECRET}%20a` },
  });
  const once = collector.spans.length;
  collector.respond = (response) => {
    const errorMessage = `\u001b[2Jno room; Bearer ${SECRET}`;
    response.end(JSON.stringify({ partialSuccess: { rejectedSpans: "2", errorMessage } }));
  };
  const second = await user.run([...command, ...header]);

  expect(first).toMatchObject({ code: 0, stdout: "" });
  expect(collector.posted[0]?.headers).toMatchObject({
    authorization: `Bearer ${SECRET}`,
    "x-team": `${SECRET} a`,
  });
  expect(collector.posted[0]?.path).toBe(`/v1/traces?key=${SECRET}q`);
  expect([once, collector.spans.length, distinct(collector.spans).size]).toEqual([7, 14, 7]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain("2 spans of them were rejected");
  expect(second.stderr).toContain("no room");
  expect(first.stderr + second.stderr).not.toContain(SECRET);
  expect(second.stderr).not.toContain("\u001b");
});

test("without --to, what would be sent is printed", async () => {
  const user = new CliUser();
  const { session } = makeSession(user.cwd);
  const { code, stdout } = await user.run(["export", ID, "--format", "otlp"]);
  const bodies: string[] = [];
  await exportSpans(session, { exporter: async (body) => void bodies.push(body) });
  expect(code).toBe(0);
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(bodies.map((body) => JSON.parse(body)));
});

test("an invalid collector address is refused without being repeated", async () => {
  const { session } = makeSession();
  for (const url of ["ftp://x", `http://me:${SECRET}@localhost`, SECRET]) {
    const error = await refusal(exportSpans(session, { url }), "BAD_SETTING");
    expect(error.message).not.toContain(SECRET);
  }
  const headers = { [`a\n${SECRET}`]: "x" };
  const error = await refusal(
    exportSpans(session, { url: "http://localhost", headers }),
    "BAD_SETTING",
  );
  expect(error.message).not.toContain(SECRET);
});

test("an option overrides the environment's header of the same name, in any case", async () => {
  const user = new CliUser();
  makeSession(user.cwd);
  const collector = await Collector.start();
  const { code } = await user.run(
    [
      "export",
      ID,
      "--format",
      "otlp",
      "--to",
      collector.url,
      "--header",
      "authorization=Bearer option",
    ],
    { env: { OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer environment,X-Team=a" } },
  );
  expect(code).toBe(0);
  expect(collector.posted[0]?.headers).toMatchObject({
    authorization: "Bearer option",
    "x-team": "a",
  });
});

test("an offset after the log's end is refused: nothing was delivered up to there", async () => {
  const user = new CliUser();
  const { session } = makeSession(user.cwd);
  const exporter = async () => {};
  const { deliveredTo: end } = await exportSpans(session, { exporter });
  for (const exporting of [exportSpans, exportLive]) {
    const refused = exporting(session, { exporter, after: end + 1 });
    const { details } = await refusal(refused, "LOG_REWOUND");
    expect(details).toEqual({ path: session.logId, from: end + 1, to: end });
  }
  expect(await exportSpans(session, { exporter, after: end })).toMatchObject({ deliveredTo: end });
  const command = ["export", ID, "--format", "otlp", "--after"];
  const { code, stdout, stderr } = await user.run([...command, String(end + 1)]);
  expect([code, stdout]).toEqual([7, ""]);
  expect(stderr).toContain("LOG_REWOUND");
});

test("a log in no store is exported as the session that its lines name", async () => {
  const user = new CliUser();
  makeSession(user.cwd);
  const copy = (name: string, lines: readonly object[]) => {
    put(join(user.cwd, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
  const other = EVENTS.map((each) => ({ ...each, thread_id: "hello_world-2" }));
  copy("a/transcript.jsonl", EVENTS);
  copy("b/transcript.jsonl", other);
  copy("fork/transcript.jsonl", [...EVENTS.slice(0, 2), ...other.slice(2)]);
  const row = { uuid: "u", timestamp: "2026-11-15T10:00:00.000Z", sessionId: "2026-11-15-e" };
  const message = { role: "user", content: "Hello" };
  copy("e/full.jsonl", [
    { ...row, type: "user", message },
    { type: "summary", summary: "Hi" },
  ]);

  const told = async (name: string) => {
    const command = ["export", name, "--format", "otlp"];
    const { stdout, stderr } = await user.run(command);
    const [span = assert.fail(stderr)] = stdout.trimEnd().split("\n").flatMap(spansIn);
    const { traceId, attributes } = meaningOf(span) as {
      traceId: string;
      attributes: Record<string, unknown>;
    };
    return [traceId, attributes[ATTR.GEN_AI_CONVERSATION_ID], attributes[ATTR.GEN_AI_AGENT_NAME]];
  };
  const [trace] = await told(ID);
  expect(await told("a/transcript.jsonl")).toEqual([trace, ID, "hello_world"]);
  const [otherTrace, ...who] = await told("b/transcript.jsonl");
  expect(who).toEqual(["hello_world-2", "hello_world"]);
  expect(otherTrace).not.toBe(trace);
  expect(await told("fork")).toEqual([otherTrace, ...who]);
  expect((await told("e"))[1]).toBe("2026-11-15-e");
});

test("a log in no store whose lines name no session is refused, as handing it off is", async () => {
  const user = new CliUser();
  put(join(user.cwd, "turns.jsonl"), `${JSON.stringify(turn("user", { content: "x" }))}\n`);
  const event = { ...EVENTS[0], thread_id: "../x" };
  put(join(user.cwd, "bad-id.jsonl"), `${JSON.stringify(event)}\n`);
  for (const name of ["turns.jsonl", "bad-id.jsonl"]) {
    const handoff = await user.run(["export", "--format", "bundle", name]);
    const { code, stdout, stderr } = await user.run(["export", name, "--format", "otlp"]);
    expect([code, stdout]).toEqual([7, ""]);
    expect(handoff.code).toBe(7);
    expect(handoff.stderr).toContain("SESSION_NOT_FOUND");
    expect(stderr.split("\n").slice(-2)).toEqual(handoff.stderr.split("\n").slice(-2));
  }
});
