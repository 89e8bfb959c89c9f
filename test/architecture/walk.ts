/**
 * Walk: a program that does one thing as a user of the library does it, and imports nothing else.
 * test/reach.test.ts counts the modules that it loads.
 *
 *     walk.ts append|append-signed|post [DATABASE_URL]
 */

const [, , name, database] = process.argv;

async function append(sign: boolean): Promise<void> {
  const { openStore } = await import("../../src/doors/index.ts");
  const store = await openStore({ root: ".", sign });
  const session = await store.create({ id: sign ? "signed" : "unsigned" });
  await session.append({
    kind: "message",
    role: "user",
    parts: [{ type: "text", text: "Where do I live?" }],
  });
  await session.append({
    kind: "message",
    role: "assistant",
    parts: [{ type: "text", text: "At 17 Mill Lane." }],
  });
  await store.close();
}

async function post(): Promise<void> {
  const { openServer } = await import("../../src/doors/server.ts");
  const server = await openServer({
    root: "data",
    port: 0,
    mounts: ["streams"],
    ...(database !== undefined && { store: database, durability: "memory" }),
  });
  const headers = { "Content-Type": "application/json" };
  const url = `${server.url}/v1/stream/chat`;
  for (const method of ["PUT", "POST"]) {
    const response = await fetch(url, { method, headers, body: "{}" });
    if (!response.ok) throw new Error(`${method}: ${await response.text()}`);
  }
  await server.close();
}

await (name === "post" ? post() : append(name === "append-signed"));
