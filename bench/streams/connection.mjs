/** One HTTP connection over a bare socket: the client must cost less than what it measures. */

import { once } from "node:events";
import { connect } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");
const CRLF = Buffer.from("\r\n");

export class Connection {
  #socket;
  /** @type {Buffer} */
  #received = Buffer.alloc(0);
  /** @type {(() => void) | null} */
  #wake = null;
  #isClosed = false;
  #host;

  constructor(socket, host) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#wake?.();
    });
    socket.on("close", () => {
      this.#isClosed = true;
      this.#wake?.();
    });
    socket.on("error", () => {}); // The close event wakes the waiting request.
  }

  static async open(url) {
    const { hostname, port, host } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, "connect");
    return new Connection(socket, host);
  }

  /** Resolves to the answer. `onBytes` gets the body as it arrives, and nothing is kept. */
  async request(method, path, { body = null, headers = "", onBytes = null } = {}) {
    const length = body === null ? "" : `Content-Length: ${body.length}\r\n`;
    const type = body === null ? "" : "Content-Type: application/json\r\n";
    const head = `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n${type}${length}${headers}\r\n`;
    if (body === null) this.#socket.write(head);
    else this.#socket.write(Buffer.concat([Buffer.from(head), body]));
    const answer = await this.#head();
    if (method === "HEAD" || answer.status === 204 || answer.status === 304) return answer;
    const take = onBytes ?? (() => {});
    const known = answer.headers.get("content-length");
    if (known !== undefined) await this.#pass(Number(known), take);
    else if (answer.headers.get("transfer-encoding") === "chunked") await this.#passChunks(take);
    return answer;
  }

  /** Sends a request whose answer never ends; `onBytes` gets what arrives, chunk headers too. */
  async listen(path, onBytes) {
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n\r\n`);
    const answer = await this.#head();
    if (answer.status !== 200) throw new Error(`listening was answered ${answer.status}`);
    onBytes(this.#received);
    this.#socket.removeAllListeners("data");
    this.#socket.on("data", onBytes);
  }

  close() {
    this.#socket.destroy();
  }

  async #head() {
    const end = await this.#find(HEAD_END);
    const [first = "", ...lines] = this.#received.toString("latin1", 0, end).split("\r\n");
    this.#received = this.#received.subarray(end + HEAD_END.length);
    const headers = new Map();
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
    }
    return { status: Number(first.split(" ")[1]), headers };
  }

  async #passChunks(take) {
    for (;;) {
      const end = await this.#find(CRLF);
      const length = Number.parseInt(this.#received.toString("latin1", 0, end), 16);
      this.#received = this.#received.subarray(end + CRLF.length);
      await this.#pass(length, take);
      await this.#pass(CRLF.length, () => {});
      if (length === 0) return;
    }
  }

  async #pass(length, take) {
    for (let left = length; left > 0; ) {
      if (this.#received.length === 0) await this.#more();
      const some = this.#received.subarray(0, left);
      this.#received = this.#received.subarray(some.length);
      left -= some.length;
      take(some);
    }
  }

  async #find(what) {
    for (;;) {
      const at = this.#received.indexOf(what);
      if (at !== -1) return at;
      await this.#more();
    }
  }

  async #more() {
    if (this.#isClosed) throw new Error("the server closed the connection");
    await new Promise((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = null;
  }
}
