/** A person with a server of streams, and the command line. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { CliUser, jsonLines, type Running } from "./cli.ts";

export const JSON_TYPE = { "Content-Type": "application/json" };
const RAW = { "Content-Type": "application/octet-stream" };

/** Where a server that was just started listens. */
export async function urlOf(running: Running): Promise<string> {
  for (;;) {
    const line = await running.line();
    if (line === null) assert.fail(`it ended: ${running.stderr}`);
    const [url] = /http:\/\/[^\s/]+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
}

/** A server's user: appends, and reads the verdicts. */
export class StreamUser extends CliUser {
  data = join(this.cwd, "data");

  /** Appends with a server that runs meanwhile; returns its stderr. */
  async serve(streams: readonly string[], ...flags: string[]): Promise<string> {
    const running = this.start(["serve", ...flags, "--port", "0", "--data", this.data]);
    const url = await urlOf(running);
    for (const path of streams) {
      const type = path === "/raw" ? RAW : JSON_TYPE;
      await fetch(`${url}/v1/stream${path}`, { method: "PUT", headers: type });
      const init = { method: "POST", headers: type, body: '{"said":"something"}' };
      assert.equal((await fetch(`${url}/v1/stream${path}`, init)).status, 204);
    }
    running.signal("SIGTERM");
    assert.equal(await running.exitCode(), 0);
    return running.stderr;
  }

  /** By path, each stream's verdict and the finding behind it. */
  async verdicts(directory = this.data): Promise<Record<string, string>> {
    const { stdout } = await this.run(["verify", directory, "--json"]);
    const reports = jsonLines(stdout) as unknown as {
      session: string;
      verdict: string;
      findings: { verdict: string | null; code: string }[];
    }[];
    return Object.fromEntries(
      reports.map(({ session, verdict, findings }) => {
        const code = findings.find((each) => each.verdict === verdict)?.code;
        return [session, code === undefined ? verdict : `${verdict} ${code}`];
      }),
    );
  }
}
