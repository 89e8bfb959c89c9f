/**
 * Event frames: a chunk as Server-Sent Events, one `data` and the `control` that follows it.
 *
 * Stored data cannot end an event or begin another: each of its lines follows `data:`. (SSE has no
 * other line ends than LF, CR and CRLF, and delivers all three as LF.) A parser removes one space
 * after the colon, so a line that begins with one gets a second.
 */

import type { Chunk, StreamHead } from "../../streams/files/stream-store.ts";
import { isFinal, joinLines } from "./reads.ts";

/** Encoded once and sent to many readers; only the cursor may differ. */
export interface EventFrame {
  /** Empty for an empty chunk: then there is only a control event. */
  readonly data: Uint8Array;
  readonly next: string;
  readonly isAtEnd: boolean;
  readonly isFinal: boolean;
}

/** Binary data is sent as base64; a header says so. */
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

/** The reader's offset after the frame. */
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
    // JSON is one line once its separators are commas.
    return Buffer.concat([
      Buffer.from("event: data\ndata:["),
      joinLines(buffer),
      Buffer.from("]\n\n"),
    ]);
  }
  // As latin1 each byte is a character and back, so invalid UTF-8 is passed on unchanged.
  const lines = buffer.toString("latin1").split(/\r\n|\r|\n/);
  const marked = lines.map((line) => (line.startsWith(" ") ? `data: ${line}` : `data:${line}`));
  return Buffer.from(`event: data\n${marked.join("\n")}\n\n`, "latin1");
}
