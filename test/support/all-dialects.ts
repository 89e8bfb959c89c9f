/**
 * All dialects: tests call code below the doors, which load dialects. What a process of its own
 * loads: test/reach.test.ts and the tests that start commands.
 */

import { loadDialects } from "../../src/dialects/all.ts";

await loadDialects();
