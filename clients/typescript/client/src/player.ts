// The player who is signed in: their name, their devices, and their end.
import type { Player } from "./generated/croupier_api/v1/lobby_pb.js";
import type { Connection } from "./client.js";
import { repeat } from "./retry.js";

/** Return the player, with the name and the number of devices of now. */
export async function me({ lobby }: Pick<Connection, "lobby">): Promise<Player> {
  return known((await repeat(() => lobby.getPlayer({ playerId: "me" }))).player);
}

/** Rename the player, at once on all devices, and return them; throws a refusal of the name. */
export async function rename({ lobby }: Pick<Connection, "lobby">, name: string): Promise<Player> {
  return known((await repeat(() => lobby.updatePlayer({ name }))).player);
}

/** Return a code, valid for 10 minutes and once, by which `connect` adds another device to the player. */
export async function deviceCode({ lobby }: Pick<Connection, "lobby">): Promise<string> {
  return (await repeat(() => lobby.createDeviceCode({}))).deviceCode;
}

/** End the sign-in of this device, or those of all devices, whose secrets are removed but for this one's. */
export async function signOut({ session }: Pick<Connection, "session">, allDevices = false): Promise<void> {
  await session.signOut(allDevices);
}

/** Delete the player for good, and the secret of this device with them. */
export async function deletePlayer({ lobby, device }: Pick<Connection, "lobby" | "device">): Promise<void> {
  await repeat(() => lobby.deletePlayer({}));
  device.forget();
}

function known(player: Player | undefined): Player {
  if (player === undefined) throw new Error("the lobby returned no player");
  return player;
}
