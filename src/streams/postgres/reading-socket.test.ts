import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { ReadingSocket } from "./reading-socket.ts";

test("data of a COPY is taken wherever reads divide it, and the driver gets every other byte", async () => {
  const { socket, peer } = await connected();
  const long = Buffer.alloc(100_000, "0123456789"); // More than one read.
  const parts = [message("H", "abc"), message("d", "one"), message("d", ""), message("d", long)];
  const sent = Buffer.concat([
    ...parts,
    message("c", ""),
    message("C", "COPY 3"),
    message("Z", "I"),
  ]);
  const places = [1, 3, 5, 8, 9, 12, 13, 17, 20, 21, 25, 26, 27, sent.length - 1, sent.length];
  for (const place of places) {
    const passed: Buffer[] = [];
    const taken: Buffer[] = [];
    let reads = 0;
    const driver = (chunk: Buffer) => passed.push(chunk);
    socket.on("data", driver);
    socket.takeCopied = (buffer, start, end) =>
      taken.push(Buffer.from(buffer.subarray(start, end)));
    socket.afterRead = () => reads++;
    peer.write(sent.subarray(0, place));
    await until(() => reads > 0);
    peer.write(sent.subarray(place));
    const expected = Buffer.concat([parts[0] as Buffer, sent.subarray(sent.length - 22)]);
    await until(() => Buffer.concat(passed).length >= expected.length);
    assert.deepEqual(Buffer.concat(passed), expected, `divided at ${place}`);
    assert.deepEqual(Buffer.concat(taken), Buffer.concat([Buffer.from("one"), long]));
    socket.off("data", driver);
  }
});

test("without a COPY the driver gets copies of what was read", async () => {
  const { socket, peer } = await connected();
  const passed: Buffer[] = [];
  socket.on("data", (chunk) => passed.push(chunk));
  for (const text of ["first", "other"]) {
    peer.write(text);
    await once(socket, "data");
  }
  assert.deepEqual(passed.map(String), ["first", "other"]);
});

async function connected(): Promise<{ socket: ReadingSocket; peer: Socket }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = new ReadingSocket();
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  socket.connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [peer] = (await once(server, "connection")) as [Socket];
  return { socket, peer };
}

function message(type: string, body: Buffer | string): Buffer {
  const bytes = Buffer.from(body);
  const header = Buffer.from(`${type}0000`);
  header.writeUInt32BE(bytes.length + 4, 1);
  return Buffer.concat([header, bytes]);
}
