/** Served: the server of a checkout on sessions in a home directory, as its command starts it. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

/** Kills the servers when the bench ends. */
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export interface Served {
  readonly url: string;
  /** What proves to the server that the link was opened: name and value. */
  readonly cookie: { readonly name: string; readonly value: string };
  /** The id of each session in the API, by its name. */
  readonly ids: ReadonlyMap<string, string>;
  /** The processor time of its process so far, with all threads: Linux counts in 10 ms. */
  processorMs(): number;
  stop(): Promise<void>;
}

/** Starts the server of a built checkout; ready when it has listed all sessions of the home. */
export async function serve(checkout: string, home: string, kept: string): Promise<Served> {
  const cwd = join(home, "empty");
  mkdirSync(cwd, { recursive: true });
  const places = Object.fromEntries(
    ["DATA", "CACHE", "STATE", "CONFIG"].map((name) => [`XDG_${name}_HOME`, join(kept, name)]),
  );
  const command = [join(checkout, "dist", "cli", "main.js"), "serve", "--port", "0"];
  const env = { PATH: process.env.PATH ?? "", HOME: home, ...places };
  const child = spawn(process.execPath, command, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  const stop = async () => {
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    running.delete(child);
  };
  const link = await printedLink(child);
  const { origin: url } = new URL(link);
  const cookie = await cookieOf(link);
  const processorMs = () => {
    const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(")"))
      .split(" ")
      .slice(12)
      .map(Number);
    return 10 * (user + system);
  };
  return { url, cookie, ids: await listAll(url, cookie), processorMs, stop };
}

/** The JSON of an answer. */
export async function get({ url, cookie }: Served, path: string): Promise<unknown> {
  const headers = { cookie: `${cookie.name}=${cookie.value}` };
  const answer = await fetch(`${url}${path}`, { headers });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function printedLink(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    const [link] = /http:\S+\/open\?\S+/.exec(line) ?? [];
    if (link === undefined) continue;
    child.stdout?.resume();
    return link;
  }
  throw new Error("the server did not start");
}

async function cookieOf(link: string): Promise<Served["cookie"]> {
  const { headers } = await fetch(link, { redirect: "manual" });
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(headers.getSetCookie()[0] ?? "") ?? [];
  if (name === undefined || value === undefined) throw new Error("the link set no cookie");
  return { name, value };
}

interface Listed {
  readonly isComplete: boolean;
  readonly sessions: readonly { readonly id: string; readonly session: string }[];
}

async function listAll(url: string, { name, value }: Served["cookie"]): Promise<Served["ids"]> {
  for (;;) {
    const answer = await fetch(`${url}/v1/sessions?limit=200`, {
      headers: { cookie: `${name}=${value}` },
    });
    if (!answer.ok) throw new Error(`/v1/sessions: ${answer.status} ${await answer.text()}`);
    const { isComplete, sessions } = (await answer.json()) as Listed;
    if (isComplete) return new Map(sessions.map(({ id, session }) => [session, id]));
    await sleep(100);
  }
}
