/**
 * Resumable: the messages of the next request of a long signed session, against resuming it, and
 * against a bare loop that parses the two new lines and adds two objects to a list.
 */

import { join } from "node:path";
import { say } from "../measure/frame.ts";
import { compared, type Result } from "../measure/result.ts";
import { openResumable, openStore, resume } from "./built.ts";

const FOR = { for: "anthropic" } as const;
/** Calls of one run: each comes after an append of two entries. */
const CALLS = 50;

interface Subject {
  readonly dialect: "verbatim" | "claude";
  readonly entries: number;
}

const SUBJECTS: readonly Subject[] = [
  { dialect: "verbatim", entries: 2_001 },
  { dialect: "verbatim", entries: 20_000 },
  { dialect: "claude", entries: 2_001 },
  { dialect: "claude", entries: 20_000 },
];

function said(role: "user" | "assistant", text: string) {
  return { kind: "message", role, parts: [{ type: "text", text }] } as const;
}

export async function measureResumable(directory: string, runs: number): Promise<Result[]> {
  // Its own key and pins, not the user's.
  for (const kind of ["CONFIG", "STATE", "CACHE"]) {
    process.env[`XDG_${kind}_HOME`] = join(directory, kind.toLowerCase());
  }
  const results: Result[] = [];
  for (const subject of SUBJECTS) {
    const root = join(directory, `${subject.dialect}-${subject.entries}`);
    results.push(...(await measureSubject(root, subject, runs)));
  }
  return results;
}

async function measureSubject(root: string, subject: Subject, runs: number): Promise<Result[]> {
  const { dialect, entries } = subject;
  const name = `messages of the next request, ${dialect}, ${entries} signed entries`;
  say(name);
  const id = dialect === "claude" ? "bench/3f2a8c1e-7b54-4e0d-9a61-0c5d8e2f4b17" : "long";
  const options = { root, dialect, sign: true, durability: "os" } as const;
  const before = await openStore(options);
  const session = await before.create({ id });
  for (let n = 0; n < entries; n += 100) {
    const count = Math.min(100, entries - n);
    const batch = Array.from({ length: count }, (_, at) => {
      return at % 2 === 0 ? said("user", `question ${n + at}`) : said("assistant", "yes");
    });
    await session.appendAll(batch);
  }
  await before.close();
  const resumed: number[] = [];
  for (let run = 0; run < runs; run++) {
    resumed.push(await cpuMsOf(() => resume(id, { ...FOR, root, dialect })));
  }
  const store = await openStore(options);
  const chat = await openResumable(store, id, FOR);
  await chat.resume(); // Gathers all lines.
  const calls: number[] = [];
  for (let run = 0; run < runs; run++) {
    let sumMs = 0;
    for (let call = 0; call < CALLS; call++) {
      await chat.session.appendAll([said("user", `more ${run}`), said("assistant", "yes")]);
      sumMs += await cpuMsOf(() => chat.resume());
    }
    calls.push(sumMs / CALLS);
  }
  await store.close();
  const bare = Array.from({ length: runs }, () => bareMs());
  return [
    compared(`${name}, processor time against resume()`, calls, resumed, "ms", { atMost: 0.2 }),
    compared(`${name}, against a bare loop`, calls, bare, "ms", null),
  ];
}

/** Parses the two new lines and adds two objects to a list, as often as a run makes calls. */
function bareMs(): number {
  const lines = [said("user", "more 1"), said("assistant", "yes")].map((entry) => {
    return JSON.stringify({ type: "entry", at: "2026-11-16T10:00:00.000Z", entry });
  });
  const messages: unknown[] = [];
  const rounds = CALLS * 100; // More than a call takes is needed to see it in processor time.
  const began = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    for (const line of lines) {
      const { role, parts } = JSON.parse(line).entry;
      messages.push({ role, content: parts });
    }
  }
  return cpuMsSince(began) / rounds;
}

async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const began = process.cpuUsage();
  await work();
  return cpuMsSince(began);
}

function cpuMsSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}
