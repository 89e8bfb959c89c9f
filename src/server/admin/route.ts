/**
 * Admin routes: `/v1/admin/tokens` makes, lists, rotates and revokes tokens.
 *
 * - The sender's token needs the scope `tokens`, on this machine too (auth/gate.ts). It sees and
 *   changes only tokens that are not wider than itself; others are not there for it.
 * - Each change is reported to the operator with the id of its request, which the answer has too.
 */

import { type Admission, tokenRequired } from "../auth/gate.ts";
import { widerField } from "../auth/token-authority.ts";
import {
  createToken,
  type NewToken,
  revokeToken,
  rotateToken,
  type TokenEntry,
  type TokenList,
  tokenItem,
  tokenNotFound,
  tokenState,
} from "../auth/tokens.ts";
import type { ServerContext } from "../context.ts";
import { answer, answerJson, type Headers, methodNotAllowed, newHeaders } from "../http/answer.ts";
import { readJson } from "../http/body.ts";
import type { MountRequest, OpenMount } from "../router/mount.ts";
import { TOKENS_PATH } from "../router/paths.ts";
import { graceIn, tokenRequestIn } from "./token-request.ts";

const BODY_BYTES_MAX = 64 * 1024;
const ONE_TOKEN = /^\/([^/]+)(\/rotate)?$/;

export async function adminMount(context: ServerContext): Promise<OpenMount> {
  return {
    async handle(call) {
      const { path, track, response } = call;
      const below = path.slice(TOKENS_PATH.length);
      const [, id, isRotation] = ONE_TOKEN.exec(below) ?? [];
      if (!path.startsWith(TOKENS_PATH) || (below !== "" && id === undefined)) return false;
      track.route = "operations";
      response.setHeader("Request-Id", track.id);
      const admin = new TokenAdmin(context, call);
      if (id === undefined) await admin.answerAll();
      else if (isRotation) await admin.rotate(id);
      else await admin.revoke(id);
      return true;
    },
  };
}

class TokenAdmin {
  readonly #context: ServerContext;
  readonly #call: MountRequest;
  readonly #maker: TokenEntry;

  constructor(context: ServerContext, call: MountRequest) {
    this.#context = context;
    this.#call = call;
    this.#maker = (call.pass as Admission).entry; // The gate lets nothing else in.
  }

  /** Tokens are changed only while the sender's is valid: a body may come long after its headers. */
  get #list(): TokenList {
    const { tokens, gate, time } = this.#context;
    const { place } = tokens.list;
    const { sha256 } = this.#maker;
    const check = (entries: readonly TokenEntry[]) => {
      const own = entries.find((each) => each.sha256 === sha256);
      const isValid = own ? tokenState(own, time.nowMs()) === "valid" : true;
      if (!isValid || !gate.holds(this.#call.pass as Admission)) throw tokenRequired("revoked");
      return entries;
    };
    return {
      place,
      entries: () => tokens.list.entries(),
      change: (work) => tokens.list.change((entries) => work(check(entries))),
    };
  }

  async answerAll(): Promise<void> {
    const { request, response } = this.#call;
    const { tokens, time } = this.#context;
    if (request.method === "POST") return this.#create();
    if (request.method !== "GET" && request.method !== "HEAD") {
      throw methodNotAllowed("GET, HEAD, POST, OPTIONS");
    }
    const entries = (await tokens.list.entries()).filter((each) => this.#isWithin(each));
    const listed = entries.map((each) => tokenItem(each, time.nowMs()));
    answerJson(response, 200, { tokens: listed }, this.#headers());
  }

  async rotate(id: string): Promise<void> {
    const { request } = this.#call;
    const { time } = this.#context;
    if (request.method !== "POST") throw methodNotAllowed("POST, OPTIONS");
    const graceMs = graceIn(await readJson(request, BODY_BYTES_MAX, {}));
    await this.#checkWithin(id);
    const made = await rotateToken(this.#list, id, graceMs, time.nowMs());
    await this.#answerNew(made, `rotated to ${made.entry.id}`, id);
  }

  async revoke(id: string): Promise<void> {
    const { request, response } = this.#call;
    const { tokens, time } = this.#context;
    if (request.method !== "DELETE") throw methodNotAllowed("DELETE, OPTIONS");
    await this.#checkWithin(id);
    await revokeToken(this.#list, id, time.nowMs());
    await tokens.changed();
    this.#report(id, "revoked");
    answer(response, 204, this.#headers());
  }

  async #create(): Promise<void> {
    const { request } = this.#call;
    const { time } = this.#context;
    const nowMs = time.nowMs();
    const body = await readJson(request, BODY_BYTES_MAX);
    const wanted = tokenRequestIn(body, this.#maker, nowMs);
    const made = await createToken(this.#list, wanted, nowMs);
    await this.#answerNew(made, "created", made.entry.id);
  }

  async #answerNew({ token, entry }: NewToken, action: string, id: string): Promise<void> {
    const { tokens, time } = this.#context;
    await tokens.changed();
    this.#report(id, action);
    const body = { token, ...tokenItem(entry, time.nowMs()) };
    answerJson(this.#call.response, 201, body, this.#headers());
  }

  #isWithin(entry: TokenEntry): boolean {
    return widerField(entry, this.#maker) === null;
  }

  async #checkWithin(id: string): Promise<void> {
    const { list } = this.#context.tokens;
    const entry = (await list.entries()).find((each) => each.id === id);
    if (entry === undefined || !this.#isWithin(entry)) throw tokenNotFound({ place: "it" }, id);
  }

  #report(id: string, action: string): void {
    const { track } = this.#call;
    const by = `by token ${this.#maker.id}, request ${track.id}`;
    this.#context.options.onNote?.(`token ${id} was ${action} ${by}`);
  }

  #headers(): Headers {
    const headers = newHeaders();
    headers.push("Cache-Control", "no-store");
    return headers;
  }
}
