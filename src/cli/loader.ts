#!/usr/bin/env node
/**
 * Loader: loads the files of `verbatim`, with the code that V8 compiled for them earlier.
 *
 * Compiling is half of what a short command takes, and Node 20 can store compiled code only for
 * scripts. So these files are scripts (scripts/bundle-cli.mjs), and loaded here. Compiled code is kept
 * next to them, like Python's `__pycache__`: who may write there may change the files themselves. If
 * the directory is not writable, each command compiles what it needs.
 *
 * KC1  Damaged code never runs. V8 checks its own version, its options and the length, but no content,
 *      so a file has the code twice and both must be equal. Computing a checksum would take longer:
 *      Node first loads a module for it. A file is complete on disk before it gets its name.
 */

import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire, Module, wrap } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { refuseNode, runsOn } from "./node-version.ts";

type Wrapped = (
  exports: object,
  require: (name: string) => unknown,
  module: Module,
  path: string,
  directory: string,
) => void;

const directory = fileURLToPath(new URL(".", import.meta.url));
/** Kept code has the functions that the first command used, so these short ones have their own. */
const command = ["ls", "search"].find((name) => name === process.argv[2]);
const version = [process.version, process.arch, ...(command ? [command] : [])].join("-");
const cacheDirectory = join(directory, "compiled", version);
const requireOther = createRequire(import.meta.url);
/** Modules of Node that take milliseconds to load, and that most commands need late or never. */
const LATE = ["node:child_process", "node:crypto", "node:zlib"];
const compiledNow: { readonly script: Script; readonly path: string }[] = [];

/** What a file of the command line exports. */
function load(name: string): object {
  const path = join(directory, name);
  const cachedModule = requireOther.cache[path];
  if (cachedModule) return cachedModule.exports;
  const module = new Module(path);
  requireOther.cache[path] = module;
  const script = compile(wrap(readFileSync(path, "utf8")), path, join(cacheDirectory, name));
  const require = (file: string) => {
    if (file.startsWith("./")) return load(file.slice(2));
    return LATE.includes(file) ? loadedLate(file) : requireOther(file);
  };
  const run: Wrapped = script.runInThisContext();
  run.call(module.exports, module.exports, require, module, path, directory);
  return module.exports;
}

/** A placeholder of a module, which is loaded when one of its exports is used. */
function loadedLate(name: string): object {
  return new Proxy(
    {},
    {
      get: (_, key) => Reflect.get(requireOther(name), key),
      ownKeys: () => Reflect.ownKeys(requireOther(name)), // `await import(…)` copies each export.
    },
  );
}

function compile(source: string, filename: string, keptPath: string): Script {
  const cachedData = readKept(keptPath);
  const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
  // Not if V8 rejected it: other options of Node would replace it at each turn.
  if (!cachedData) compiledNow.push({ script, path: keptPath });
  return script;
}

function readKept(path: string): Buffer | undefined {
  try {
    const twice = readFileSync(path);
    const code = twice.subarray(0, twice.length / 2);
    const isWhole = code.length > 0 && code.equals(twice.subarray(code.length)); // KC1
    return isWhole ? code : undefined;
  } catch {
    return undefined; // It is compiled instead.
  }
}

/** After the command, so that it contains the functions which the command used. */
function keepCompiled(): void {
  if (compiledNow.length === 0) return;
  try {
    mkdirSync(cacheDirectory, { recursive: true });
    for (const { script, path } of compiledNow) keep(script.createCachedData(), path);
  } catch {
    // The directory is not ours, or the disk is full: the next command compiles too.
  }
}

function keep(code: Buffer, path: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const file = openSync(temporary, "wx");
  try {
    writeFileSync(file, Buffer.concat([code, code]));
    fsyncSync(file);
    renameSync(temporary, path); // KC1
  } catch (cause) {
    rmSync(temporary);
    throw cause;
  } finally {
    closeSync(file);
  }
}

process.once("exit", (code) => {
  if (code === 0) keepCompiled();
});

if (runsOn(process.versions.node)) load("entry.js");
else process.exitCode = refuseNode(process.versions.node, process.argv.slice(2));
