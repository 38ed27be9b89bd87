// Updates as scenes: steps that are shown one after another, each long enough to be seen.
import { type Viewer, fold } from "@croupier/client";
import { type CardsMoved, type Fact, type GameDescription, type Pile, PileRole, type RoundScore, type TableUpdate, type TableView } from "@croupier/client/contract";

/** A step to show: the state, the facts that led to it, and how long the one before stays at least, in milliseconds. */
export interface Scene {
  readonly view: TableView;
  readonly facts: readonly Fact[];
  readonly restBefore: number;
}

/** Between the actions of different seats: bots do not rush. */
const ACTION_MILLISECONDS = 450;
/** A whole trick lies on the table before it goes. */
const TRICK_MILLISECONDS = 1_100;
/** The end of a round, before the next one begins. */
export const ROUND_MILLISECONDS = 1_800;

/** Return the scenes of an update after the scene before, as a viewer sees them. */
export function scenesOf(before: Scene, update: TableUpdate, viewer: Viewer, game: GameDescription): Scene[] {
  const isOwn = update.seat !== undefined && update.seat === viewer;
  let last = before;
  return partsOf(update.facts, game).map(({ facts, restBefore }) => {
    const view = facts.length === 0 ? last.view : fold(last.view, facts, viewer);
    const rest = roundEndOf(last) === undefined ? restBefore : ROUND_MILLISECONDS;
    last = { view, facts, restBefore: rest ?? (isOwn ? 0 : ACTION_MILLISECONDS) };
    return last;
  });
}

/** Return the score of the round that ends in a scene; undefined if none does. */
export function roundEndOf({ facts }: Scene): RoundScore | undefined {
  const ended = facts.findLast(({ fact }) => fact.case === "roundEnded")?.fact;
  return ended?.case === "roundEnded" ? ended.value.score : undefined;
}

/** A trick that went from the table, whole. */
export interface LastTrick {
  readonly cards: Pile["cards"];
  /** The seat that took it; undefined if none did. */
  readonly taker: number | undefined;
}

/** Return the last trick that went in these scenes; `before` is the view before the first. */
export function lastTrickOf(before: TableView, scenes: readonly Scene[], game: GameDescription): LastTrick | undefined {
  const index = scenes.findLastIndex(({ facts }) => facts.some(({ fact }) => fact.case === "cardsMoved" && leavesTrick(fact.value, game)));
  const { piles } = scenes[index - 1]?.view ?? before;
  const pile = index < 0 ? undefined : piles.find(({ name, cards }) => cards.length > 0 && isTrick(name, game));
  if (pile === undefined) return undefined;
  const taken = scenes[index]?.facts.find(({ fact }) => fact.case === "trickTaken")?.fact;
  return { cards: pile.cards, taker: taken?.case === "trickTaken" ? taken.value.seat : undefined };
}

interface Part {
  readonly facts: Fact[];
  /** Undefined for the first part. */
  readonly restBefore: number | undefined;
}

/** Return the facts in parts that begin where a trick goes, and where a round begins after something else. */
function partsOf(facts: readonly Fact[], game: GameDescription): Part[] {
  const parts: Part[] = [{ facts: [], restBefore: undefined }];
  for (const fact of facts) {
    const part = parts.at(-1);
    const rest = restBefore(fact, game);
    const isFirst = part?.facts.length === 0;
    const goesOn = rest === TRICK_MILLISECONDS && part?.restBefore === TRICK_MILLISECONDS;
    if (rest !== undefined && !isFirst && !goesOn) parts.push({ facts: [fact], restBefore: rest });
    else part?.facts.push(fact);
  }
  return parts;
}

function restBefore({ fact }: Fact, game: GameDescription): number | undefined {
  if (fact.case === "roundStarted") return ROUND_MILLISECONDS;
  if (fact.case === "trickTaken") return TRICK_MILLISECONDS;
  return fact.case === "cardsMoved" && leavesTrick(fact.value, game) ? TRICK_MILLISECONDS : undefined;
}

function leavesTrick({ source }: CardsMoved, game: GameDescription): boolean {
  return source?.place.case === "pile" && isTrick(source.place.value, game);
}

function isTrick(name: string, { piles }: GameDescription): boolean {
  return piles.some((pile) => pile.name === name && pile.role === PileRole.TRICK);
}
