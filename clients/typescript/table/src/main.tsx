// The web table: its page is served by the gateway, whose address is that of the services too.
import { render } from "preact";

import { App } from "./app.js";
import "./styles/page.css";
import "./cards/cards.css";
import "./lobby/lobby.css";
import "./table/table.css";

const root = document.getElementById("app");
if (root === null) throw new Error("no place for the app");
render(<App address={location.origin} store={localStorage} />, root);
