/**
 * The built package, which is what users get. Its types are the sources', so that type checking needs
 * no build.
 */

export const BUILT_LOG = new URL("../../dist/doors/log.js", import.meta.url).href;

export const { openLog, readLog }: typeof import("../../src/doors/log.ts") = await import(
  BUILT_LOG
);
