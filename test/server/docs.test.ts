/** docs/server.md and the unit file match the code. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "vitest";
import { runnable } from "../../src/cli/commands.ts";
import { serve } from "../../src/cli/serve/commands.ts";
import { SERVER_SETTINGS } from "../../src/server/settings/limits.ts";
import { root } from "../cli/cli.ts";
import { docsPage } from "../support/docs-page.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { startTestServer } from "./test-server.ts";

const page = docsPage("server");
const unitPath = join(root, "contrib/verbatim.service");
const unit = readFileSync(unitPath, "utf8");

function section(title: string): string {
  const [, text] = page.text.split(`\n## ${title}\n`);
  return text?.split("\n## ")[0] ?? assert.fail(`no section ${title}`);
}

/** The blocks of a language, without their fences. */
function blocks(language: string): string[] {
  const isOfIt = ({ info }: { readonly info: string }) => info.split(" ")[0] === language;
  return page.fences.filter(isOfIt).map(({ body }) => body);
}

test("the page's table of limits has every setting with its default", () => {
  const rows = [...section("Limits").matchAll(/^\| `(\w+)` \| (\d+) \| \S/gm)];
  const told = Object.fromEntries(rows.map(([, name, value]) => [name, Number(value)]));
  const set = Object.entries(SERVER_SETTINGS).filter(([, value]) => typeof value === "number");
  assert.deepEqual(told, Object.fromEntries(set));
});

test("the page's table of metrics has exactly those that a server reports", async () => {
  const server = await startTestServer();
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const told = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);
  const rows = section("Metrics").match(/^\| `.*$/gm) ?? [];
  const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)]);
  assert.deepEqual(named.map(([, name]) => name).sort(), told.sort());
});

const COMMANDS = new Map(runnable().map(({ names, command }) => [names, command]));

test("every command on the page exists, and takes the options shown", () => {
  const spoken = [...page.text.matchAll(/`(verbatim [^`]+)`/g)].map(([, text = ""]) => text);
  const lines = [...blocks("sh"), unit].flatMap((text) => text.split("\n")).concat(spoken);
  let count = 0;
  for (const line of lines) {
    const [, name = "", rest = ""] =
      /\bverbatim ((?:server token|keys head) \w+|(?:serve|server backup|verify|doctor))\b(.*)$/.exec(
        line,
      ) ?? [];
    if (name === "") continue;
    count++;
    const known = COMMANDS.get(name)?.options.map(({ flags }) => flags.split(" ")[0]);
    for (const [flag] of rest.split(/[#|]/)[0]?.matchAll(/(?<=\s)--[\w-]+/g) ?? []) {
      assert.ok(known?.includes(flag), `${line.trim()}: there is no ${flag}`);
    }
  }
  assert.ok(count >= 20, `only ${count} commands were found`);
});

test("the page's line of the request log has the fields of a real one", async () => {
  const [line = ""] = blocks("json");
  const records: unknown[] = [];
  const server = await startTestServer({ onRequest: (record) => records.push(record) });
  await server.put("/chat/1", "text/plain");
  while (records.length === 0) await fetch(`${server.url}/health`);
  assert.deepEqual(Object.keys(JSON.parse(line)), Object.keys(records[0] as object));
});

test("the proxy's example points to the server's address, and forwards its bodies and events", () => {
  const [nginx = ""] = blocks("nginx");
  const port = serve.options.find(({ flags }) => flags.startsWith("--port"))?.default;
  assert.ok(nginx.includes(`proxy_pass http://127.0.0.1:${port};`));
  assert.ok(nginx.includes("proxy_buffering off;"));
  assert.ok(nginx.includes("proxy_set_header Host $host;"));
  const mebibytes = Number(/client_max_body_size (\d+)m;/.exec(nginx)?.[1]);
  assert.equal(mebibytes * 1024 * 1024, SERVER_SETTINGS.bodyBytesMax);
  const seconds = Number(/proxy_read_timeout (\d+)s;/.exec(nginx)?.[1]);
  assert.ok(seconds * 1000 > SERVER_SETTINGS.longPollTimeoutMs);
  for (const line of nginx.split("\n"))
    assert.match(line, /^\s*(?:|[\w$ .:/"-]+;|.* \{|\})$/, line);
});

test("the unit file allows the server its stop time, and write access to its own data only", () => {
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
  assert.ok(seconds * 1000 > SERVER_SETTINGS.graceMs);
  assert.match(unit, /^ProtectSystem=strict$/m);
  assert.match(unit, /^StateDirectoryMode=0700$/m);
  assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=yes$/m); // V8 generates code at run time.
});

test("systemd accepts the unit file, where systemd is installed", async () => {
  const analyze = "/usr/bin/systemd-analyze";
  if (!existsSync(analyze)) {
    process.stderr.write("NOT CHECKED: there is no systemd-analyze to verify the unit file\n");
    return;
  }
  // Under another name, so that an installed unit is not checked instead.
  const copy = join(tempDirectory(), "verbatim-under-test.service");
  writeFileSync(copy, unit);
  const { stderr } = await promisify(execFile)(analyze, ["verify", "--man=no", copy]);
  const about = stderr.split("\n").filter((line) => line.includes("verbatim-under-test"));
  assert.deepEqual(about, []);
});
