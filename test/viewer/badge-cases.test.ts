/**
 * One table of cases through every judge: the page never shows a better verdict than the command
 * line, and raises no false alarm.
 *
 * Method: each case of test/signing/attacks is a separate store behind a real server, with its own pins.
 * Its verdict is taken from the library, from the API, and from the browser's own code, run here.
 */

import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { VerbatimClient } from "../../src/client/client.ts";
import type { SessionItem, SessionVerdict } from "../../src/client/session-shapes.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { SessionVerifier } from "../../src/evidence/verify/session-verifier.ts";
import { VERDICTS, type Verdict, worse } from "../../src/trust/proof/verdict.ts";
import { type Badge, badgeOf, type ServerWord } from "../../viewer/src/proof/badge.ts";
import { BytesSource } from "../../viewer/src/proof/bytes-source.ts";
import { checkEnd } from "../../viewer/src/proof/check-end.ts";
import { checkWhole } from "../../viewer/src/proof/check-whole.ts";
import { type CheckResult, END_BYTES, WHOLE_BYTES_MAX } from "../../viewer/src/proof/checked.ts";
import { WebProofCrypto } from "../../viewer/src/proof/web-crypto.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { serveSessions } from "../server/sessions/served.ts";
import { type LaidOut, layOut, SHOWN_CASES } from "../signing/attacks/cases-shown.ts";
import { SHAPE_NAMES } from "../signing/attacks/kit.ts";
import { isTried } from "../support/seed.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const never = new AbortController().signal;

/** A server looks into all its stores for each request: more of them only cost time. */
const STORES_PER_SERVER = 8;

/** Of the cases with the same verdict, a run asks the API and the browser about one in so many. */
const EVERY = 8;

/** Many cases differ only in what they alter in one line: one dialect is enough for those. */
function isAsked(name: string): boolean {
  return !isOfMany(name) || name.startsWith("rye-flat");
}

function isOfMany(name: string): boolean {
  return /-altered-|-spelled-|-in-tail$|-field-/.test(name);
}

/** One in so many cases. */
const asked = SHOWN_CASES.map(({ name }) => name).filter(
  (name, nth) => isAsked(name) && (!isOfMany(name) || isTried(nth, EVERY)),
);

async function libraryVerdict({ target }: LaidOut): Promise<Verdict> {
  const where = { cwd: target.root, root: target.root };
  const verifier = await SessionVerifier.open(nodeHost, { where, onWarning: () => {} });
  return (await verifier.verify(target)).verdict;
}

interface Judged {
  readonly report: SessionVerdict;
  /** What the page checks by default: of a long session not all. */
  readonly checked: CheckResult;
  readonly end: CheckResult;
}

async function judgedBy(client: VerbatimClient, item: SessionItem): Promise<Judged> {
  const source = () => new BytesSource(client.sessions, item, new WebProofCrypto(), never);
  const report = await client.sessions.verify(item.id);
  const end = await checkEnd(source(), END_BYTES);
  if (item.bytes > WHOLE_BYTES_MAX) return { report, checked: end, end };
  return { report, checked: await checkWhole(source(), () => {}), end };
}

function badgeFor(checked: CheckResult, server: ServerWord, more = {}): Badge {
  const browser = { is: "checked", checked, canVerify: true } as const;
  return badgeOf({ browser, server, isLive: false, isStale: false, ...more });
}

/** What is wrong with the badges of one case. */
function faultsOf({ report, checked: own, end }: Judged, cli: Verdict): string[] {
  const said = { is: "said", report } as const;
  const shown = badgeFor(own, said);
  const faults: string[] = [];
  if (report.verdict !== cli) faults.push(`the API says ${report.verdict}`);
  if (shown.verdict !== cli) faults.push(`the badge says ${shown.verdict}`);
  for (const checked of [own, end]) {
    const live = badgeFor(checked, said, { isLive: true });
    for (const badge of [badgeFor(checked, said), live]) {
      const isBetter = badge.verdict === null || worse(badge.verdict, cli) !== badge.verdict;
      if (isBetter) faults.push(`better: ${badge.verdict}`);
      if ((badge.tone === "good") !== (badge.verdict === "verified")) faults.push("a false green");
    }
    const halves: ServerWord[] = [
      { is: "asking" } as const,
      { is: "not asked" } as const,
      { is: "failed", reason: "it is gone" },
    ];
    for (const server of halves) {
      if (badgeFor(checked, server).tone === "good") faults.push(`green while ${server.is}`);
    }
    if (badgeFor(checked, said, { isStale: true }).tone === "good")
      faults.push("green while stale");
  }
  for (const browser of [
    { is: "checking", share: 0.5 },
    { is: "failed", reason: "" },
  ] as const) {
    const { tone } = badgeOf({ browser, server: said, isLive: false, isStale: false });
    if (tone === "good") faults.push(`green while the browser is ${browser.is}`);
  }
  return faults;
}

