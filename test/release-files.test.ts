/** The files that a release needs: workflows and templates that GitHub can read, and that name what exists. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { parse } from "yaml";
import { publishedManifest } from "../scripts/release/manifest.mjs";
import { missingFor, notesOf } from "../scripts/release/notes.mjs";
import { sqlitePackages, writeSqlitePackage } from "../scripts/release/sqlite-packages.mjs";
import config from "../vitest.config.ts";
import { root } from "./public-api/doors.ts";
import { tempDirectory } from "./support/temp-directory.ts";

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
  const { include, tests, ...machines } = linux?.strategy?.matrix ?? assert.fail();
  assert.deepEqual(machines, { os, node });
  const parts = (tests as string[]).map((each) => each.split(" --shard="));
  assert.deepEqual(
    parts.map(([, shard]) => shard),
    ["1/3", "2/3", "3/3"],
  );
  const once = (include as { tests: string }[]).map((each) => each.tests);
  const named = [...new Set(parts.map(([projects]) => projects)), ...once].join(" ").split(" ");
  const { projects = [] } = config.test ?? {};
  const names = (projects as { test: { name: string } }[]).map(({ test }) => test.name);
  assert.deepEqual(named.sort(), names.map((name) => `--project=${name}`).sort());
  assert.deepEqual(macos?.strategy?.matrix, { node });
  for (const job of [linux, macos]) {
    assert.ok(job?.steps.some(({ run }) => run?.startsWith("npm test")));
  }
});

/** The commands of a release's job, one string per step. */
function commandsOf(name: string): readonly string[] {
  const { steps } = new Map(WORKFLOWS).get("release.yml")?.jobs[name] ?? assert.fail(name);
  return steps.map(({ run }) => run ?? "");
}

