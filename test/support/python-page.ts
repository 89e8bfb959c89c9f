/** Python page: verdicts of docs/verify-proof.py, which needs python3 and nothing else. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const PYTHON_PAGE = fileURLToPath(new URL("../../docs/verify-proof.py", import.meta.url));
/** Judges many proofs in one process: hex of the keys, then of each proof, one per line. */
const MANY = `
import importlib.util, sys
spec = importlib.util.spec_from_file_location("page", sys.argv[1])
page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(page)
keys = [bytes.fromhex(each) for each in sys.stdin.readline().split()]
for line in sys.stdin:
    print(page.judge(bytes.fromhex(line.strip()), keys)[0])
`;

export function python(args: readonly string[], input = "") {
  const run = spawnSync("python3", args, { input, encoding: "utf8", maxBuffer: 2 ** 28 });
  assert.ok(!run.error, "python3 is missing: install it (Debian: apt install python3)");
  return run;
}

/** The verdicts of a reader who has these keys, on proofs or disclosed copies. */
export function pythonVerdicts(
  keys: readonly Uint8Array[],
  proofs: readonly Uint8Array[],
): string[] {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
  const input = [keys.map(hex).join(" "), ...proofs.map(hex)].map((line) => `${line}\n`).join("");
  const { stdout, stderr, status } = python(["-c", MANY, PYTHON_PAGE], input);
  assert.equal(status, 0, stderr);
  return stdout.trimEnd().split("\n");
}