for (const shape of SHAPE_NAMES) {
  test(`no badge is better or worse than the command line's verdict: ${shape}`, async () => {
    const laid = await layOut(tempDirectory(), ({ name }) => {
      return name.startsWith(`${shape}-`) && asked.includes(name);
    });
    process.env.XDG_CACHE_HOME = tempDirectory();
    const wrong: string[] = [];
    const seen = new Set<Verdict>();
    const [gone, present] = [true, false].map((is) =>
      laid.filter(({ name }) => isGone(name) === is),
    );
    for (const one of gone ?? []) {
      Object.assign(process.env, one.env);
      const { server } = await serveSessions([one.target.root]);
      const client = new VerbatimClient({ url: server.url });
      const [item] = (await client.sessions.list()).sessions;
      const isListed = /-missing-pinned$|-buried-by-another$/.test(one.name);
      if ((item !== undefined) !== isListed || item?.isMissing === false) wrong.push(one.name);
      const verdict = await libraryVerdict(one);
      if (one.name.endsWith("-buried")) seen.add(verdict);
      if (item) assert.equal((await client.sessions.verify(item.id)).verdict, verdict);
      await server.running.close();
    }
    const judged: (LaidOut & { readonly verdict: Verdict })[] = [];
    for (const [nth, one] of (present ?? []).entries()) {
      Object.assign(process.env, one.env);
      const verdict = await libraryVerdict(one);
      if (seen.has(verdict) && !isTried(nth, EVERY)) continue;
      seen.add(verdict);
      judged.push({ ...one, verdict });
    }
    // Each server has several stores: it reads the user's pins for each request.
    for (let from = 0; from < judged.length; from += STORES_PER_SERVER) {
      const some = judged.slice(from, from + STORES_PER_SERVER);
      const { server } = await serveSessions(some.map(({ target }) => target.root));
      const client = new VerbatimClient({ url: server.url });
      const items = new Map<string, SessionItem>();
      for await (const item of client.sessions.all()) items.set(item.root, item);
      for (const one of some) {
        Object.assign(process.env, one.env);
        const item = items.get(one.target.root);
        const { verdict } = one;
        if (item === undefined || item.isMissing) wrong.push(`${one.name}: not listed`);
        else {
          for (const fault of faultsOf(await judgedBy(client, item), verdict)) {
            wrong.push(`${one.name}: ${fault}, not ${verdict}`);
          }
        }
      }
      await server.running.close();
    }
    expect(wrong).toEqual([]);
    assert.ok(laid.length >= 30, `${laid.length} cases`);
    const missing = VERDICTS.filter((verdict) => verdict !== "unpinned" && !seen.has(verdict));
    assert.deepEqual(missing, [], "every verdict has a case");
  });
}

/** Their log is missing, so there are no bytes to check; those with a pin are listed as missing. */
function isGone(name: string): boolean {
  return /-missing(-pinned)?$|-sidecar-log-gone$|-buried(-by-another)?$/.test(name);
}

test("the command line agrees with the table for a case of each verdict", async () => {
  const names = [
    "honest",
    "modified-answer",
    "newer-version",
    "forked",
    "signed-by-unknown",
    "stripped",
    "torn-tail",
    "nul-line",
    "missing-pinned",
    "buried",
  ].map((name) => `rye-flat-${name}`);
  const more = [
    "homeagent-sidecar-end-nuls-and-lf",
    "entire-spill-altered",
    "rye-flat-long-tampered",
  ];
  const wanted = [...names, ...more];
  const laid = await layOut(tempDirectory(), ({ name }) => wanted.includes(name));
  assert.equal(laid.length, wanted.length);
  const user = new CliUser();
  const verdicts = new Set<unknown>();
  for (const one of laid) {
    Object.assign(process.env, one.env);
    const { id, root } = one.target;
    const args = ["verify", id, "--root", root, "--json"];
    const { stdout, stderr } = await user.run(args, { env: one.env });
    const verdict = jsonLines(stdout)[0]?.verdict;
    assert.equal(verdict, await libraryVerdict(one), `${one.name}: ${stderr}`);
    verdicts.add(verdict);
  }
  assert.equal(verdicts.size, VERDICTS.length - 1, "all but unpinned, which a flag asks for");
});

test("the table has at least fifty altered variants with distinct names", () => {
  const names = SHOWN_CASES.map(({ name }) => name).filter(isAsked);
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.length >= 200);
});
