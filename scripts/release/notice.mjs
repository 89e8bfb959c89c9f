/** What `npm pack` makes of the repository is to try, not to publish (see pack.mjs). */

process.stderr.write(
  "\nThis tarball has the package.json of the repository, which npm refuses to publish. " +
    "`npm run release:pack -- FOLDER` makes the tarballs of a release, with SQLite for Node before 22.16.\n\n",
);