test("every action is pinned by its commit, the same in each place", () => {
  const uses = WORKFLOWS.flatMap(([name]) =>
    [...textOf(`.github/workflows/${name}`).matchAll(/uses: (.*)/g)].map(
      ([, action = ""]) => action,
    ),
  );
  for (const action of uses) assert.match(action, /^[\w/-]+@[0-9a-f]{40} # v[\d.]+$/);
  assert.equal(new Set(uses).size, new Set(uses.map((action) => action.split("@")[0])).size);
});

test("a release is published after the tests, by a job that runs no code of the repository", () => {
  const pack = commandsOf("pack");
  const notes = pack.findIndex((run) => run.includes("scripts/release/notes.mjs"));
  const tests = pack.indexOf("npm test");
  assert.ok(notes !== -1 && tests > notes);
  assert.ok(pack.indexOf("npm run release:pack -- dist.release") > tests);

  const { jobs } = new Map(WORKFLOWS).get("release.yml") ?? assert.fail();
  for (const [name, { permissions, steps }] of Object.entries(jobs)) {
    const isTrusted = permissions !== undefined;
    const runsCode = steps.some(({ uses = "" }) => uses.startsWith("actions/checkout"));
    assert.notEqual(isTrusted, runsCode, name);
  }
  assert.deepEqual(jobs.publish?.permissions, { "id-token": "write" });
  assert.equal(jobs.executable?.strategy?.matrix.os?.length, 3);
});

test("publishing again publishes what is missing, optional packages first", () => {
  const run = commandsOf("publish").find((each) => each.includes("npm publish")) ?? assert.fail();
  const folder = tempDirectory();
  const tarballs = [
    "verbatim-log",
    "verbatim-log-lock-darwin",
    "verbatim-log-sqlite-linux-x64",
    "verbatim-log-sqlite-darwin-x64",
  ];
  for (const name of tarballs) writeFileSync(join(folder, `${name}-1.2.3.tgz`), "");
  // The registry has one of them.
  const npm = `#!/bin/sh
    [ "$1" = publish ] && echo "$@" >>published
    [ "$*" = "view verbatim-log-sqlite-darwin-x64@1.2.3 version" ] && echo 1.2.3 || true`;
  writeFileSync(join(folder, "npm"), npm, { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env.PATH}`, GITHUB_REF_NAME: "v1.2.3" };
  execFileSync("bash", ["--norc", "-e", "-c", run], { cwd: folder, env });
  assert.deepEqual(readFileSync(join(folder, "published"), "utf8").trim().split("\n"), [
    "publish ./verbatim-log-lock-darwin-1.2.3.tgz --provenance --access public --tag latest",
    "publish ./verbatim-log-sqlite-linux-x64-1.2.3.tgz --provenance --access public --tag latest",
    "publish ./verbatim-log-1.2.3.tgz --provenance --access public --tag latest",
  ]);
});

test("npm pack in the repository packs what is published, and leaves package.json as it was", () => {
  const clone = join(tempDirectory(), "clone");
  const parts = ["scripts", "dist", "docs", "contrib", "README.md", "LICENSE"];
  for (const part of parts.filter((each) => each !== "dist")) {
    cpSync(join(root, part), join(clone, part), { recursive: true });
  }
  cpSync(join(root, "dist/man"), join(clone, "dist/man"), { recursive: true }); // All takes long.
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  // As it is, but without the build.
  const own = JSON.parse(textOf("package.json"));
  own.scripts.prepack = own.scripts.prepack.split(" && ").at(-1);
  writeFileSync(join(clone, "package.json"), JSON.stringify(own));

  execFileSync("npm", ["pack", "--silent"], { cwd: clone, stdio: "pipe" });
  const tarball = `verbatim-log-${own.version}.tgz`;
  const untar = ["-xOzf", tarball, "package/package.json"];
  const packed = JSON.parse(execFileSync("tar", untar, { cwd: clone, encoding: "utf8" }));
  assert.deepEqual(packed, JSON.parse(publishedManifest()));
  for (const field of ["private", "scripts", "devDependencies"]) assert.ok(!(field in packed));
  assert.deepEqual(JSON.parse(readFileSync(join(clone, "package.json"), "utf8")), own);
  assert.deepEqual(
    readdirSync(clone).sort(),
    [...parts, "node_modules", "package.json", tarball].sort(),
  );
});

const URL = "git+https://github.com/ada/verbatim.git";
const CHANGED = `# Changelog

## 1.2.3 (2026-12-01)

One line
and its rest ([page](docs/a.md)).

### Part

- A fact
  of two lines ([site](https://example.com)).
- Another.

## 1.2.2 (2026-11-01)

- Old.
`;

test("the release page has the changelog's section of its version, with whole links", () => {
  assert.equal(
    notesOf({ version: "1.2.3", repository: { url: URL } }, CHANGED),
    "One line and its rest ([page](https://github.com/ada/verbatim/blob/v1.2.3/docs/a.md)).\n\n" +
      "### Part\n\n- A fact of two lines ([site](https://example.com)).\n- Another.",
  );
  const { version } = JSON.parse(textOf("package.json"));
  assert.match(notesOf({ version, repository: { url: URL } }, textOf("CHANGELOG.md")), /^- /m);
});

test("a release names all that is missing, and says what to do", () => {
  const repository = { url: URL };
  const place = { tag: "v1.2.3", repository: "ada/verbatim" };
  const noPage = () => "";
  assert.deepEqual(missingFor({ version: "1.2.3", repository }, CHANGED, place, noPage), []);
  const [noPlace = "", noTag = "", noHeading = "", ...more] = missingFor(
    { version: "1.2.4" },
    CHANGED.replace("## 1.2.3 (2026-12-01)", "## 1.2.4 (unreleased)"),
    place,
    noPage,
  );
  assert.match(noPlace, /no "repository", .* Set it to/);
  assert.match(noTag, /The tag is v1\.2\.3; .* v1\.2\.4/);
  assert.match(noHeading, /no heading "## 1\.2\.4 \(YYYY-MM-DD\)"/);
  assert.deepEqual(more, []);
  const fork = { ...place, repository: "eve/verbatim" };
  const inFork = missingFor({ version: "1.2.3", repository }, CHANGED, fork, noPage);
  assert.match(String(inFork), /this is eve/);
  const early = (path: string) => (path === "README.md" ? "No version has been\nreleased yet" : "");
  const stale = missingFor({ version: "1.2.3", repository }, CHANGED, place, early);
  assert.match(String(stale), /^README\.md says "No version/);
});

test("SQLite is packed for the platforms that Verbatim runs on, each with the repository", () => {
  const packages = sqlitePackages();
  assert.deepEqual(
    packages.map(({ name }) => name.replace("verbatim-log-sqlite-", "")),
    [
      "darwin-arm64",
      "darwin-x64",
      "linux-arm64",
      "linux-arm64-musl",
      "linux-x64",
      "linux-x64-musl",
    ],
  );
  const [first = assert.fail()] = packages;
  const release = { version: "1.2.3", repository: { type: "git", url: URL } };
  const folder = writeSqlitePackage(first, release, tempDirectory());
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  assert.deepEqual([manifest.version, manifest.repository], ["1.2.3", release.repository]);
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
