/**
 * The built package, which is what users get. Its types are the sources', so that type checking needs
 * no build.
 */

export const BUILT_LOG = new URL("../../dist/log.js", import.meta.url).href;

export const { openLog, readLog }: typeof import("../../src/log.ts") = await import(BUILT_LOG);
