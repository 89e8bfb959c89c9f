/** Signed streams that are copied between a data directory and PostgreSQL are signed on there. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { copyStreams } from "../../src/streams/copy/copy-streams.ts";
import { openDirectorySource } from "../../src/streams/copy/directory-source.ts";
import { openDirectoryTarget } from "../../src/streams/copy/directory-target.ts";
import type { CopySource, CopyTarget } from "../../src/streams/copy/sides.ts";
import type { StreamStore } from "../../src/streams/files/stream-store.ts";
import { openPostgresSource } from "../../src/streams/postgres/postgres-source.ts";
import { openPostgresTarget } from "../../src/streams/postgres/postgres-target.ts";
import { lacksPostgres } from "../support/postgres.ts";
import { SignedDatabase } from "../support/signed-database.ts";
import {
  JSON_STREAM,
  message,
  NEVER,
  RAW_STREAM,
  SignedStreams,
} from "../support/signed-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const PATHS = ["/json", "/raw", "/fork"];
const OPTIONS = { signingCadence: NEVER };

describe.skipIf(lacksPostgres)("with a database", () => {
  test("one chain of checkpoints continues from files to a database and back, and verifies", async () => {
    const files = new SignedStreams(); // Its user signs everywhere.
    const store = await files.open(OPTIONS);
    await store.create("/json", JSON_STREAM);
    await store.create("/raw", RAW_STREAM);
    await append(store, ["/json", "/raw"], "in files");
    await store.create("/fork", { ...JSON_STREAM, fork: { source: "/json" } });
    await store.close();

    const database = await SignedDatabase.create(undefined, files.user);
    const { url, schema } = database;
    await copy(await openDirectorySource(nodeHost, files.directory), (source) =>
      openPostgresTarget(url, source, { schema }),
    );
    // As a copy of large sidecar files is: cut in the middle of a line.
    await database.rows(`WITH cut AS (DELETE FROM $.checkpoints RETURNING *)
      INSERT INTO $.checkpoints
      SELECT sid, "end" - 100, substr(bytes, 1, octet_length(bytes) - 100) FROM cut
      UNION ALL SELECT sid, "end", substr(bytes, octet_length(bytes) - 99) FROM cut`);
    const server = await database.open(OPTIONS);
    await append(server, PATHS, "in a database");
    await server.close();
    const verified = Object.fromEntries([...PATHS].sort().map((path) => [path, "verified"]));
    assert.deepEqual(await database.verdicts(), verified);

    const back = new SignedStreams(join(tempDirectory(), "back"), files.user);
    await copy(await openPostgresSource(url, { schema, isAlone: true }), (source) =>
      openDirectoryTarget(nodeHost, back.directory, source, () => "00000000000000aa"),
    );
    assert.deepEqual(await back.verdicts(), verified);
    const last = await back.open(OPTIONS);
    await append(last, PATHS, "in files again");
    await last.close();
    assert.deepEqual(await back.verdicts(), verified);
    assert.deepEqual(back.kinds("json.jsonl"), ["genesis", "batch", "batch", "batch"]);
    assert.deepEqual([...files.warnings, ...database.warnings, ...back.warnings], []);
  });
});

async function append(store: StreamStore, paths: readonly string[], what: string): Promise<void> {
  for (const path of paths) await store.append(path, message(what));
}

async function copy(source: CopySource, open: (source: CopySource) => Promise<CopyTarget>) {
  const target = await open(source);
  await copyStreams(source, target, () => {});
  await target.close();
  await source.close();
}
