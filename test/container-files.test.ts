/** `Dockerfile` and `compose.yaml`, as far as they can be checked without a container engine. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { parse } from "yaml";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (name: string) => readFileSync(join(root, name), "utf8");
const { scripts, devDependencies } = JSON.parse(read("package.json"));
const dockerfile = read("Dockerfile")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split(" "));
const instructions = (name: string) => dockerfile.filter(([first]) => first === name);

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly configs?: readonly { readonly source: string }[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
}
const compose: {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly configs: object;
} = parse(read("compose.yaml"), { merge: true });
const services = Object.entries(compose.services);

test("each path that the Dockerfile copies exists, and is not ignored", () => {
  const ignored = read(".dockerignore").trim().split("\n");
  const copies = instructions("COPY").filter(([, first]) => !first?.startsWith("--from="));
  const sources = copies.flatMap((words) => words.slice(1, -1));
  assert.ok(sources.includes("src") && sources.includes("package-lock.json"));
  for (const source of sources) {
    assert.ok(existsSync(join(root, source)), source);
    assert.ok(!ignored.includes(source), source);
  }
});

test("stages that the Dockerfile copies from are there, and their paths are made in them", () => {
  const stages = instructions("FROM").map((words) => words[3]);
  for (const [, from = "", path] of instructions("COPY")) {
    if (!from.startsWith("--from=")) continue;
    assert.ok(stages.includes(from.slice("--from=".length)), from);
    assert.ok(["/verbatim/dist", "/verbatim/node_modules"].includes(path ?? ""), path);
  }
});

test("commands of the Dockerfile are those of package.json, and pg has the tested version", () => {
  const text = read("Dockerfile");
  for (const [, name = ""] of text.matchAll(/npm run ([\w:-]+)/g)) assert.ok(scripts[name], name);
  assert.equal(/\bpg@([\d.]+)/.exec(text)?.[1], devDependencies.pg);
  const [entry = []] = instructions("ENTRYPOINT");
  assert.ok(entry.join(" ").includes("/verbatim/dist/cli/main.js"));
  assert.ok(existsSync(join(root, "src/cli/main.ts")));
});

test("the image does not run as root", () => {
  const last = dockerfile.findLastIndex(([first]) => first === "FROM");
  const users = dockerfile.slice(last).filter(([first]) => first === "USER");
  assert.deepEqual(users, [["USER", "node"]]);
});

test("services of compose.yaml refer only to what is there", () => {
  const names = services.map(([name]) => name);
  assert.deepEqual(names, ["one", "two", "primary", "standby", "proxy"]);
  for (const [name, service] of services) {
    assert.ok(service.image !== undefined || service.build === ".", name);
    const { depends_on: needed = [] } = service;
    for (const other of Array.isArray(needed) ? needed : Object.keys(needed)) {
      assert.ok(names.includes(other), `${name} needs ${other}`);
    }
    for (const volume of service.volumes ?? []) {
      assert.ok((volume.split(":")[0] ?? "") in compose.volumes, volume);
    }
    for (const { source } of service.configs ?? []) assert.ok(source in compose.configs, source);
  }
});

test("options of the servers in compose.yaml are those of the command", () => {
  const folder = "src/cli/serving";
  const source = readdirSync(join(root, folder))
    .map((name) => read(join(folder, name)))
    .join("");
  const [first, ...options] = compose.services.one?.command ?? [];
  assert.equal(first, "serve");
  assert.deepEqual(compose.services.two?.command, compose.services.one?.command);
  for (const option of options) {
    const [name = ""] = option.split("=");
    assert.ok(source.includes(`${name} <`) || source.includes(`"${name}"`), name);
  }
});
