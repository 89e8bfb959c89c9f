/** The built package, as users get it; its types are the sources', so that no build is needed. */

const at = (name: string) => new URL(`../../dist/${name}`, import.meta.url).href;

export const CLI = at("cli/main.js");

export const { openLog }: typeof import("../../src/log.ts") = await import(at("log.js"));
export const { openStore }: typeof import("../../src/index.ts") = await import(at("index.js"));
export const { ThreadTelemetry }: typeof import("../../src/rye.ts") = await import(at("rye.js"));
export const { openHistory, resume }: typeof import("../../src/resume.ts") = await import(
  at("resume.js")
);
