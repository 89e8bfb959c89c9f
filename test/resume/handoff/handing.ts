/** Handing over: two users, what one signs and hands off, and what the other unpacks. */

import { join } from "node:path";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import type { NewEntry } from "../../../src/core/model/entry.ts";
import { handoff, unpack } from "../../../src/doors/resume.ts";
import type { HandoffOptions } from "../../../src/resume/handoff/handoff.ts";
import type { UnpackOptions } from "../../../src/resume/handoff/unpack.ts";
import { loadOwnKeys } from "../../../src/trust/keys/keys.ts";
import { addTrust } from "../../../src/trust/trusted-keys/trust.ts";
import type { Purpose } from "../../../src/trust/trusted-keys/trust-entry.ts";
import { SigningUser, type Written } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

export class HandingUser extends SigningUser {
  /** Sets the environment to this user. */
  async enter(): Promise<void> {
    await (await this.store({ dialect: "rye", root: this.home })).close();
  }

  async handoff({ target }: Written, options: HandoffOptions = {}) {
    await this.enter();
    const { root, id } = target;
    const output = join(tempDirectory(), "session.vbx");
    return handoff(id, { root, output, ...options });
  }

  async unpack(path: string, options: UnpackOptions = {}) {
    await this.enter();
    const onWarning = (warning: string) => void this.warnings.push(warning);
    return unpack(path, { root: this.home, onWarning, ...options });
  }

  async trust(other: SigningUser, purposes: readonly Purpose[] = ["transcript"]): Promise<void> {
    const [key] = await loadOwnKeys(other.places);
    if (!key) throw new Error("the other has no key");
    const { publicKey } = key;
    const grant = { publicKey, owner: "Ada", purposes, sessions: ["**"] };
    await addTrust(nodeHost, this.places, grant, Date.now());
  }
}

/** A session with everything that dialects can express. */
export const TALK: readonly NewEntry[] = [
  { kind: "start", model: "claude-opus-4-5" },
  { kind: "message", role: "user", parts: [{ type: "text", text: "Deploy it." }] },
  { kind: "turn_start" },
  {
    kind: "message",
    role: "assistant",
    model: "claude-opus-4-5",
    parts: [
      { type: "reasoning", text: "Hm.", signature: "c2VhbA==" },
      { type: "text", text: "I deploy." },
      { type: "tool_call", callId: "c1", tool: "deploy", input: { to: "prod" } },
    ],
  },
  {
    kind: "message",
    role: "tool",
    parts: [{ type: "tool_result", callId: "c1", output: "done", error: null, durationMs: 5 }],
  },
  { kind: "turn_end" },
  { kind: "message", role: "user", parts: [{ type: "text", text: "Thanks." }] },
];
