/** Rye files: implements `DialectFiles` for transcript.md, thread.json and registry.db. */

import { join } from "node:path";
import { threadKeys } from "../../../signing/trust/trusted-keys.ts";
import type { DialectFiles, StoreFiles, StoreOfFiles } from "../../dialect-files.ts";
import type { RyeOptions } from "../options.ts";
import { META_NAME, THREADS_PATH } from "../thread-id.ts";
import { ryeDerived } from "./check-files.ts";
import { lookAtRegistry, mendRegistry } from "./check-registry.ts";
import { RyeDerivedFiles } from "./derived-files.ts";
import { FoundMeta } from "./found-meta.ts";
import { MetaProof } from "./meta-proof.ts";
import { Registrar } from "./registrar.ts";
import { readStoredMeta } from "./thread-files.ts";

export const ryeFiles: DialectFiles = {
  openStore,
  derived: ryeDerived,
  ofStore: { look: lookAtRegistry, mend: mendRegistry },
  async standingOf(host, root, id) {
    const meta = await readStoredMeta(host, root, id);
    const status = meta?.status;
    return {
      status: status === "running" || status === "paused" ? status : null,
      parent: meta?.parent_thread_id || null,
      agent: meta?.directive || null,
    };
  },
  proofOf: (host, log, trust) => new MetaProof(host, log, threadKeys(trust, log.id)),
  signedFile: {
    name: META_NAME,
    read: (host, log) => FoundMeta.read(host, log),
    of: (text) => new FoundMeta(text),
  },
  async installed(host, { root, id }, onWarning) {
    const meta = await readStoredMeta(host, root, id);
    if (!meta) return;
    const registrar = new Registrar(root, join(root, ...THREADS_PATH), onWarning);
    registrar.note(meta);
    await registrar.close();
  },
};

function openStore({ project, options, ...store }: StoreOfFiles): StoreFiles {
  const { markdown = true } = options as RyeOptions;
  // A directory of threads outside a project has no registry.
  const registrar =
    project === null
      ? null
      : new Registrar(project, join(project, ...THREADS_PATH), store.onWarning);
  return {
    openDerived: ({ id, logId }) =>
      new RyeDerivedFiles({
        ...store,
        threadId: id,
        logId,
        hasMarkdown: markdown,
        onMeta: (meta) => registrar?.note(meta),
      }),
    close: async () => registrar?.close(),
  };
}
