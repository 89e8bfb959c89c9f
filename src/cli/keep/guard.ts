/** `verbatim guard`: keeps copies of every agent's sessions; its actions, and what they print. */

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setFlagsFromString } from "node:v8";
import { requireChoice } from "../../core/base/choice.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { surroundings, userPaths } from "../../core/base/node-paths.ts";
import { isBeingWritten } from "../../core/log/lock.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { guardDirectory, guardedRoots, readGuardedRoot } from "../../dialects/files/guard-store.ts";
import { isSourceGone } from "../../dialects/files/guarded.ts";
import { labelOf, programOf, READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import type { Problem } from "../../guard/check.ts";
import { Guard } from "../../guard/guard.ts";
import { guardedSessions } from "../../guard/guarded-sessions.ts";
import { guardService } from "../../guard/install.ts";
import { GuardSigning } from "../../guard/signatures.ts";
import { unreadDatabaseNotes } from "../../sessions/list/agents.ts";
import { safeText } from "../../sessions/render/text.ts";
import { type Io, type Run, textOption, UsageError } from "../command/command.ts";
import { progressOn } from "../command/interruption.ts";

export async function guardCommand(run: Run): Promise<number> {
  const { options } = run;
  if (options.once === true && options.verify === true) {
    throw new UsageError("choose --once or --verify");
  }
  if (options.to !== undefined && options.verify === true) {
    throw new UsageError("choose --to or --verify");
  }
  if (options.verify === true) return verifyCopies(run);
  return runGuard(run, agentOf(run), options.once === true);
}

function agentOf({ options }: Run): string | undefined {
  return textOption("--agent", options.agent);
}

type Event = Readonly<Record<string, unknown>>;

export async function runGuard(
  run: Run,
  agent: string | undefined,
  once: boolean,
): Promise<number> {
  const { options, io } = run;
  // The first copy of many files would make V8 enlarge its young generation for good (by 32 MB),
  // and collect the rest late.
  for (const flag of ["--semi-space-growth-factor=1", "--optimize-for-size"]) {
    setFlagsFromString(flag);
  }
  const isJson = options.json === true;
  if (agent !== undefined) requireChoice("agent", agent, agentNames());
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  const { emptyDueTrash } = await import("./due-trash.ts");
  await emptyDueTrash(io);
  const unread = await warnOfDatabases(onWarning, agent);
  const signing = options.sign === true ? new GuardSigning(nodeHost, Date.now, onWarning) : null;
  const onEvent = (event: Event) => tell(event, isJson, io);
  const guard = new Guard({ host: nodeHost, agent, signing, onEvent, onWarning });
  const sending = await openSending(run, agent);
  try {
    if (once) {
      const pass = await guard.once();
      if (isJson) io.out(JSON.stringify({ event: "pass", ...pass }));
      else io.out(`${count(pass.sessions, "session")}, ${count(pass.bytes, "byte")} copied`);
      if (pass.unwanted > 0 && !isJson) io.out(unwantedText(pass.unwanted));
      const left = (await sending?.send()) ?? 0;
      await guard.compressCold();
      if (pass.sessions === 0)
        io.err("no sessions were found; `verbatim agents` says where it looks");
      return pass.failed + left + unread > 0 ? 7 : 0;
    }
    const signal = io.interruption();
    if (!isJson) io.out(`copies are kept in ${guardDirectory()}`);
    await Promise.all([guard.follow(signal), sending?.follow(signal)]);
    return 0;
  } finally {
    await guard.close();
    await sending?.close();
  }
}

/** How often copies are looked at to be sent. */
const SEND_MS = 2_000;
/** After a failure of the server. */
const SEND_AGAIN_MS = 30_000;

/** Sends the copies to the server that `--to` names; null: none. */
async function openSending({ options, io }: Run, agent: string | undefined) {
  const to = textOption("--to", options.to);
  if (to === undefined) return null;
  const { openSender, tellLeft } = await import("./send.ts");
  const { GuardCopies } = await import("../../guard/remote/delivery/guard-copies.ts");
  const sender = await openSender(to, io);
  const copies = new GuardCopies(sender, agent);
  const tellProgress = progressOn(io, "sessions delivered");
  let lastNote = "";
  const send = async () => {
    const report = await copies.send((done, total) => tellProgress(null, done, total));
    io.progress(null);
    const { delivered } = report;
    if (delivered > 0 && options.json === true) {
      io.out(JSON.stringify({ event: "delivered", sessions: delivered, as: sender.name }));
    } else if (delivered > 0) {
      io.out(`${count(delivered, "session")} delivered to ${to} as ${sender.name}`);
    }
    const problem = report.left.map((each) => each.problem).join();
    if (problem !== lastNote) tellLeft(report, to, io);
    lastNote = problem;
    return report.left.length;
  };
  return {
    send,
    close: () => sender.close(),
    async follow(signal: AbortSignal) {
      const { clock } = nodeHost;
      while (!signal.aborted) {
        const left = await send();
        await clock.sleep(left > 0 ? SEND_AGAIN_MS : SEND_MS, signal).catch(() => {});
      }
      await send();
    },
  };
}

/** A guard in a process that does something else; says on stderr what happens to sessions. */
export async function guardInside(signal: AbortSignal, io: Io): Promise<void> {
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  const onEvent = (event: Event) => tell(event, false, { out: (line) => io.err(line) });
  await warnOfDatabases(onWarning);
  const guard = new Guard({ host: nodeHost, onEvent, onWarning });
  try {
    await guard.follow(signal);
  } finally {
    await guard.close();
  }
}

/** Names databases whose sessions are not read, and so not guarded; resolves to their number. */
async function warnOfDatabases(warn: (warning: string) => void, agent?: string): Promise<number> {
  const notes = await unreadDatabaseNotes(process.cwd(), agent);
  for (const note of notes) warn(safeText(note));
  return notes.length;
}

function tell(event: Event, isJson: boolean, io: Pick<Io, "out">): void {
  if (isJson) {
    io.out(JSON.stringify(event));
    return;
  }
  const { agent, id, generation, lost } = event;
  const label = labelOf(String(agent)) ?? agent;
  if (event.event === "source_deleted") io.out(`${id}: deleted by ${label}, kept here`);
  if (event.event === "source_back") io.out(`${id}: is there again`);
  if (event.event === "source_rewritten") {
    const what = typeof lost === "number" ? `${count(lost, "line")} lost there` : "changed";
    io.out(`${id}: rewritten by ${label}, ${what}; generation ${generation} is kept here`);
  }
}

function unwantedText(number: number): string {
  return `${count(number, "session")} not copied: removed with \`verbatim rm\``;
}

const NOTHING_GUARDED = "nothing is guarded yet: `verbatim guard --once` copies what is there";

export async function printStatus({ options, io }: Run): Promise<number> {
  await loadDialects();
  const roots = guardedRoots().flatMap((each) => readGuardedRoot(each) ?? []);
  for (const root of roots) {
    const sessions = [...root.sessions.values()];
    const dialect = dialectNamed(root.agent);
    const gone = sessions.filter((record) => isSourceGone(root, record, dialect)).length;
    const rewritten = sessions.filter(({ losses }) => losses.length > 0).length;
    const running = await isGuarded(root.directory);
    const { agent, source } = root;
    const removed = root.removed.size;
    const counts = { sessions: sessions.length, gone, rewritten, removed };
    const facts = { agent, root: source, ...counts, running };
    if (options.json === true) {
      io.out(JSON.stringify(facts));
      continue;
    }
    io.out(
      `${dialect.program?.label ?? agent} in ${source}: ` +
        `${count(sessions.length, "session")} kept, ${gone} only here, ${rewritten} rewritten` +
        `${removed > 0 ? `, ${removed} removed` : ""}; ` +
        `${running ? "a guard is running" : "no guard is running"}`,
    );
  }
  if (roots.length === 0) io.err(NOTHING_GUARDED);
  await warnOfDatabases((warning) => io.err(`warning: ${warning}`));
  return 0;
}

/** Whether a guard holds the journal's lock. */
async function isGuarded(directory: string): Promise<boolean> {
  const place = await nodeHost.files.openDirectory(directory, { create: false });
  try {
    return isBeingWritten(place, "journal.jsonl");
  } finally {
    place.close();
  }
}

export async function verifyCopies({ options, io }: Run): Promise<number> {
  const { checkGuardedSession, checkSources, readPins } = await import("../../guard/check.ts");
  io.goOnUnread();
  const pins = await readPins(nodeHost);
  let [generations, verified, problems] = [0, 0, 0];
  const tellProblem = (problem: Problem) => {
    problems++;
    const { id, generation } = problem;
    const which = generation === 0 ? id : `${id}, generation ${generation}`;
    if (options.json === true) io.out(JSON.stringify(problem));
    else io.out(`${which}: ${problem.problem}`);
  };
  for (const each of guardedSessions()) {
    const checked = await checkGuardedSession(nodeHost, each, pins);
    generations += checked.generations;
    verified += checked.verified;
    checked.problems.forEach(tellProblem);
  }
  for await (const problem of checkSources(nodeHost)) tellProblem(problem);
  const counts = { generations, signed: verified, problems };
  const isEmpty = generations + problems === 0;
  if (isEmpty) io.err(NOTHING_GUARDED);
  if (options.json === true) io.out(JSON.stringify(counts));
  else {
    io.out(
      `${count(generations, "generation")} read, ${verified} signed and verified, ` +
        `${count(problems, "problem")}`,
    );
  }
  // A script that relies on the copies must not take none for sound ones.
  return problems > 0 || isEmpty ? 1 : 0;
}

export async function install({ options, io }: Run): Promise<number> {
  const service = ownService(options.sign === true);
  mkdirSync(dirname(service.path), { recursive: true });
  writeFileSync(service.path, service.text);
  io.out(`wrote ${service.path}`);
  return runService(service.start, io);
}

export async function uninstall({ io }: Run): Promise<number> {
  const service = ownService(false);
  const code = runService(service.stop, io);
  rmSync(service.path, { force: true });
  io.out(`removed ${service.path}; the copies stay in ${guardDirectory()}`);
  return code;
}

function ownService(isSigned: boolean) {
  const command = [process.execPath, process.argv[1] ?? "verbatim", "guard"];
  const { home } = surroundings();
  const configDirectory = dirname(dirname(userPaths().configPath));
  const words = isSigned ? [...command, "--sign"] : command;
  return guardService({ platform: process.platform, home, configDirectory, command: words });
}

function runService([program = "", ...args]: readonly string[], io: Io): number {
  const { status, error } = spawnSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status === 0) return 0;
  const why = error ? error.message : `it ended with ${status}`;
  io.err(`\`${[program, ...args].join(" ")}\` failed: ${why}; run it yourself`);
  return 7;
}

function agentNames(): string[] {
  return READ_DIALECT_NAMES.filter((name) => programOf(name) !== null);
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
