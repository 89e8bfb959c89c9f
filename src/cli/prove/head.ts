/**
 * `verbatim keys head`: manages pinned heads of signed sessions; and of signed streams, if `--root` is a
 * server's data directory.
 */

import type { Heads } from "../../trust/heads/heads.ts";
import type { Pin } from "../../trust/proof/pin.ts";
import type { SessionPin } from "../../trust/proof/pins.ts";
import {
  type CliCommand,
  type CommandGroup,
  type Run,
  textOption,
  UsageError,
} from "../command/command.ts";
import { SESSION_ARGUMENT, WHERE_OPTIONS, whereOf, YES_OPTION } from "../command/options.ts";
import { EXIT_DECLINED, isAgreed } from "../command/question.ts";
import { printList, type TableColumn } from "../command/table.ts";

const EXIT_ROLLBACK = 6;
const EXIT_CONFLICT = 1;

const show: CliCommand = {
  name: "show",
  summary: "Show the pinned heads of all sessions or of one",
  args: [{ name: "[session]", summary: "an id, or the beginning of one; it may be gone" }],
  options: [{ flags: "--json", summary: "print one JSON object per head" }, ...WHERE_OPTIONS],
  examples: [
    "verbatim keys head show",
    "verbatim keys head show hello_world-1739012630 --json",
    "verbatim keys head show --json | jq 'select(.why == \"accepted\")'",
  ],

  async run(run) {
    const { args, options, io } = run;
    const { findPins, pinsWithin } = await import("./pinned.ts");
    const { nodeHost } = await import("../../core/base/node-host.ts");
    const all = await currentPins(run, await openHeads(run));
    const name = args[0];
    const pinned =
      name === undefined
        ? await pinsWithin(nodeHost, all, whereOf(options))
        : await findPins(nodeHost, all, mustBeNamed(name), whereOf(options));
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
  examples: ["verbatim keys head pin hello_world-1739012630"],

  async run(run) {
    const { readNamedHead, describeLosses } = await import("./signed-head.ts");
    const read = await readNamedHead(mustBeNamed(run.args[0] ?? ""), run);
    if (typeof read === "number") return read;
    const { head } = read;
    const losses = describeLosses(read);
    if (losses.length > 0) {
      for (const loss of losses) run.io.err(loss);
      run.io.err("it is not pinned; `verbatim keys head accept` accepts the loss");
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
  examples: [
    "verbatim keys head export --root . pins.jsonl",
    "verbatim keys head export > pins.jsonl",
  ],

  async run(run) {
    const [file = "-"] = run.args;
    const { exportLines } = await import("../../trust/heads/head-export.ts");
    const heads = await openHeads(run);
    const { isWithin } = await import("./pinned.ts");
    const { nodeHost } = await import("../../core/base/node-host.ts");
    const isAsked = await isWithin(nodeHost, whereOf(run.options));
    const lines = exportLines(await readBook(run, heads), isAsked);
    if (file === "-") {
      for (const line of lines) await run.io.print(line);
      return 0;
    }
    const { writeOutput } = await import("../command/output-file.ts");
    await writeOutput(mustBeNamed(file), eachOf(lines), [heads.path]);
    return 0;
  },
};

const importHeads: CliCommand = {
  name: "import",
  summary: "Add heads that another machine pinned; removes none, and reports conflicts",
  args: [{ name: "<file>", summary: "file that `keys head export` wrote there" }],
  options: [],
  examples: ["verbatim keys head import pins.jsonl"],

  async run(run) {
    const { readPinFile } = await import("../../trust/heads/head-export.ts");
    const { nodeHost } = await import("../../core/base/node-host.ts");
    const pins = await readPinFile(nodeHost, mustBeNamed(run.args[0] ?? ""));
    const heads = await openHeads(run);
    await readBook(run, heads); // For reporting unreadable files of ours.
    const { describeConflict } = await import("../../trust/heads/head-merge.ts");
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
    "verbatim keys head accept hello_world-1739012630",
    "verbatim keys head accept /chat/1 /chat/2 --root /var/lib/verbatim",
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
  const { giveUpWitnessed } = await import("./run-witness.ts");
  await giveUpWitnessed(run, new Set([head.log, loss?.pin.log ?? head.log]));
  return 0;
}

const forget: CliCommand = {
  name: "forget",
  summary: "Unpin a session that was deleted on purpose",
  args: [{ name: "<session>", summary: "an id, or the beginning of one; it may be gone" }],
  options: [...WHERE_OPTIONS],
  examples: ["verbatim keys head forget hello_world-1739012630"],

  async run(run) {
    const { findSessionPins } = await import("./pinned.ts");
    const { nodeHost } = await import("../../core/base/node-host.ts");
    const heads = await openHeads(run);
    const all = await currentPins(run, heads);
    const name = mustBeNamed(run.args[0] ?? "");
    for (const { pin } of await findSessionPins(nodeHost, all, name, whereOf(run.options))) {
      const forgotten = await heads.forget(pin);
      if (forgotten) run.io.out(`forgot ${forgotten.id} (${forgotten.place})`);
    }
    return 0;
  },
};

const witnessHead: CliCommand = {
  name: "witness",
  summary: "Send the head of a session to a witness, and keep its cosignature",
  args: [SESSION_ARGUMENT],
  options: [
    { flags: "--to <witness>", summary: "its URL, or the name of one in your list" },
    {
      flags: "--witness-key <key>",
      summary: "with a URL: the key that its operator gave you, name+id+key; added to your list",
    },
    {
      flags: "--as <name>",
      summary: "your name in the log's origin, such as ada.example; default: as last time",
    },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim keys head witness hello_world-1739012630 --to https://witness.example/witness \\\\\n" +
      "    --witness-key witness.example/w1+2c1f…+BH8… --as ada.example",
    "verbatim keys head witness last --to witness.example/w1",
  ],

  async run(run) {
    const to = textOption("--to", run.options.to);
    if (to === undefined) throw new UsageError("give --to and the URL or the name of a witness");
    const { sendToWitness } = await import("./run-witness.ts");
    return sendToWitness(run, to);
  },
};

const timestampHead: CliCommand = {
  name: "timestamp",
  summary: "Get a time stamp (RFC 3161) of a session's head, by openssl, and keep it",
  args: [SESSION_ARGUMENT],
  options: [{ flags: "--tsa <url>", summary: "the time stamping authority" }, ...WHERE_OPTIONS],
  examples: ["verbatim keys head timestamp last --tsa https://tsa.example/tsr"],

  async run(run) {
    const url = textOption("--tsa", run.options.tsa);
    if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw new UsageError("give --tsa and the URL of an authority: https://…");
    }
    const { stampHead } = await import("./run-witness.ts");
    return stampHead(run, url);
  },
};

export const head: CommandGroup = {
  name: "head",
  summary: "Manage pinned heads (rollback protection)",
  commands: [show, pin, exportHeads, importHeads, accept, forget, witnessHead, timestampHead],
};

/** Not loaded to print help (C1). */
async function openHeads({ io }: Run): Promise<Heads> {
  const { Heads } = await import("../../trust/heads/heads.ts");
  const { userPaths } = await import("../../core/base/node-paths.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { stateDirectory } = userPaths();
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  return new Heads({ host: nodeHost, stateDirectory, onWarning });
}

async function readBook({ io }: Run, heads: Heads) {
  const { found, problem } = await heads.read();
  if (problem !== null) io.err(`warning: ${problem}`);
  return found;
}

async function currentPins(run: Run, heads: Heads): Promise<SessionPin[]> {
  return (await readBook(run, heads)).current();
}

function mustBeNamed(name: string): string {
  if (name === "") throw new UsageError("the name given is empty");
  return name;
}

/** The fields of the pin's line, and what was given up for an accepted one. */
function jsonOf({ pin, lost }: SessionPin) {
  const { byteOffset, place, id, log, seq, line, kind, kid, ts, why } = pin;
  const fields = { place, id, log, seq, byte_offset: byteOffset, line, kind, kid, ts, why };
  return { ...fields, lost: lost && { log: lost.log, seq: lost.seq, line: lost.line } };
}

const COLUMNS: readonly TableColumn[] = [
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
