import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { type Policy, policyFor, readProjectPolicies, readUserPolicy } from "./policy.ts";

const POLICIES: readonly Policy[] = ["strict", "lenient"];

function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o600);
  return path;
}

test("the flag overrides the environment, which overrides the user's file; a project can only tighten", () => {
  const said = [undefined, ...POLICIES];
  for (const flag of said) {
    for (const env of said) {
      for (const user of said) {
        for (const project of said) {
          const inForce = policyFor({
            flag,
            env,
            user: user && { policy: user, path: "/config.json" },
            project: project ? [{ policy: project, path: "/p/.verbatim.json" }] : [],
          });
          const asked = flag ?? env ?? user ?? "strict";
          const expected = project === "strict" ? "strict" : asked;
          assert.equal(inForce.policy, expected);
          const from = flag ? "flag" : env ? "environment" : user ? "/config.json" : "default";
          assert.equal(inForce.from, expected === asked ? from : "/p/.verbatim.json");
        }
      }
    }
  }
});

test("one strict project file is enough", () => {
  const project = [
    { policy: "lenient", path: "a" },
    { policy: "strict", path: "b" },
    { policy: "lenient", path: "c" },
  ] as const;
  assert.deepEqual(policyFor({ flag: "lenient", project }), { policy: "strict", from: "b" });
});

test("an empty environment variable is ignored", () => {
  assert.deepEqual(policyFor({ env: "" }), { policy: "strict", from: "default" });
});

test("any other value is an error, and never read as the laxer policy", () => {
  for (const value of ["Strict", "LENIENT", "lenient ", "off", "false", "0", "strict,lenient"]) {
    const flag = thrownRefusal(() => policyFor({ flag: value }), "BAD_SETTING");
    assert.equal(flag.details.from, "flag");
    const env = thrownRefusal(() => policyFor({ env: value }), "BAD_SETTING");
    assert.equal(env.details.from, "environment");
    assert.equal(env.details.setting, "VERBATIM_TRANSCRIPT_INTEGRITY");
  }
  thrownRefusal(() => policyFor({ flag: "" }), "BAD_SETTING");
});

test("the policy is read from the user's file, which may set other keys; without either there is none", () => {
  const directory = tempDirectory();
  const path = join(directory, "config.json");
  assert.equal(readUserPolicy(path), undefined);
  put(path, '{"other": 1}');
  assert.equal(readUserPolicy(path), undefined);
  for (const policy of POLICIES) {
    put(path, JSON.stringify({ other: {}, transcript_integrity: policy }));
    assert.deepEqual(readUserPolicy(path), { policy, path });
  }
});

test("a user's file that cannot be parsed or trusted is an error", () => {
  const directory = tempDirectory();
  const path = join(directory, "config.json");
  for (const text of [
    "",
    "{",
    "[]",
    "null",
    '"lenient"',
    '{"transcript_integrity": true}',
    '{"transcript_integrity": null}',
    '{"transcript_integrity": ["lenient"]}',
    '{"transcript_integrity": "laxer"}',
  ]) {
    put(path, text);
    const { details } = thrownRefusal(() => readUserPolicy(path), "BAD_SETTING");
    assert.equal(details.from, path);
  }
  put(path, '{"transcript_integrity": "lenient"}');
  chmodSync(path, 0o622);
  thrownRefusal(() => readUserPolicy(path), "BAD_SETTING");
  const link = join(directory, "link.json");
  symlinkSync(path, link);
  thrownRefusal(() => readUserPolicy(link), "BAD_SETTING");
});

const YAML = ["settings.yaml", ".ai/config/settings.yaml"];

test("a project's .verbatim.json and the YAML files that are named are all read", () => {
  const project = tempDirectory();
  assert.deepEqual(readProjectPolicies(project, YAML), []);
  const json = put(join(project, ".verbatim.json"), '{"transcript_integrity":"lenient"}');
  const yaml = put(
    join(project, ".ai/config/settings.yaml"),
    "coordination:\n  # the default\n  transcript_integrity: strict\n  orphan_detection:\n",
  );
  chmodSync(json, 0o666); // A project's files may be writable by everyone.
  assert.deepEqual(readProjectPolicies(project, YAML), [
    { policy: "lenient", path: json },
    { policy: "strict", path: yaml },
  ]);
});

test("the line of YAML is found at any depth, quoted or not, with a comment or not", () => {
  const project = tempDirectory();
  const path = join(project, "settings.yaml");
  for (const line of [
    "transcript_integrity: strict",
    "    transcript_integrity:   strict   ",
    'transcript_integrity: "strict"',
    "transcript_integrity: 'strict' # why",
    '"transcript_integrity": strict',
    "\ttranscript_integrity : strict\r",
    "\ufefftranscript_integrity: strict",
  ]) {
    put(path, `${line}\nother: 1\n`);
    assert.deepEqual(readProjectPolicies(project, YAML), [{ policy: "strict", path }], line);
  }
  put(path, "# transcript_integrity: strict\nother: lenient # transcript_integrity\n");
  assert.deepEqual(readProjectPolicies(project, YAML), []);
});

test("a line of YAML that names the policy in a form we cannot parse is an error", () => {
  const project = tempDirectory();
  const path = join(project, "settings.yaml");
  for (const line of [
    "transcript_integrity:",
    "transcript_integrity: |",
    "transcript_integrity: strictly",
    "transcript_integrity: strict, or so",
    "transcript_integrity: 'strict",
    "{ transcript_integrity: strict }",
    "? transcript_integrity",
    "transcript_integrity: &anchor strict",
  ]) {
    put(path, `${line}\n`);
    const { details } = thrownRefusal(() => readProjectPolicies(project, YAML), "BAD_SETTING");
    assert.equal(details.from, path);
  }
});

test("no text of a project makes the policy laxer than the user's", () => {
  const project = tempDirectory();
  const path = join(project, "settings.yaml");
  const piece = fc.constantFrom(
    "transcript_integrity",
    ":",
    " ",
    "\n",
    "strict",
    "lenient",
    "#",
    "x",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      put(path, pieces.join(""));
      try {
        const inForce = policyFor({ project: readProjectPolicies(project, YAML) });
        assert.deepEqual(inForce, { policy: "strict", from: "default" });
      } catch (error) {
        assert.equal((error as { code?: unknown }).code, "BAD_SETTING");
      }
    }),
    { numRuns: 300 },
  );
});
