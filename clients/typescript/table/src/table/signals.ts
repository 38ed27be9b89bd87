// Which sound an update has: for what a person would otherwise have to look for.
import type { TableUpdate } from "@croupier/client/contract";

/** What is heard: frequencies in hertz, one after another. */
export const SOUNDS = { card: [520], trick: [440, 330], turn: [660, 880], over: [523, 659, 784] } as const;

/** What the viewer's table is after an update. */
interface Heard {
  readonly seat: number | undefined;
  readonly isNewTurn: boolean;
  readonly isOver: boolean;
}

/** Return the sound of an update; undefined if it is of the viewer's own action alone. */
export function soundOf({ seat, facts }: TableUpdate, after: Heard): keyof typeof SOUNDS | undefined {
  if (after.isOver) return "over";
  if (after.isNewTurn) return "turn";
  if (facts.some(({ fact }) => fact.case === "trickTaken")) return "trick";
  return seat === undefined || seat === after.seat ? undefined : "card";
}
