// The web table: its page is served by the gateway, whose address is that of the services too.
import { render } from "preact";

import { App } from "./app.js";
import "./styles/page.css";
import "./cards/cards.css";
import "./lobby/lobby.css";
import "./table/table.css";

const root = document.getElementById("app");
if (root === null) throw new Error("no place for the app");
const parameters = new URLSearchParams(location.search);
const [panel, seat] = [numberOf("dev"), numberOf("seat")];
// Players never load the code for developers.
if (panel !== undefined) void import("./dev/panel.js").then(({ showPanel }) => showPanel(root, panel));
else if (seat !== undefined) void import("./dev/seat.js").then(({ showSeat }) => showSeat(root, seat));
else render(<App address={location.origin} store={localStorage} />, root);

function numberOf(name: string): number | undefined {
  const number = Number.parseInt(parameters.get(name) ?? "", 10);
  return Number.isNaN(number) ? undefined : number;
}
