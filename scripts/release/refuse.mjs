/** `npm publish` in the repository would publish the manifest of a clone (see manifest.mjs). */

process.stderr.write(
  "Publish the tarballs that `npm run release:pack` writes, not the repository: " +
    "the published package.json is another one. CONTRIBUTING.md has the steps of a release.\n",
);
process.exitCode = 1;
