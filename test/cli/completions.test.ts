/**
 * Completions as a person uses them: the script that the command prints, in the real shell. Tests
 * of a shell that is not installed are skipped with a message.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { hasProgram } from "../support/packages.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { CliUser, main } from "./cli.ts";
import { putThread } from "./stores.ts";

type Shell = "bash" | "zsh" | "fish";

const SHELLS: readonly Shell[] = ["bash", "zsh", "fish"];

/** Prints what bash offers for the given words; the last one is at the cursor. */
const BASH = `
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_verbatim
printf '%s\\n' "\${COMPREPLY[@]}"`;

/** The same for fish, which takes a line. */
const FISH = `
source $argv[1]
complete -C $argv[2]`;

/**
 * zsh completes only typed input: so the line is typed at its own terminal, and the script prints
 * what zsh adds. The match is really added, because without a match zsh would search further.
 */
const ZSH = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; autoload -Uz compinit; compinit -D -u; source $1"
zpty -w shell 'zstyle ":completion:*" insert-tab false
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits; builtin compadd -A hits "$@"; print -rl -- "" "hit:"$^hits
  builtin compadd "$@"
}
complete-once() { zle complete-word; print -r -- "" END; exit }
zle -N complete-once; bindkey "^I" complete-once; print BEGIN'
while zpty -r shell line; do [[ $line == BEGIN* ]] && break; done
zpty -w -n shell "$2"$'\\t'
while zpty -r shell line; do
  print -r -- "\${line%%$'\\r'*}"
  [[ $line == END* ]] && break
done`;

/** What a command prints, run once for all tests. */
const printed = new Map<string, Promise<string>>();

function outputOf(...args: string[]): Promise<string> {
  const run = async () => {
    const { code, stdout } = await new CliUser().run(args);
    assert.equal(code, 0);
    return stdout;
  };
  const known = printed.get(args.join(" ")) ?? run();
  printed.set(args.join(" "), known);
  return known;
}

/** What the shell offers after a line, in a directory with files that it may offer. */
async function offeredBy(
  shell: Shell,
  line: string,
  directory = tempDirectory(),
): Promise<string[]> {
  const script = join(tempDirectory(), "script");
  writeFileSync(script, await outputOf("completions", shell));
  const args = {
    bash: ["--norc", "-c", BASH, "bash", script, ...line.split(" ")],
    fish: ["--no-config", "-c", FISH, script, line],
    zsh: ["-f", "-c", ZSH, "zsh", script, line],
  };
  const bin = tempDirectory();
  const verbatim = `#!/bin/sh\nexec '${process.execPath}' ${main.map((each) => `'${each}'`)} "$@"\n`;
  writeFileSync(join(bin, "verbatim"), verbatim, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: directory, TERM: "xterm" };
  const ran = spawnSync(shell, args[shell], { cwd: directory, env, encoding: "utf8" });
  assert.equal(ran.stderr, "");
  const lines = ran.stdout.split("\n").filter((each) => each !== "");
  const words =
    shell === "zsh"
      ? lines.filter((each) => each.startsWith("hit:")).map((each) => each.slice(4))
      : lines.map((each) => each.split("\t")[0] ?? "");
  return [...new Set(words)].sort();
}

/** What the help of a command lists: its commands in all groups, or its own and the shared options. */
async function listed(names: string, what: "commands" | "options"): Promise<string[]> {
  const help = await outputOf(...names.split(" ").filter(Boolean), "--help");
  const lines = help.split("Examples:")[0]?.split("\n") ?? [];
  const found = lines.flatMap((line) => {
    if (what === "commands") return /^ {2}([a-z]+) {2,}\S/.exec(line)?.[1] ?? [];
    return [...line.matchAll(/(?<=^Also: .*|^ {2}(?:-\w, )?)--[a-z][\w-]+/g)].map(([word]) => word);
  });
  return [...new Set(found)].sort();
}

describe.each(SHELLS.filter((shell) => shell === "bash" || hasProgram(shell)))("in %s", (shell) => {
  const offered = (line: string, directory?: string) => offeredBy(shell, line, directory);

  test("every command of the help is offered, and a prefix narrows the list", async () => {
    const all = [...(await listed("", "commands")), "completions"].sort();
    assert.deepEqual(await offered("verbatim "), all);
    assert.deepEqual(await offered("verbatim re"), ["record", "redact", "restore", "resume"]);
    assert.deepEqual(await offered("verbatim keys "), await listed("keys", "commands"));
  });

  test.each(["record", "doctor", "keys import"])(
    "every option that the help of %s lists is offered",
    async (names) => {
      const options = [...(await listed(names, "options")), "--help"].sort();
      assert.deepEqual(await offered(`verbatim ${names} --`), options);
    },
  );

  test("an option's values are offered, and a command's own words", async () => {
    assert.deepEqual(await offered("verbatim record --durability "), ["disk", "os"]);
    assert.deepEqual(await offered("verbatim ls --sort c"), ["cost", "created"]);
    assert.deepEqual(await offered("verbatim keys import --as "), ["current", "retired"]);
    assert.deepEqual(await offered("verbatim completions "), ["bash", "fish", "zsh"]);
    // An optional value, and the options that may follow instead.
    assert.deepEqual(await offered("verbatim record --sign "), ["append", "turn"]);
    assert.deepEqual(await offered("verbatim record --sign --ac"), ["--ack"]);
    // A switch takes no value, and a value is not a command.
    assert.deepEqual(await offered("verbatim ls --json --sort i"), ["id"]);
    assert.deepEqual(await offered("verbatim ls --root show --sort i"), ["id"]);
  });

  test("session ids are offered where a session is expected", async () => {
    const directory = tempDirectory();
    for (const id of ["hello-1", "hello-2", "other-1"]) putThread(directory, id);
    assert.deepEqual(await offered("verbatim show hel", directory), ["hello-1", "hello-2"]);
    assert.deepEqual(await offered("verbatim resume o", directory), ["other-1"]);
  });

  test("paths are offered where a path is expected, and only directories where only a directory is valid", async () => {
    const directory = tempDirectory();
    mkdirSync(join(directory, "a-directory"));
    writeFileSync(join(directory, "a file.jsonl"), "");
    const offeredFor = async (command: string) => {
      const paths = plain(await offered(`verbatim ${command} a`, directory));
      return paths.map((name) => name.replace(/\\/g, "")).sort();
    };
    const plain = (words: readonly string[]) => words.map((word) => word.replace(/\/$/, ""));
    for (const command of ["import", "redact prove"]) {
      assert.deepEqual(await offeredFor(command), ["a file.jsonl", "a-directory"], command);
    }
    assert.deepEqual(plain(await offered("verbatim ls --root ", directory)), ["a-directory"]);
    assert.deepEqual(await offered("verbatim usage --budget ", directory), []);
  });
});

test("bash completes a value that is joined to its option by =", async () => {
  // bash splits such a word into three.
  assert.deepEqual(await offeredBy("bash", "verbatim record --durability = d"), ["disk"]);
  assert.deepEqual(await offeredBy("bash", "verbatim record --durability ="), ["disk", "os"]);
});

test("an unknown shell is wrong usage", async () => {
  const { code, stdout, stderr } = await new CliUser().run(["completions", "tcsh"]);
  assert.equal(code, 2);
  assert.equal(stdout, "");
  assert.match(stderr, /bash, zsh, fish/);
});
