/** Mount names: what `openServer({ mounts })` chooses from. */

/** In the order in which they are opened. */
export const MOUNT_NAMES = [
  "streams",
  "subscriptions",
  "received",
  "demo",
  "sessions",
  "search",
  "usage",
  "shares",
  "witness",
  "viewer",
] as const;

export type MountName = (typeof MOUNT_NAMES)[number];
