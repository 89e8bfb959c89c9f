/** Mounts: all parts of the server, and which of them owns a path. */

import { badOption, nearest } from "../../core/base/choice.ts";
import type { ServerContext } from "../context.ts";
import type { Mount, OpenMount, SharedParts } from "./mount.ts";
import * as at from "./paths.ts";
import { MOUNT_NAMES, type MountName } from "./paths.ts";

export const MOUNTS: Readonly<Record<MountName, Mount>> = {
  streams: {
    prefixes: [at.STREAM_ROOT],
    open: async (context) => (await import("../streams/route.ts")).streamsMount(context),
    describe: async () => (await import("../streams/openapi.ts")).STREAMS,
  },
  subscriptions: {
    prefixes: [at.CONTROL_ROOT],
    open: async (context) => (await import("../subscriptions/route.ts")).subscriptions(context),
    describe: async () => (await import("../subscriptions/route.ts")).SUBSCRIPTIONS,
  },
  received: {
    prefixes: [at.RETENTION_PATH], // Agents send them as streams, and they are read as sessions.
    needs: "sessions",
    open: async (context) => (await import("../received/mount.ts")).receivedMount(context),
    describe: async () => (await import("../received/retention.ts")).RETENTION_ROUTE,
  },
  demo: {
    prefixes: [at.DEMO_PATH],
    needs: "sessions",
    open: async (context, parts) => (await import("../demo/demo.ts")).demoMount(context, parts),
    describe: async () => (await import("../demo/demo.ts")).DEMO,
  },
  sessions: {
    prefixes: [at.SESSIONS_ROOT],
    open: async (context, parts) => {
      return (await import("../sessions/route.ts")).sessionsMount(context, parts);
    },
    describe: async () => (await import("../sessions/openapi.ts")).SESSIONS,
  },
  search: {
    prefixes: [at.SEARCH_PATH, at.TOOLS_PATH],
    needs: "sessions",
    open: async (_, parts) => (await import("../sessions/search.ts")).searchMount(parts),
    describe: async () => (await import("../sessions/openapi.ts")).SEARCH,
  },
  usage: {
    prefixes: [at.USAGE_PATH],
    needs: "sessions",
    open: async (_, parts) => (await import("../usage/route.ts")).usageMount(parts),
    describe: async () => (await import("../usage/route.ts")).USAGE,
  },
  shares: {
    prefixes: [at.SHARE_PATH, at.SHARES_PATH],
    open: async (context, parts) => {
      return (await import("../shares/route.ts")).sharesMount(context, parts);
    },
    describe: async () => (await import("../shares/route.ts")).SHARES,
  },
  witness: {
    prefixes: [at.WITNESS_ROOT],
    open: async (context) => {
      if (context.options.witness === undefined) return null;
      return (await import("../witness/route.ts")).witnessMount(context, context.options.witness);
    },
    describe: async () => (await import("../witness/route.ts")).WITNESS,
  },
  admin: {
    prefixes: [at.ADMIN_ROOT],
    open: async (context) => (await import("../admin/route.ts")).adminMount(context),
    describe: async () => (await import("../admin/openapi.ts")).ADMIN,
  },
  viewer: {
    prefixes: [...at.VIEWER_FILES, at.ASSET_ROOT],
    open: async () => (await import("../pages/viewer.ts")).VIEWER,
  },
};

/** The longest first: subscriptions are below the root of streams. */
const PREFIXES = MOUNT_NAMES.flatMap((name) => {
  return MOUNTS[name].prefixes.map((prefix) => ({ prefix, name }));
}).sort((a, b) => b.prefix.length - a.prefix.length);

/** The mount that answers requests for this path, whether the server has it or not. */
export function ownerOf(path: string): MountName | null {
  for (const { prefix, name } of PREFIXES) if (at.isBelow(path, prefix)) return name;
  return null;
}

/** The mounts that were chosen, in the order in which they are opened; all if none were. */
export function chosenMounts(choice: readonly string[] = MOUNT_NAMES): readonly MountName[] {
  if (!Array.isArray(choice) || choice.length === 0) {
    throw badOption("mounts", `must be a list of ${MOUNT_NAMES.join(", ")}`);
  }
  for (const word of choice) {
    if (MOUNT_NAMES.includes(word as MountName)) continue;
    const meant = typeof word === "string" ? nearest(word, MOUNT_NAMES) : null;
    const hint = meant === null ? `there are ${MOUNT_NAMES.join(", ")}` : `did you mean ${meant}?`;
    throw badOption("mounts", `has a name that is not a mount: ${hint}`);
  }
  for (const name of choice as readonly MountName[]) {
    const { needs } = MOUNTS[name];
    if (needs && !choice.includes(needs)) {
      throw badOption("mounts", `has ${name} without ${needs}, which it needs`);
    }
  }
  return MOUNT_NAMES.filter((name) => choice.includes(name));
}

export interface OpenMounts {
  /** Those that were chosen. */
  readonly names: readonly MountName[];
  /** Those that serve something. */
  readonly byName: ReadonlyMap<MountName, OpenMount>;
  readonly parts: SharedParts;
  begin(): void;
  stop(): void;
  close(): Promise<void>;
}

/** Opens them one after the other; if one fails, those before it are closed. */
export async function openMounts(
  context: ServerContext,
  names: readonly MountName[],
): Promise<OpenMounts> {
  const byName = new Map<MountName, OpenMount>();
  const close = async () => {
    for (const mount of [...byName.values()].reverse()) await mount.close?.();
  };
  let parts: SharedParts = {};
  try {
    for (const name of names) {
      const mount = await MOUNTS[name].open(context, parts);
      if (mount === null) continue;
      byName.set(name, mount);
      parts = { ...parts, ...mount.parts };
    }
  } catch (cause) {
    await close();
    throw cause;
  }
  return {
    names,
    byName,
    parts,
    begin() {
      for (const mount of byName.values()) mount.begin?.();
    },
    stop() {
      for (const mount of byName.values()) mount.stop?.();
    },
    close,
  };
}
