// The part of the page about the player: another name, another device, sign-out and deletion.
import { ConnectError } from "@connectrpc/connect";

import type { Connection } from "@croupier/client";
import { element, onSubmit, showStatus } from "./dom.js";

/** What follows the end of a player's sign-in. */
export interface Ends {
  signedOut(): void;
  deleted(): void;
}

/** Show the player, and carry out what they choose. */
export function showPlayer({ lobby, session }: Connection, { signedOut, deleted }: Ends): void {
  let name = session.player.name;
  const showName = (shown = "") => {
    name = shown;
    element("player-name").textContent = `You are ${name}`;
  };
  const onClick = (id: string, run: () => Promise<void>) => {
    element(id).onclick = () => void run().catch((error) => showStatus("failed", ConnectError.from(error).rawMessage));
  };
  showName(name);
  element("player").hidden = false;
  element("device-code").textContent = "";
  onSubmit(form("rename"), async () => showName((await lobby.updatePlayer({ name: valueOf("new-name") })).player?.name));
  onClick("device", async () => {
    element("device-code").textContent = (await lobby.createDeviceCode({})).deviceCode;
  });
  onClick("sign-out", () => session.signOut().then(signedOut));
  onClick("sign-out-all", () => session.signOut(true).then(signedOut));
  onSubmit(form("delete"), async () => {
    if (valueOf("delete-name") !== name) throw new Error("nothing is deleted: that is not your name");
    await lobby.deletePlayer({});
    deleted();
  });
}

function form(id: string): HTMLFormElement {
  return element(id) as HTMLFormElement;
}

function valueOf(id: string): string {
  return (element(id) as HTMLInputElement).value;
}
