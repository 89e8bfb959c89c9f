/**
 * The native code that the package carries is native/lock.c, and uses nothing but Node-API.
 *
 * Method: checksums; the symbol table of each binary; and the real compiler, which makes the same
 * bytes if it is the one that made them (native/checksums.txt names it). Another makes others, which
 * must use the same functions; a run says so.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { type Architecture, compile, TOOLS, toolsOf } from "../scripts/lock-binaries.mjs";
import { LOCK_BINARIES } from "../src/core/base/lock-binaries.ts";
import { hasProgram } from "./support/packages.ts";
import { testWhere } from "./support/test-where.ts";

const ARCHITECTURES = Object.keys(TOOLS) as Architecture[];

const checksums = readFileSync(new URL("../native/checksums.txt", import.meta.url), "utf8");

/** The line of checksums.txt: the sum and the compiler. */
function recorded(architecture: Architecture): { readonly sum: string; readonly tools: string } {
  const line = new RegExp(`^(\\w{64})  linux-${architecture}, \\d+ bytes, (.*)$`, "m");
  const [, sum, tools] = line.exec(checksums) ?? [];
  assert.ok(sum && tools, checksums);
  return { sum, tools };
}

function carried(architecture: Architecture): Buffer {
  return Buffer.from(LOCK_BINARIES[architecture] ?? "", "base64");
}

/** Every name in the table of a binary's dynamic symbols and libraries. */
function namesIn(binary: Buffer): string[] {
  const word = (at: number) => Number(binary.readBigUInt64LE(at));
  const [sections, count] = [word(40), binary.readUInt16LE(60)];
  for (let at = sections; at < sections + count * 64; at += 64) {
    const [isStrings, isLoaded] = [binary.readUInt32LE(at + 4) === 3, word(at + 8) !== 0];
    if (!isStrings || !isLoaded) continue;
    const text = binary.toString("latin1", word(at + 24), word(at + 24) + word(at + 32));
    return text.split("\0").filter(Boolean).sort();
  }
  return assert.fail("no names");
}

test.each(ARCHITECTURES)("the carried binary for linux-%s has its checksum", (architecture) => {
  const sum = createHash("sha256").update(carried(architecture)).digest("hex");
  assert.equal(sum, recorded(architecture).sum);
});

test.each(ARCHITECTURES)("the binary for linux-%s uses Node-API and no library", (architecture) => {
  assert.deepEqual(namesIn(carried(architecture)), [
    "napi_create_function",
    "napi_create_int32",
    "napi_get_cb_info",
    "napi_get_value_int32",
    "napi_register_module_v1",
    "napi_set_named_property",
  ]);
});

for (const architecture of ARCHITECTURES) {
  const compilerTest = testWhere(hasProgram(`${TOOLS[architecture]}-gcc`));
  compilerTest(`native/lock.c compiles to the binary for linux-${architecture}`, () => {
    const compiled = compile(architecture);
    const [tools, { tools: ours }] = [toolsOf(architecture), recorded(architecture)];
    if (tools === ours) {
      assert.ok(compiled.equals(carried(architecture)), "run `node scripts/lock-binaries.mjs`");
      return;
    }
    process.stderr.write(`lock-binaries: compared names only: here is ${tools}, not ${ours}\n`);
    assert.deepEqual(namesIn(compiled), namesIn(carried(architecture)));
  });
}
