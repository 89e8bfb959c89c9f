import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { SigningUser } from "../../../test/support/signing-user.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { readHead } from "../heads/session-head.ts";
import { putSurplusAside } from "./surplus.ts";

test("surplus checkpoints are moved away only if the log is still as it was shown", async () => {
  const user = new SigningUser();
  const { target, path, sidecarPath } = await user.writeTurns({ dialect: "homeagent" }, 3);
  const [log, sidecar] = [readFileSync(path), readFileSync(sidecarPath)];
  const options = await user.judging(target, true);
  const { head: newest } = await readHead(nodeHost, target, options);
  await refusal(putSurplusAside(nodeHost, target, newest, options), "CHANGED_WHILE_READ");

  truncateSync(path, log.length - 5);
  const { head, surplus } = await readHead(nodeHost, target, options);
  assert.equal(surplus?.seq, newest.seq);
  truncateSync(path, log.indexOf("\n") + 1); // Meanwhile the log lost more.
  await refusal(putSurplusAside(nodeHost, target, head, options), "CHANGED_WHILE_READ");
  writeFileSync(path, log); // The log was restored.
  await refusal(putSurplusAside(nodeHost, target, head, options), "CHANGED_WHILE_READ");
  truncateSync(path, log.length - 5);
  appendFileSync(path, "other\n"); // The log was replaced by other content.
  await refusal(putSurplusAside(nodeHost, target, head, options), "NOT_VERIFIED");
  assert.deepEqual(readFileSync(sidecarPath), sidecar);
  assert.ok(!existsSync(`${sidecarPath}.torn-0`));

  truncateSync(path, log.length - 5);
  const keptAt = await putSurplusAside(nodeHost, target, head, options);
  assert.deepEqual(Buffer.concat([readFileSync(sidecarPath), readFileSync(keptAt)]), sidecar);
  assert.equal((await readHead(nodeHost, target, options)).surplus, null);
});
