/** Creates sessions as fast as it can, for the test with several processes. */

import { openStore } from "../../src/doors/index.ts";

const [, , root = "", count = "0"] = process.argv;
const store = await openStore({ dialect: "rye", root, agent: "a", durability: "os" });
const created = Array.from({ length: Number(count) }, () => store.create());
const ids = (await Promise.all(created)).map(({ id }) => id);
await store.close();
console.log(JSON.stringify(ids));
