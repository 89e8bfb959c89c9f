/** Property seed: the properties of fast-check use the seed of the run, too. */

import fc from "fast-check";
import { seed } from "./seed.ts";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
