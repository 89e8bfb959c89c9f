/** The viewer and its export show an integer that JavaScript cannot represent as it is in the log. */

import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { VerbatimClient } from "../../src/client/client.ts";
import { htmlPieces, loadedPieces } from "../../viewer/src/session/export.ts";
import { event, putThread } from "../cli/stores.ts";
import { newUser, serveSessions } from "../server/sessions/served.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const LONG = "12345678901234567890";
const INPUT = { where: { id: "#", digits: LONG, list: ["#"] } };

async function served() {
  newUser();
  const root = tempDirectory();
  const call = JSON.stringify(
    event("tool_call_start", { tool: "look", call_id: "c", input: INPUT }),
  );
  putThread(root, "hello-1", [call.replaceAll('"#"', LONG)]);
  const { server, json } = await serveSessions([root]);
  const client = new VerbatimClient({ url: server.url });
  const [listed] = (await client.sessions.list()).sessions;
  assert.ok(listed);
  return { client, id: listed.id, json };
}

test("an integer is a number in the page and its export, and a string of digits is a string", async () => {
  const { client, id } = await served();
  const head = await client.sessions.get(id);
  const { entries } = await client.sessions.entries(id, { native: false });
  const pages = [loadedPieces(head, entries), await htmlPieces(client, head, () => {})];
  for await (const event of client.sessions.follow(id)) {
    assert.ok(event.type === "entry");
    pages.push(loadedPieces(head, [event]));
    break;
  }
  for (const pieces of pages) {
    const page = pieces.join("");
    const count = (text: string) => page.split(text).length - 1;
    const strings = count(`<span class="string">&quot;${LONG}&quot;</span>`);
    assert.ok(strings > 0);
    assert.equal(count(`<span class="number">${LONG}</span>`), 2 * strings);
  }
});

test("other readers of the API get such an integer as a string, which they cannot round", async () => {
  const { json, id } = await served();
  const input = { where: { id: LONG, digits: LONG, list: [LONG] } };
  const plain = await json<{ entries: { entry: object }[] }>(`/${id}/entries?native=false`);
  expect(plain.entries[0]?.entry).toMatchObject({ parts: [{ input }] });
});
