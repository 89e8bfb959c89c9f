/**
 * `npm run recording` makes `docs/images/recording.svg`: a terminal in which real commands run, with
 * what they print. It needs no network, and nothing of yours is read: the home directory is a
 * temporary one.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./setup.mjs";
import { terminalSvg } from "./site/terminal-svg.mjs";

const ID = "6f1c2d3e-1111-4222-8333-444455556666";
const ROWS = [
  {
    type: "user",
    uuid: "u1",
    timestamp: "2026-11-17T10:00:00Z",
    message: { role: "user", content: "Why does the build fail?" },
  },
  {
    type: "assistant",
    uuid: "u2",
    parentUuid: "u1",
    timestamp: "2026-11-17T10:00:05Z",
    message: {
      id: "msg_1",
      role: "assistant",
      model: "claude-opus-4-5",
      content: [{ type: "text", text: "A dependency is missing." }],
    },
  },
];
const TURNS = [
  { kind: "message", role: "user", parts: [{ type: "text", text: "May I deploy?" }] },
  { kind: "message", role: "assistant", parts: [{ type: "text", text: "Not on a Friday." }] },
];

/** What is typed; a comment is shown with it. */
const COMMANDS = [
  "verbatim search 'build fail'         # every agent on this machine",
  "verbatim guard --once                # copies that stay",
  "rm ~/.claude/projects/app/*.jsonl    # the agent deletes its history",
  "verbatim restore 6f1c2d3e            # byte for byte",
  "my-agent | verbatim record --session deploy --sign",
  "verbatim verify deploy",
  "sed -i 's/Not on/Now on/' .verbatim/sessions/deploy.jsonl",
  "verbatim verify deploy",
];

/** Runs the commands, and returns what is typed and printed. */
export function record() {
  const home = mkdtempSync(join(tmpdir(), "verbatim-recording-"));
  try {
    const bin = join(home, "bin");
    const sessions = join(home, ".claude", "projects", "app");
    for (const folder of [bin, sessions]) mkdirSync(folder, { recursive: true });
    symlinkSync(join(root, "dist", "cli", "main.js"), join(bin, "verbatim"));
    const lines = (/** @type {readonly object[]} */ rows) =>
      rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    const own = { sessionId: ID, cwd: "/home/me/app" };
    writeFileSync(join(sessions, `${ID}.jsonl`), lines(ROWS.map((row) => ({ ...row, ...own }))));
    writeFileSync(join(home, "turns"), lines(TURNS));
    writeFileSync(join(bin, "my-agent"), `#!/bin/sh\ncat ${home}/turns\n`, { mode: 0o755 });
    const env = { HOME: home, PATH: `${bin}:${process.env.PATH}` };
    return COMMANDS.map((command) => {
      const shell = `${command.replace(/ #.*/, "")} 2>&1 || true`;
      const output = execFileSync("bash", ["-c", shell], { cwd: home, env, encoding: "utf8" });
      return { command, output: output.replaceAll(home, "~").trimEnd().split("\n") };
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

if (import.meta.filename === process.argv[1]) {
  writeFileSync(join(root, "docs", "images", "recording.svg"), terminalSvg(record()));
}
