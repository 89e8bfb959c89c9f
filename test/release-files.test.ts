/** The files that a release needs: workflows and templates that GitHub can read, and that name what exists. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { parse } from "yaml";
import { root } from "./public-api/doors.ts";

const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const scripts: Readonly<Record<string, string>> = JSON.parse(textOf("package.json")).scripts;

interface Job {
  readonly "runs-on": string;
  readonly "timeout-minutes": number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const WORKFLOWS = readdirSync(join(root, ".github/workflows")).map((name) => {
  return [name, parse(textOf(`.github/workflows/${name}`)) as Workflow] as const;
});

test.each(WORKFLOWS)(
  "%s: every job has a limit, few rights, and runs scripts that exist",
  (_, flow) => {
    assert.deepEqual(flow.permissions, { contents: "read" });
    assert.ok(Object.keys(flow.on).length > 0);
    for (const [name, job] of Object.entries(flow.jobs)) {
      assert.ok(job["timeout-minutes"] > 0, name);
      for (const { uses, run = "" } of job.steps) {
        assert.ok((uses !== undefined) !== (run !== ""), `${name}: a step runs or uses something`);
        for (const [, script = ""] of run.matchAll(/\bnpm run (?:-s )?([\w:]+)/g)) {
          assert.ok(script in scripts, script);
        }
      }
    }
  },
);

test("the tests run on Linux x64 and arm64 and on macOS, with Node 20, 22, 24 and 26", () => {
  const flow = new Map(WORKFLOWS).get("check.yml") ?? assert.fail();
  const { linux, macos } = flow.jobs;
  const node = [20, 22, 24, 26];
  const os = ["ubuntu-24.04", "ubuntu-24.04-arm"];
  assert.deepEqual(linux?.strategy?.matrix, { os, node });
  assert.deepEqual(macos?.strategy?.matrix, { node });
  for (const job of [linux, macos]) {
    assert.ok(job.steps.some(({ run }) => run === "npm test"));
  }
});

test("a release is published with provenance, after the tests", () => {
  const flow = new Map(WORKFLOWS).get("release.yml") ?? assert.fail();
  const { permissions, steps } = flow.jobs.publish ?? assert.fail();
  assert.equal(permissions?.["id-token"], "write");
  const runs = steps.map(({ run }) => run ?? "");
  const publish = runs.findIndex((run) => /npm publish \S+ --provenance/.test(run));
  const pack = runs.indexOf("npm run release:pack -- dist.release");
  assert.ok(runs.includes("npm test") && pack > runs.indexOf("npm test") && publish > pack);
});

test("each platform gets an executable after the packages are published", () => {
  const flow = new Map(WORKFLOWS).get("release.yml") ?? assert.fail();
  const job = (flow.jobs.executable ?? assert.fail()) as Job & { readonly needs: string };
  assert.equal(job.needs, "publish");
  assert.equal(job.strategy?.matrix.os?.length, 3);
  assert.ok(job.steps.some(({ run }) => run?.includes("npm run release:executable")));
});

test("issue templates have a name, a description and fields with ids", () => {
  const names = readdirSync(join(root, ".github/ISSUE_TEMPLATE")).filter((n) => n !== "config.yml");
  assert.ok(names.length > 0);
  for (const name of names) {
    const form = parse(textOf(`.github/ISSUE_TEMPLATE/${name}`));
    assert.ok(form.name && form.description, name);
    for (const { type, id, attributes } of form.body) {
      assert.ok(type === "markdown" ? attributes.value : id && attributes.label, `${name}: ${id}`);
    }
  }
});

test("what contributors and reporters need is there", () => {
  for (const path of ["CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "LICENSE"]) {
    assert.ok(existsSync(join(root, path)), path);
  }
});
