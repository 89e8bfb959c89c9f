/** `verbatim resume`: what a person and a script see, in every dialect. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asLines, CliUser, jsonLines, type RunOptions } from "../cli/cli.ts";
import { aiSdkFaults } from "./validators/ai-sdk.ts";
import { anthropicFaults } from "./validators/anthropic.ts";
import { openaiChatFaults } from "./validators/openai-chat.ts";
import { openaiResponsesFaults } from "./validators/openai-responses.ts";

const RECORDED = {
  rye: {
    id: "hello-1739012630",
    args: ["--directive", "hello"],
    path: ".ai/threads/hello-1739012630/transcript.jsonl",
    entries: [
      { type: "user_message", text: "Deploy it." },
      { type: "step_start" },
      { type: "assistant_text", text: "I deploy.", model: "claude-opus-4-5" },
      { type: "tool_call_start", tool: "deploy", call_id: "c1", input: { to: "prod" } },
    ],
  },
  homeagent: {
    id: "kitchen/evening",
    args: ["--agent", "kitchen"],
    path: "home/agents/kitchen/sessions/evening.jsonl",
    entries: [
      { turnId: "1", role: "user", content: "Deploy it.", ts: 1 },
      {
        turnId: "2",
        role: "assistant",
        content: "I deploy.",
        toolCalls: [{ id: "c1", name: "deploy", args: { to: "prod" } }],
        metadata: { model: "claude-opus-4-5" },
        ts: 2,
      },
    ],
  },
  entire: {
    id: "2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890",
    args: ["--model", "claude-opus-4-5"],
    path: ".entire/metadata/2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890/full.jsonl",
    entries: [
      { type: "user", message: { content: "Deploy it." } },
      {
        type: "assistant",
        message: {
          content: [
            { type: "text", text: "I deploy." },
            { type: "tool_use", id: "c1", name: "deploy", input: { to: "prod" } },
          ],
        },
      },
    ],
  },
} as const;

type DialectName = keyof typeof RECORDED;

class ResumingUser extends CliUser {
  readonly dialect: DialectName;
  readonly where: readonly string[];

  constructor(dialect: DialectName) {
    super();
    this.dialect = dialect;
    this.where = dialect === "homeagent" ? ["--root", "home"] : [];
  }

  get path(): string {
    return join(this.cwd, RECORDED[this.dialect].path);
  }

  async record(...more: string[]): Promise<void> {
    const { id, args, entries } = RECORDED[this.dialect];
    const session = this.dialect === "homeagent" ? "evening" : id;
    const command = ["record", "--dialect", this.dialect, "--session", session];
    const input = asLines(...entries);
    const { code, stderr } = await this.run([...command, ...args, ...this.where, ...more], {
      input,
    });
    assert.deepEqual([code, stderr], [0, ""]);
  }

  resume(args: readonly string[], options: RunOptions = {}) {
    const { id } = RECORDED[this.dialect];
    return this.run(["resume", id, "--for", "anthropic", ...this.where, ...args], options);
  }
}

const DIALECTS = Object.keys(RECORDED) as DialectName[];

test.each(DIALECTS)(
  "a signed %s session is printed as a request, its report on stderr",
  async (dialect) => {
    const user = new ResumingUser(dialect);
    await user.record("--sign");
    const { code, stdout, stderr } = await user.resume(["--json", "--prompt", "And?"]);
    assert.equal(code, 0, stderr);
    const [body, ...others] = jsonLines(stdout);
    assert.deepEqual(others, []);
    assert.deepEqual(Object.keys(body ?? {}), [
      "model",
      "max_tokens",
      "messages",
      "tools",
      "tool_choice",
    ]);
    assert.equal(body?.model, "claude-opus-4-5");
    assert.deepEqual(anthropicFaults(body?.messages as never[]), []);
    expect(stdout).toMatch(/UNCERTAIN.*And\?/);
    const [report] = jsonLines(stderr);
    assert.equal(report?.verdict, "verified");
    const actions = report?.actions as { why: string; callId?: string }[];
    assert.deepEqual(
      actions.filter(({ why }) => why !== "silent").map(({ why, callId }) => [why, callId]),
      [
        ["uncertain_result", "c1"],
        ["last_user_message", undefined],
      ],
    );
  },
);

/** For each target: the keys of a body, where its messages are, and what is wrong with them. */
const BODIES = [
  ["anthropic", "claude-opus-5", ["model", "max_tokens", "messages", "tools", "tool_choice"]],
  ["openai-chat", "gpt-5.5", ["model", "messages"]],
  ["openai-responses", "gpt-5.5", ["model", "input", "store"]],
  ["ai-sdk", null, ["messages"]],
] as const;

const FAULTS = {
  anthropic: ({ messages }: Body) => anthropicFaults(messages as never[]),
  "openai-chat": ({ messages }: Body) => openaiChatFaults(messages as never[]),
  "openai-responses": ({ input }: Body) => openaiResponsesFaults(input as never[]),
  "ai-sdk": ({ messages }: Body) => aiSdkFaults(messages as never[]),
};

type Body = Readonly<Record<string, unknown>>;

test.each(DIALECTS)("a %s session gives a body that each provider accepts", async (dialect) => {
  const user = new ResumingUser(dialect);
  await user.record("--sign");
  for (const [target, model, keys] of BODIES) {
    const args = ["resume", RECORDED[dialect].id, "--for", target, "--json", ...user.where];
    const { code, stdout, stderr } = await user.run(
      model === null ? args : [...args, "--model", model],
    );
    assert.equal(code, 0, stderr);
    const [body = {}, ...others] = jsonLines(stdout);
    assert.deepEqual([Object.keys(body), others], [keys, []], target);
    assert.deepEqual(FAULTS[target](body), [], target);
    assert.equal(body.model, model ?? undefined);
  }
});

