/** Exports of spans: what is sent and what is not, from where on, and what is told of it. */

import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { ATTR } from "../../src/integrations/otel/names.ts";
import { exportSpans } from "../../src/otel.ts";
import { CliUser } from "../cli/cli.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { Collector, distinct, meaningOf, spansIn } from "./collector.ts";
import { EVENTS, ID, makeSession, PROMPT } from "./spanned-session.ts";

const SECRET = "s3cr3t-token-value";

test("nothing of what was said is sent unless it is asked for", async () => {
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

test("an export goes on after any place: what had ended there is not told again, all else is", async () => {
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
  const command = ["export", ID, "--otlp", `${collector.url}/?key=${SECRET}q`, "--root", project];
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

test("--json prints what would be sent and sends nothing", async () => {
  const user = new CliUser();
  const { session } = makeSession(user.cwd);
  const { code, stdout } = await user.run(["export", ID, "--otlp", "http://127.0.0.1:1", "--json"]);
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

test("a collector's address that cannot be one is refused without being repeated", async () => {
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
