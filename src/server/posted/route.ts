/** Posted sessions over HTTP: `POST /v1/sessions` and `POST /v1/sessions/ID/entries`. */

import type { IncomingMessage } from "node:http";
import { type ErrorCode, VerbatimError } from "../../core/base/errors.ts";
import { inexactNumber } from "../../core/base/exact-numbers.ts";
import { invalidEntry } from "../../core/model/plain-json.ts";
import { DEFAULT_DIALECT } from "../../dialects/registry.ts";
import { isFolder } from "../../guard/remote/session-paths.ts";
import type { SessionContext } from "../context.ts";
import { answerJson, badRequest, newHeaders } from "../http/answer.ts";
import { readBody } from "../http/body.ts";
import type { ReceivedSessions } from "../received/received-sessions.ts";
import type { MountRequest } from "../router/mount.ts";
import { SESSIONS_ROOT } from "../router/paths.ts";
import { keyOf, type ServedStore, seenBy, sessionNotFound, urlIdOf } from "../sessions/roots.ts";
import {
  type NewPostedSession,
  notWritable,
  POSTED_TYPE,
  type Posted,
  PostedSessions,
  type SentEntries,
} from "./posted-sessions.ts";

export const POSTED_ENTRIES_MAX = 10_000;
const NEW_BYTES_MAX = 64 * 1024;
const JSON_TYPE = "application/json";
/** For sessions of a token for several folders, or without a token. */
const DEFAULT_FOLDER = "entries";
const KEY = /^[\x21-\x7e]{1,255}$/;
const TEXTS = ["id", "agent", "parent", "folder"];
const FIELDS = [...TEXTS, "title", "tags", "user", "metadata"];

/** Of a session in the URL. */
const ABSENT: readonly ErrorCode[] = ["STREAM_NOT_FOUND", "BAD_ID"];

type Post = Pick<MountRequest, "request" | "response" | "pass">;
type Answered = Posted & { readonly store: ServedStore };

/** Answers POST requests; those of a session have its id, others create one. */
export class PostedRoute {
  readonly #context: SessionContext;
  readonly #received: ReceivedSessions;
  readonly #posted: PostedSessions;

  constructor(context: SessionContext, received: ReceivedSessions) {
    this.#context = context;
    this.#received = received;
    this.#posted = new PostedSessions(context, (stream) => received.appended(stream));
  }

  async answer(post: Post, urlId: string): Promise<void> {
    const isNew = urlId === "";
    const { store, id, lines, isRepeated } = await (isNew
      ? this.#create(post)
      : this.#append(post, urlId));
    const headers = newHeaders();
    const url = `${SESSIONS_ROOT}/${urlIdOf(store, id)}`;
    headers.push("Cache-Control", "no-store");
    if (isNew) headers.push("Location", url);
    const entries = lines.map(({ native: _, ...line }) => line);
    const body = { id: urlIdOf(store, id), session: id, url, end: entries.at(-1)?.end, entries };
    answerJson(post.response, isRepeated ? 200 : 201, body, headers);
  }

  async #create({ request, pass }: Post): Promise<Answered> {
    const key = keyIn(request);
    const text = await this.#textOf(request, NEW_BYTES_MAX);
    if (text !== "" && typeOf(request) !== JSON_TYPE) throw wrongType(JSON_TYPE);
    const { folder, ...asked } = fieldsOf(text === "" ? {} : parsed(text, ""));
    if (asked.id !== undefined && key !== null) {
      throw badRequest("Idempotency-Key", "is for new ids; an id of yours makes a retry safe, too");
    }
    const store = this.#storeFor(pass, folder);
    if (!seenBy(pass)(store)) {
      throw new VerbatimError(
        "NOT_ALLOWED",
        `token ${pass?.token} does not allow this: it needs the scope entries for ${store.path}/**`,
        { token: `${pass?.token}`, scope: "entries" },
      );
    }
    return { store, ...(await this.#posted.create(`${store.path}`, asked, key, pass)) };
  }

  async #append({ request, pass }: Post, urlId: string): Promise<Answered> {
    const own = this.#storeFor(pass);
    const { store, id } = this.#context.sessions.roots.resolve(urlId, seenBy(pass), own);
    const { path, dialect } = store;
    if (path === undefined || dialect !== DEFAULT_DIALECT) {
      throw notWritable(id, "another program writes it");
    }
    const key = keyIn(request);
    const text = await this.#textOf(request, this.#context.settings.bodyBytesMax);
    const sent = entriesIn(text, typeOf(request));
    try {
      return { store, ...(await this.#posted.append({ path, id }, sent, key, pass)) };
    } catch (cause) {
      const isAbsent = cause instanceof VerbatimError && ABSENT.includes(cause.code);
      throw isAbsent ? sessionNotFound() : cause;
    }
  }

  /** The store of a folder; default: the one folder of the token. */
  #storeFor(pass: Post["pass"], folder?: string): ServedStore {
    const folders = new Set(pass?.paths?.map((path) => path.split("/")[1] ?? ""));
    const [only = ""] = folders.size === 1 ? folders : [];
    const store = this.#received.storeOf({
      folder: folder ?? (isFolder(only) ? only : DEFAULT_FOLDER),
      sender: null,
      dialect: DEFAULT_DIALECT,
      generation: null,
    });
    return { ...store, key: keyOf(store) } as ServedStore;
  }

