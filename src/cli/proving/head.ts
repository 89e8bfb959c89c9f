/**
 * `verbatim head`: manages pinned heads of signed sessions; and of signed streams, if `--root` is a
 * server's data directory.
 */

import { type CliCommand, type CommandGroup, type Run, UsageError } from "../../command/command.ts";
import { type Column, printList } from "../../command/table.ts";
import type { Pin } from "../../proof/pin.ts";
import type { Pinned } from "../../proof/pins.ts";
import type { Heads } from "../../signing/heads/heads.ts";
import { EXIT_DECLINED, isAgreed, YES_OPTION } from "../question.ts";
import { SESSION_ARGUMENT, WHERE_OPTIONS, whereOf } from "../reading/reading.ts";
import { publishHead, timestampHead, witnessHead } from "./head-witness.ts";

const EXIT_ROLLBACK = 6;
const EXIT_CONFLICT = 1;

const show: CliCommand = {
  name: "show",
  summary: "Show the pinned heads of all sessions or of one",
  args: [{ name: "[session]", summary: "an id, or the beginning of one; it may be gone" }],
  options: [{ flags: "--json", summary: "print one JSON object per head" }, ...WHERE_OPTIONS],
  examples: [
    "verbatim head show",
    "verbatim head show hello_world-1739012630 --json",
    "verbatim head show --json | jq 'select(.why == \"accepted\")'",
  ],

  async run(run) {
    const { args, options, io } = run;
    const { pinsNamed, pinsWithin } = await import("./pinned.ts");
    const { nodeHost } = await import("../../base/node-host.ts");
    const all = await currentPins(run, await openHeads(run));
    const name = args[0];
    const pinned =
      name === undefined
        ? await pinsWithin(nodeHost, all, whereOf(options))
        : await pinsNamed(nodeHost, all, mustBeNamed(name), whereOf(options));
    await printList(run, pinned, { json: jsonOf, columns: COLUMNS, row: ({ pin }) => rowOf(pin) });
    if (pinned.length === 0) io.err("no head is pinned");
    return 0;
  },
};

const pin: CliCommand = {
  name: "pin",
  summary: "Verify a session and pin its head",
  args: [SESSION_ARGUMENT],
  options: [...WHERE_OPTIONS],
  examples: ["verbatim head pin hello_world-1739012630"],

  async run(run) {
    const { readNamedHead, describeLosses } = await import("./signed-head.ts");
    const read = await readNamedHead(mustBeNamed(run.args[0] ?? ""), run);
    if (typeof read === "number") return read;
    const { head } = read;
    const losses = describeLosses(read);
    if (losses.length > 0) {
      for (const loss of losses) run.io.err(loss);
      run.io.err("it is not pinned; `verbatim head accept` accepts the loss");
      return EXIT_ROLLBACK;
    }
    const heads = await openHeads(run);
    await heads.pinNow([head]);
    run.io.out(`pinned ${head.id} at checkpoint ${head.seq}`);
    return 0;
  },
};

const exportHeads: CliCommand = {
  name: "export",
  summary: "Print the pinned heads, for another machine to import or to verify against",
  args: [{ name: "[file]", summary: "file to write (mode 0600); - is stdout (default)" }],
  options: [...WHERE_OPTIONS],
  examples: ["verbatim head export --root . pins.jsonl", "verbatim head export > pins.jsonl"],

  async run(run) {
    const [file = "-"] = run.args;
    const { exportLines } = await import("../../signing/heads/head-export.ts");
    const heads = await openHeads(run);
    const { isWithin } = await import("./pinned.ts");
    const { nodeHost } = await import("../../base/node-host.ts");
    const isAsked = await isWithin(nodeHost, whereOf(run.options));
    const lines = exportLines(await readBook(run, heads), isAsked);
    if (file === "-") {
      for (const line of lines) await run.io.print(line);
      return 0;
    }
    const { writeWhole } = await import("../output-file.ts");
    await writeWhole(mustBeNamed(file), eachOf(lines), heads.path);
    return 0;
  },
};

const importHeads: CliCommand = {
  name: "import",
  summary: "Add heads that another machine pinned; removes none, and reports conflicts",
  args: [{ name: "<file>", summary: "file that `head export` wrote there" }],
  options: [],
  examples: ["verbatim head import pins.jsonl"],

  async run(run) {
    const { readPinFile } = await import("../../signing/heads/head-export.ts");
    const { nodeHost } = await import("../../base/node-host.ts");
    const pins = await readPinFile(nodeHost, mustBeNamed(run.args[0] ?? ""));
    const heads = await openHeads(run);
    await readBook(run, heads); // For reporting unreadable files of ours.
    const { describeConflict } = await import("../../signing/heads/head-merge.ts");
    const { added, known, conflicts } = await heads.import(pins);
    for (const conflict of conflicts) run.io.err(describeConflict(conflict));
    run.io.out(`added ${added.length}, known ${known}, conflicts ${conflicts.length}`);
    return conflicts.length > 0 ? EXIT_CONFLICT : 0;
  },
};

