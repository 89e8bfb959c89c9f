/**
 * How the viewer is built: into files with the hash of their content in the name, which the server
 * reads from `dist/viewer` (src/server/pages/viewer.ts). `scripts/setup.mjs` says where they go.
 *
 * Nothing is inlined: the page's Content-Security-Policy allows no script and no style but files.
 */

import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    // Have `light-dark`, which would be replaced by what our theme does not set.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    license: { fileName: "licenses.md" },
  },
});