  async #textOf(request: IncomingMessage, bytesMax: number): Promise<string> {
    const bytes = await readBody(request, bytesMax, this.#context.bodies);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw badRequest("the body", "is not UTF-8");
    }
  }
}

function keyIn({ headers }: IncomingMessage): string | null {
  const key = headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key === "string" && KEY.test(key)) return key;
  throw badRequest("Idempotency-Key", "must be 1 to 255 characters of ASCII without spaces");
}

function typeOf({ headers }: IncomingMessage): string {
  return (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function wrongType(types: string): VerbatimError {
  return badRequest("Content-Type", `must be ${types}`);
}

/** `place`: of the text in the body. */
function parsed(text: string, place: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest("the body", `is not JSON${place}`);
  }
  if (inexactNumber(text) === null) return value;
  throw badRequest("the body", `has a number that would be altered${place}; send it as a string`);
}

/** The fields of a new session; their texts are checked, the rest is when it is created. */
function fieldsOf(value: unknown): NewPostedSession & { readonly folder?: string } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidEntry("the body", "expected an object");
  }
  for (const [name, field] of Object.entries(value)) {
    if (!FIELDS.includes(name)) throw invalidEntry(name, `a session has ${FIELDS.join(", ")}`);
    const isText = typeof field === "string" && field !== "";
    if (TEXTS.includes(name) && !isText) throw invalidEntry(name, "expected text");
    if (name === "folder" && !isFolder(`${field}`)) {
      throw invalidEntry(name, "expected letters, digits, -, _ and single dots");
    }
  }
  return value;
}

function entriesIn(text: string, type: string): SentEntries {
  const sent = type === JSON_TYPE ? jsonEntries(text) : lineEntries(text, type);
  const { length } = sent.entries;
  if (length === 0) throw badRequest("the body", "has no entry; send at least one");
  if (length <= POSTED_ENTRIES_MAX) return sent;
  throw badRequest("the body", `has more than ${POSTED_ENTRIES_MAX} entries; send fewer at once`);
}

function jsonEntries(text: string): SentEntries {
  const value = parsed(text, "");
  return Array.isArray(value)
    ? { entries: value, isList: true }
    : { entries: [value], isList: false };
}

function lineEntries(text: string, type: string): SentEntries {
  if (type !== POSTED_TYPE) throw wrongType(`${JSON_TYPE} or ${POSTED_TYPE}`);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return { entries: lines.map((line, at) => parsed(line, ` in entry ${at}`)), isList: true };
}