const accept: CliCommand = {
  name: "accept",
  summary: "Accept sessions that were rolled back: shows what is lost, asks, pins their heads",
  args: [{ ...SESSION_ARGUMENT, name: "<session...>" }],
  options: [YES_OPTION, ...WHERE_OPTIONS],
  examples: [
    "verbatim head accept hello_world-1739012630",
    "verbatim head accept /chat/1 /chat/2 --root /var/lib/verbatim",
  ],

  async run(run) {
    const heads = await openHeads(run);
    for (const name of run.args.map(mustBeNamed)) {
      const code = await acceptOne(name, run, heads);
      if (code !== 0) return code;
    }
    return 0;
  },
};

async function acceptOne(name: string, run: Run, heads: Heads): Promise<number> {
  const { readNamedHead, describeLosses, giveUpSurplus } = await import("./signed-head.ts");
  const read = await readNamedHead(name, run);
  if (typeof read === "number") return read;
  const { head, loss, surplus, otherPlaces } = read;
  const losses = describeLosses(read);
  if (losses.length === 0) {
    run.io.err(`nothing of ${head.id} is known to be lost; there is nothing to accept`);
    return 0;
  }
  for (const each of losses) run.io.err(each);
  const question = `give that up, and pin checkpoint ${head.seq} of ${head.ts}?`;
  if (!(await isAgreed(run, question))) return EXIT_DECLINED;
  if (surplus) {
    const keptAt = await giveUpSurplus(name, run, head);
    run.io.err(`the checkpoints of what is lost are kept in ${keptAt}`);
  }
  await (loss ? heads.accept(head) : heads.pinNow([head]));
  // Otherwise pins under another name of the store would report the loss again and again.
  for (const place of loss ? otherPlaces : []) await heads.accept({ ...head, place });
  run.io.out(`accepted ${head.id} at checkpoint ${head.seq}`);
  const { giveUpWitnessed } = await import("./witnessing.ts");
  await giveUpWitnessed(run, new Set([head.log, loss?.pin.log ?? head.log]));
  return 0;
}

const forget: CliCommand = {
  name: "forget",
  summary: "Unpin a session that was deleted on purpose",
  args: [{ name: "<session>", summary: "an id, or the beginning of one; it may be gone" }],
  options: [...WHERE_OPTIONS],
  examples: ["verbatim head forget hello_world-1739012630"],

  async run(run) {
    const { pinsOfOneNamed } = await import("./pinned.ts");
    const { nodeHost } = await import("../../base/node-host.ts");
    const heads = await openHeads(run);
    const all = await currentPins(run, heads);
    const name = mustBeNamed(run.args[0] ?? "");
    for (const { pin } of await pinsOfOneNamed(nodeHost, all, name, whereOf(run.options))) {
      const forgotten = await heads.forget(pin);
      if (forgotten) run.io.out(`forgot ${forgotten.id} (${forgotten.place})`);
    }
    return 0;
  },
};

export const head: CommandGroup = {
  name: "head",
  summary: "Manage pinned heads (rollback protection)",
  commands: [
    ...[show, pin, exportHeads, importHeads, accept, forget],
    ...[witnessHead, timestampHead, publishHead],
  ],
};

/** Not loaded to print help (C1). */
async function openHeads({ io }: Run): Promise<Heads> {
  const { Heads } = await import("../../signing/heads/heads.ts");
  const { userPaths } = await import("../../base/node-paths.ts");
  const { nodeHost } = await import("../../base/node-host.ts");
  const { stateDirectory } = userPaths();
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  return new Heads({ host: nodeHost, stateDirectory, onWarning });
}

async function readBook({ io }: Run, heads: Heads) {
  const { found, problem } = await heads.read();
  if (problem !== null) io.err(`warning: ${problem}`);
  return found;
}

async function currentPins(run: Run, heads: Heads): Promise<Pinned[]> {
  return (await readBook(run, heads)).current();
}

function mustBeNamed(name: string): string {
  if (name === "") throw new UsageError("the name given is empty");
  return name;
}

/** The fields of the pin's line, and what was given up for an accepted one. */
function jsonOf({ pin, lost }: Pinned) {
  const { byteOffset, place, id, log, seq, line, kind, kid, ts, why } = pin;
  const fields = { place, id, log, seq, byte_offset: byteOffset, line, kind, kid, ts, why };
  return { ...fields, lost: lost && { log: lost.log, seq: lost.seq, line: lost.line } };
}

const COLUMNS: readonly Column[] = [
  { heading: "ID", widthMin: 16 },
  { heading: "PLACE", widthMin: 8 },
  { heading: "CHECKPOINT", align: "right" },
  { heading: "BYTES", align: "right" },
  { heading: "KIND" },
  { heading: "SIGNED" },
  { heading: "WHY" },
];

function rowOf({ id, place, seq, byteOffset, kind, ts, why }: Pin): string[] {
  return [id, place, String(seq), String(byteOffset), kind, ts, why];
}

async function* eachOf(lines: Iterable<string>): AsyncGenerator<string> {
  yield* lines;
}
