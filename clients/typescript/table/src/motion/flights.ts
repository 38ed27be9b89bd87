// Cards that move from where they were to where they are: places are measured before and after a state is drawn.
import type { CardsMoved, Fact, Place } from "@croupier/client/contract";

const FLIGHT_MILLISECONDS = 320;
const DEAL_STEP_MILLISECONDS = 45;
/** Of more cards that move at once, so many are seen to move. */
const MAX_FLYING = 10;
const EASING = "cubic-bezier(0.2, 0.7, 0.2, 1)";
/** The place of the box, from which cards are dealt: the middle of the table. */
const BOX = "box";

/** Where places and their cards were. */
export interface Measured {
  readonly places: ReadonlyMap<string, DOMRect>;
  /** By place, card, and number among equal cards of the place. */
  readonly cards: ReadonlyMap<string, DOMRect>;
}

/** Return where places and cards are now. */
export function measure(root: HTMLElement): Measured {
  const elements = [...root.querySelectorAll<HTMLElement>("[data-place]")];
  const places = elements.map((element) => [element.dataset["place"] ?? "", element.getBoundingClientRect()] as const);
  const cards = elements.flatMap((element) => [...cardsIn(element)].map(([key, card]) => [key, card.getBoundingClientRect()] as const));
  return { places: new Map(places), cards: new Map(cards) };
}

/** Let cards move from where they were before the facts. */
export function fly(root: HTMLElement, before: Measured, facts: readonly Fact[]): void {
  const now = new Map([...root.querySelectorAll<HTMLElement>("[data-place]")].flatMap((place) => [...cardsIn(place)]));
  const flown = new Set<HTMLElement>();
  const winner = facts.flatMap(({ fact }) => (fact.case === "trickTaken" ? [fact.value.seat] : []))[0];
  let delay = 0;
  for (const { fact } of facts) {
    if (fact.case !== "cardsMoved") continue;
    for (const [index, flight] of flightsOf(fact.value, winner).entries()) {
      const element = flight.card === undefined ? undefined : findLast(now, `${flight.to} ${flight.card} `, flown);
      const from = (flight.card === undefined ? undefined : before.cards.get(`${flight.from} ${flight.card} 0`)) ?? before.places.get(flight.from);
      const isDeal = flight.from === BOX;
      if (from !== undefined && element !== undefined) {
        flown.add(element);
        animate(element, from, element.getBoundingClientRect(), delay);
      } else if (from !== undefined && index < MAX_FLYING) flyGhost(root, from, flight.to, delay);
      if (isDeal) delay += DEAL_STEP_MILLISECONDS;
    }
  }
  for (const [key, element] of now) {
    const from = before.cards.get(key);
    const to = element.getBoundingClientRect();
    if (from !== undefined && !flown.has(element) && Math.abs(from.x - to.x) + Math.abs(from.y - to.y) > 2) animate(element, from, to, 0);
  }
}

interface Flight {
  readonly from: string;
  readonly to: string;
  readonly card: number | undefined;
}

/** Return the flights of a move; cards of a trick go to the seat that takes it. */
function flightsOf({ source, target, cards, count }: CardsMoved, winner: number | undefined): Flight[] {
  const from = nameOf(source);
  const to = winner !== undefined && source?.place.case === "pile" ? `hand:${winner}` : nameOf(target);
  return Array.from({ length: Math.min(count, Math.max(cards.length, MAX_FLYING)) }, (_, index) => ({ from, to, card: cards[index] }));
}

function nameOf(place: Place | undefined): string {
  if (place?.place.case === "hand") return `hand:${place.place.value}`;
  if (place?.place.case !== "pile") return BOX;
  return place.owner === undefined ? `pile:${place.place.value}` : `pile:${place.place.value}:${place.owner}`;
}

function* cardsIn(place: HTMLElement): Generator<[string, HTMLElement]> {
  const counts = new Map<string, number>();
  for (const element of place.querySelectorAll<HTMLElement>("[data-card]")) {
    const key = `${place.dataset["place"]} ${element.dataset["card"]}`;
    const copy = counts.get(key) ?? 0;
    counts.set(key, copy + 1);
    yield [`${key} ${copy}`, element];
  }
}

function findLast(cards: ReadonlyMap<string, HTMLElement>, prefix: string, flown: ReadonlySet<HTMLElement>): HTMLElement | undefined {
  return [...cards].findLast(([key, element]) => key.startsWith(prefix) && !flown.has(element))?.[1];
}

function animate(element: HTMLElement, from: DOMRect, to: DOMRect, delay: number): void {
  const [x, y] = [from.x + from.width / 2 - to.x - to.width / 2, from.y + from.height / 2 - to.y - to.height / 2];
  const scale = to.width === 0 ? 1 : Math.min(1.6, Math.max(0.3, Math.min(from.width, to.width * 2) / to.width));
  element.animate(
    [{ transform: `translate(${x}px, ${y}px) scale(${scale})`, zIndex: 5 }, { transform: "none", zIndex: 5 }],
    { duration: FLIGHT_MILLISECONDS, delay, easing: EASING, fill: "backwards" },
  );
}

/** Let the back of a card move to a place that shows no cards, and vanish there. */
function flyGhost(root: HTMLElement, from: DOMRect, to: string, delay: number): void {
  const place = root.querySelector<HTMLElement>(`[data-place="${CSS.escape(to)}"]`) ?? seatOf(root, to);
  if (place === null) return;
  const target = place.getBoundingClientRect();
  const ghost = Object.assign(document.createElement("span"), { className: "card back ghost" });
  root.append(ghost);
  const at = (rect: DOMRect) => `translate(${rect.x + rect.width / 2}px, ${rect.y + rect.height / 2}px) translate(-50%, -50%)`;
  const frames = [{ transform: at(from), opacity: 1 }, { transform: `${at(target)} scale(0.6)`, opacity: 0.2 }];
  const flight = ghost.animate(frames, { duration: FLIGHT_MILLISECONDS, delay, easing: EASING, fill: "both" });
  void flight.finished.catch(() => undefined).then(() => ghost.remove());
}

/** Return the badge of the seat that owns a pile that is not drawn. */
function seatOf(root: HTMLElement, place: string): HTMLElement | null {
  const owner = /^pile:.*:(\d+)$/.exec(place)?.[1];
  return owner === undefined ? null : root.querySelector(`[data-place="hand:${owner}"]`);
}
