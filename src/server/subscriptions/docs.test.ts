import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compiledText } from "../../../test/support/program.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { WebhookKeys } from "./webhooks/webhook.ts";

const page = readFileSync(new URL("../../../docs/subscriptions.md", import.meta.url), "utf8");

test("the page's signature check accepts our signature, and rejects altered and old ones", async () => {
  // Method: the page's program unchanged, followed by a line that checks each case.
  const program = /```ts verify\n([\s\S]*?)```/.exec(page)?.[1] ?? assert.fail("no such program");
  const judging = `
    const cases = JSON.parse(process.argv[2] ?? "");
    const verdicts = cases.map(({ body, header, jwks, nowMs }) =>
      isFromServer(Buffer.from(body), header, jwks, nowMs));
    process.stdout.write(JSON.stringify(verdicts));`;
  const path = await compiledText(program + judging);
  const good = await signedBy(tempDirectory());
  const other = await signedBy(tempDirectory());
  const cases = [
    good,
    { ...good, nowMs: Date.now() + 4 * 60_000 },
    { ...good, body: "{}" },
    { ...good, jwks: other.jwks },
    { ...good, header: "nonsense" },
    { ...good, nowMs: Date.now() + 6 * 60_000 },
  ];
  const output = execFileSync(process.execPath, [path, JSON.stringify(cases)], {
    encoding: "utf8",
  });
  expect(JSON.parse(output)).toEqual([true, true, false, false, false, false]);
});

test("the page's limits are those in the code", () => {
  const limits = page.slice(page.indexOf("## Limits"));
  const { subscriptionsMax, explicitStreamsMax, deliveriesMax } = SUBSCRIPTION_LIMITS;
  for (const value of [subscriptionsMax, explicitStreamsMax]) {
    expect(limits).toContain(value.toLocaleString("en-US"));
  }
  expect(limits).toContain(`${deliveriesMax} webhooks called at once`);
  expect(limits).toContain(`bodies of ${SUBSCRIPTION_LIMITS.requestBytesMax / 2 ** 20} MiB`);
});

async function signedBy(directory: string) {
  const keys = await WebhookKeys.open(nodeHost, directory);
  const body = '{"wake_id":"w_é"}';
  return { body, jwks: keys.jwks, header: await keys.signature(body, Date.now()) };
}
