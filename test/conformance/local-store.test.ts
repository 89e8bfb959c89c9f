import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { runStreamStoreSuite } from "./stream-store.ts";

runStreamStoreSuite({
  name: "the local store",
  newPlace() {
    const dataDirectory = tempDirectory();
    return { open: (now) => openLocalStore({ dataDirectory, now }) };
  },
});
