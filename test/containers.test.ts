/**
 * Dockerfile and compose.yaml are well-formed, and what they name exists. No container is started.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { parse } from "yaml";
import { serve } from "../src/cli/serve/commands.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (name: string) => readFileSync(join(root, name), "utf8");

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly configs?: readonly (string | { readonly source: string; readonly target: string })[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
}

const compose = parse(read("compose.yaml"), { merge: true, strict: true }) as Compose;
const services = Object.entries(compose.services);
const flagNames = serve.options?.map(({ flags }) => flags.split(" ")[0]) ?? [];

/** The `--options` in the arguments of `verbatim serve`. */
function flagsIn(args: readonly string[]): string[] {
  return args.flatMap((each) => each.match(/^--[a-z-]+/) ?? []);
}

test("compose.yaml has two servers on one database with a standby, and a proxy", () => {
  assert.deepEqual(Object.keys(compose.services).sort(), [
    "primary",
    "proxy",
    "standby",
    "verbatim-1",
    "verbatim-2",
  ]);
  for (const name of ["verbatim-1", "verbatim-2"]) {
    const { command = [] } = compose.services[name] ?? {};
    assert.equal(command[0], "serve");
    assert.ok(command.includes("--durability=standby"));
  }
});

test("every volume, config and service that compose.yaml names is in it", () => {
  for (const [name, { image, build, volumes = [], configs = [], depends_on = [] }] of services) {
    assert.ok((image === undefined) !== (build === undefined), name);
    for (const volume of volumes)
      assert.ok((volume.split(":")[0] ?? "") in compose.volumes, volume);
    for (const config of configs) {
      assert.ok((typeof config === "string" ? config : config.source) in compose.configs, name);
    }
    const others = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
    for (const other of others) assert.ok(other in compose.services, other);
  }
});

test("shell scripts in compose.yaml are well-formed", () => {
  const scripts = Object.values(compose.configs).filter(({ content }) => content.startsWith("#!"));
  assert.equal(scripts.length, 2);
  for (const { content } of scripts) {
    // Compose replaces what follows a single $.
    assert.doesNotMatch(content.replaceAll("$$", ""), /\$/);
    execFileSync("bash", ["-n"], { input: content.replaceAll("$$", "$") });
  }
});

test("containers use options that `verbatim serve` has, and scripts of package.json", () => {
  const dockerfile = read("Dockerfile");
  const [, command = "[]"] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const commands = [
    JSON.parse(command) as string[],
    ...services.map(([, service]) => service.command ?? []),
  ];
  const used = commands.filter(([first]) => first === "serve").flatMap(flagsIn);
  assert.ok(used.length >= 7);
  assert.deepEqual(
    used.filter((flag) => !flagNames.includes(flag)),
    [],
  );
  const { scripts } = JSON.parse(read("package.json"));
  const named = [...dockerfile.matchAll(/npm run ([\w:]+)/g)].map(([, name = ""]) => name);
  assert.ok(named.length > 0 && named.every((name) => name in scripts));
});

test("the server in the container is not root, and its data is a volume of its own", () => {
  const lines = read("Dockerfile").split("\n");
  const last = lines.findLastIndex((line) => line.startsWith("FROM "));
  const final = lines.slice(last);
  assert.ok(final.includes("USER node"));
  assert.ok(final.includes("VOLUME /data"));
  assert.ok(!final.some((line) => line.startsWith("COPY . ")));
});
