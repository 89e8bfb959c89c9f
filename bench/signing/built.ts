/** The built package; its types are the sources', so that no build is needed to check them. */

export const at = (name: string) => new URL(`../../dist/${name}`, import.meta.url).href;

export const { openStore }: typeof import("../../src/doors/index.ts") = await import(
  at("doors/index.js")
);
export const { nodeHost }: typeof import("../../src/core/base/node-host.ts") = await import(
  at("core/base/node-host.js")
);
export const { nodeCrypto }: typeof import("../../src/trust/keys/node-crypto.ts") = await import(
  at("trust/keys/node-crypto.js")
);
export const { LogSigner }: typeof import("../../src/trust/signer/log-signer.ts") = await import(
  at("trust/signer/log-signer.js")
);
export const { nothingSigned }: typeof import("../../src/trust/signer/signer-state.ts") =
  await import(at("trust/signer/signer-state.js"));
export const { verifyLog }: typeof import("../../src/trust/judge/verify.ts") = await import(
  at("trust/judge/verify.js")
);
export const { TranscriptSigner }: typeof import("../../src/doors/signing.ts") = await import(
  at("doors/signing.js")
);
