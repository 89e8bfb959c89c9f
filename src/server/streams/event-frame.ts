/**
 * Event frames: a chunk as Server-Sent Events, one `data` and the `control` that follows it.
 *
 * EF1  What was stored cannot end an event or begin another: every line of it stands behind `data:`.
 *      (SSE knows no other line ends than LF, CR and CRLF, and gives all three back as LF.)
 * EF2  A parser takes one space after the colon away; a line that begins with one gets a second.
 */

import type { Chunk, StreamHead } from "../../streams/stream-store.ts";
import { isFinal, joined } from "./reading.ts";

/** Made once and sent to many; only the cursor may differ from reader to reader. */
export interface EventFrame {
  /** Empty when the chunk was: then there is a control event only. */
  readonly data: Uint8Array;
  readonly next: string;
  readonly isAtEnd: boolean;
  readonly isFinal: boolean;
}

/** Binary data does not pass as text; it goes as base64, and a header says so. */
export function isBase64(head: StreamHead): boolean {
  return !head.isJson && !/^\s*text\//i.test(head.contentType);
}

export function eventFrame(chunk: Chunk): EventFrame {
  return {
    data: chunk.bytes.length === 0 ? chunk.bytes : dataEvent(chunk),
    next: chunk.next,
    isAtEnd: chunk.isAtEnd,
    isFinal: isFinal(chunk),
  };
}

/** Where the reader stands after the frame. */
export function controlEvent({ next, isAtEnd, isFinal }: EventFrame, cursor: number): string {
  const place = `event: control\ndata:{"streamNextOffset":"${next}"`;
  if (isFinal) return `${place},"upToDate":true,"streamClosed":true}\n\n`;
  const upToDate = isAtEnd ? ',"upToDate":true' : "";
  return `${place},"streamCursor":"${cursor}"${upToDate}}\n\n`;
}

function dataEvent({ bytes, head }: Chunk): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isBase64(head)) return Buffer.from(`event: data\ndata:${buffer.toString("base64")}\n\n`);
  if (head.isJson) {
    // JSON holds no line ends once its own are separators: it is one line.
    return Buffer.concat([
      Buffer.from("event: data\ndata:["),
      joined(buffer),
      Buffer.from("]\n\n"),
    ]);
  }
  // As latin1 each byte is a character and back: what is no UTF-8 is passed on as it is.
  const lines = buffer.toString("latin1").split(/\r\n|\r|\n/);
  const marked = lines.map((line) => (line.startsWith(" ") ? `data: ${line}` : `data:${line}`));
  return Buffer.from(`event: data\n${marked.join("\n")}\n\n`, "latin1");
}
