/** Main: mounts the style and the page. */

import { render } from "preact";
import { App } from "./app.tsx";
import { adoptStyle } from "./style/adopt.ts";
import "./style/tokens.css";
import "./style/base.css";
import "./style/header.css";
import "./style/list.css";
import "./style/search.css";
import "./style/session.css";
import "./style/rail.css";
import "./style/panels.css";
import "./style/dialog.css";

adoptStyle();
render(<App />, document.getElementById("app") as HTMLElement);
