import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { guardedRootOf } from "../../src/dialects/files/guard-store.ts";
import { startChild } from "../support/child.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

test.each(["ENOSPC", "EMFILE"])(
  "when watches run out (%s), the guard says so and polls",
  async (errno) => {
    const [home, store] = [tempDirectory(), tempDirectory()];
    const path = "projects/-app/one.jsonl";
    const source = join(home, ".claude", path);
    mkdirSync(dirname(source), { recursive: true });
    writeFileSync(source, '{"line":1}\n');
    const child = startChild("test/guard/no-watches-child.ts", home, store, errno);
    assert.match(
      (await child.line()) ?? "",
      new RegExp(`no more file watches \\(${errno}\\).*every 0.05 s; raise fs.inotify`),
    );
    appendFileSync(source, '{"line":2}\n');
    const copy = join(guardedRootOf("claude-code", join(home, ".claude"), store), `${path}.1`);
    const copied = () => (existsSync(copy) ? readFileSync(copy, "utf8") : "");
    await until(() => copied() === '{"line":1}\n{"line":2}\n', "both lines are copied");
    await child.kill();
  },
);