test("a thread whose last line names no directive can be continued and forked", async () => {
  // In this envelope checkpoints name none.
  const user = new ResumingUser("rye");
  await user.record("--sign", "--envelope", "payload");
  for (const more of [[], ["--up-to", "1"]]) {
    const { code, stderr } = await user.resume(["--json", "--record", ...more]);
    assert.equal(code, 0, stderr);
  }
});

test.each(DIALECTS)(
  "a %s session that was altered, cut or never signed has verify's exit code",
  async (dialect) => {
    const user = new ResumingUser(dialect);
    await user.record();
    const unsigned = await user.resume(["--json"]);
    assert.deepEqual([unsigned.code, unsigned.stdout], [3, ""]);
    expect(unsigned.stderr).toMatch(/is unsigned.*--allow-unsigned.*\(NOT_VERIFIED\)/s);
    assert.equal((await user.resume(["--json", "--allow-unsigned"])).code, 0);

    const signed = new ResumingUser(dialect);
    await signed.record("--sign");
    const honest = readFileSync(signed.path, "utf8");
    writeFileSync(signed.path, honest.replace("I deploy.", "I remove."));
    const tampered = await signed.resume(["--json", "--lenient", "--allow-unsigned"]);
    assert.deepEqual([tampered.code, tampered.stdout], [1, ""]);
    expect(tampered.stderr).toMatch(/is tampered.*restore it from a copy/s);
    writeFileSync(signed.path, honest.split("\n")[0]?.concat("\n") ?? "");
    const cut = await signed.resume(["--json", "--lenient", "--allow-unsigned"]);
    assert.deepEqual([cut.code, cut.stdout], [6, ""]);
    expect(cut.stderr).toMatch(/is rollback.*restore what is missing/s);
  },
);

test.each(DIALECTS)(
  "--record puts the report into a %s session, or into a fork of it",
  async (dialect) => {
    const user = new ResumingUser(dialect);
    await user.record("--sign");
    const { id } = RECORDED[dialect];
    const here = await user.resume(["--json", "--record"]);
    assert.equal(here.code, 0, here.stderr);
    assert.equal(jsonLines(here.stderr)[0]?.recorded, id);
    expect(readFileSync(user.path, "utf8")).toContain('"resume_report"');
    const fork = await user.resume(["--json", "--up-to", "1", "--record"]);
    assert.equal(fork.code, 0, fork.stderr);
    const forkId = String(jsonLines(fork.stderr)[0]?.recorded);
    assert.notEqual(forkId, id);
    const { stdout } = await user.run(["verify", id, forkId, "--json", ...user.where]);
    const [parent, forked] = jsonLines(stdout);
    assert.deepEqual([parent?.verdict, forked?.verdict], ["verified", "verified"]);
    const from = forked?.from as { log: string; line: string } | null;
    assert.deepEqual([parent?.from, from?.log], [null, parent?.log]);
    const told = await user.run(["verify", forkId, ...user.where]);
    expect(told.stdout).toMatch(new RegExp(`began as a fork of the log ${from?.log}, at byte `));
  },
);

test("a person sees the request, and the report line by line", async () => {
  const user = new ResumingUser("rye");
  await user.record("--sign");
  const { code, stdout, stderr } = await user.resume(["--model", "claude-opus-5"]);
  assert.equal(code, 0);
  expect(stdout).toMatch(/^\{\n {2}"model": "claude-opus-5",\n/);
  expect(stderr).toMatch(
    /^hello-1739012630: verified; 3 messages from \d+ lines\n {2}line 6: added, uncertain result \(c1\)\n$/,
  );
});

test("wrong usage exits with 2", async () => {
  const user = new ResumingUser("rye");
  await user.record("--sign");
  const { id } = RECORDED.rye;
  const wrong = [
    ["resume", id],
    ["resume", id, "--for", "openai-chat"],
    ["resume", id, "--for", "anthropic", "--up-to", "0"],
  ];
  for (const args of wrong) assert.equal((await user.run(args)).code, 2, args.join(" "));
  const { code, stderr } = await user.resume(["--up-to", "9"]);
  assert.equal(code, 7);
  expect(stderr).toMatch(/has 1 turn, not 9/);
});

test("a session that is being recorded is refused with its writer; a snapshot of it is not", async () => {
  const user = new ResumingUser("rye");
  const { id, args } = RECORDED.rye;
  const recording = user.start(["record", "--dialect", "rye", "--session", id, ...args, "--ack"]);
  await recording.json();
  recording.write(asLines({ type: "user_message", text: "Deploy it." }));
  await recording.json();
  const more = ["--allow-unsigned", "--model", "claude-opus-5", "--json"];
  const busy = await user.resume(more);
  assert.deepEqual([busy.code, busy.stdout], [7, ""]);
  expect(busy.stderr).toMatch(new RegExp(`pid ${recording.pid}.*--snapshot.*SESSION_BUSY`, "s"));
  const taken = await user.resume([...more, "--snapshot"]);
  assert.equal(taken.code, 0, taken.stderr);
  assert.deepEqual(jsonLines(taken.stdout)[0]?.messages, [
    { role: "user", content: [{ type: "text", text: "Deploy it." }] },
  ]);
});
