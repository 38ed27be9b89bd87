// The middle of the table: the trick, and the other piles by their roles.
import type { Words } from "@croupier/client";
import { type Pile, PileDisplay, PileRole, WordKind } from "@croupier/client/contract";

import { CardBack, CardFront } from "../cards/card.js";
import { faceOf } from "../cards/face.js";
import type { Frame } from "./frame.js";
import { liesInRow, trickPlaceOf } from "./places.js";

/** With more cards than these, two piles are too wide for a corner of the felt. */
const MAX_ASIDE = 3;

/** The piles of a seat that its badge does not count, and the piles of the table, are drawn here. */
interface FeltProps {
  readonly frame: Frame;
  readonly words: Words;
  readonly openPile: (pile: Pile) => void;
}

export function Felt({ frame, words, openPile }: FeltProps) {
  const { view: { piles }, seats, seat: viewer = 0 } = frame;
  const roleOf = (pile: Pile) => words.game.piles.find(({ name }) => name === pile.name);
  const withRole = (...roles: PileRole[]) => piles.filter((pile) => roles.includes(roleOf(pile)?.role ?? PileRole.UNSPECIFIED));
  const draws = withRole(PileRole.STOCK, PileRole.WASTE, PileRole.UNSPECIFIED);
  const aside = [...withRole(PileRole.KITTY, PileRole.INDICATOR), ...withRole(PileRole.REMOVED).filter((pile) => roleOf(pile)?.display !== PileDisplay.COUNT), ...withRole(PileRole.TAKEN).filter(({ owner }) => owner === undefined)];
  const laid = withRole(PileRole.MELD, PileRole.RESERVE);
  const tricks = withRole(PileRole.TRICK);
  const isFull = laid.length > 0 || (aside.length > 1 && aside.reduce((faces, pile) => faces + facesOf(pile, roleOf(pile)?.display).length, 0) > MAX_ASIDE) || tricks.some(isRow);
  const isAcross = ({ owner }: Pile) => seats.length === 2 && owner === 1 - viewer;
  const shown = (pile: Pile) => <PileOf key={placeName(pile)} pile={pile} display={roleOf(pile)?.display} words={words} open={openPile} />;
  const row = (name: string, shownPiles: readonly Pile[]) => shownPiles.length > 0 && <div class={name}>{shownPiles.map(shown)}</div>;
  return (
    <div class="felt" data-trick={tricks.length > 0} data-full={isFull}>
      {row("draws", draws)}
      {row("laid across", laid.filter(isAcross))}
      {tricks.map((pile) => <Trick key={placeName(pile)} pile={pile} frame={frame} words={words} />)}
      {isFull ? row("laid", [...laid.filter((pile) => !isAcross(pile)), ...aside]) : row("aside", aside)}
    </div>
  );
}

/** Return the cards of a pile that are drawn: the last of those that lie open, or the one on top. */
function facesOf({ cards, count }: Pile, display: PileDisplay | undefined): Pile["cards"] {
  const all = display === PileDisplay.ALL || display === PileDisplay.UNSPECIFIED;
  // Of a pile that is known in part, no card need be the one on top.
  return cards.length === count && display !== PileDisplay.COUNT ? cards.slice(all ? -6 : -1) : [];
}

function isRow({ cards }: Pile): boolean {
  return liesInRow(cards.map(({ seat }) => seat));
}

/** The cards of a trick: each towards the seat from whose hand it came, or in a row. */
function Trick({ pile, frame: { seats, seat: viewer = 0 }, words }: { readonly pile: Pile; readonly frame: Frame; readonly words: Words }) {
  return (
    <div class="trick" data-row={isRow(pile)} data-place={placeName(pile)} role="img" aria-label={pileLabel(pile, words)}>
      {pile.cards.map(({ card, seat }, position) => {
        const { x, y } = trickPlaceOf(seat, seats.length, viewer);
        return (
          <span class="in-trick" key={position} data-card={card} style={{ "--x": `${x}%`, "--y": `${y}%`, "--turn": `${tilt(position)}deg` }}>
            <CardFront face={faceOf(card, words.game)} />
          </span>
        );
      })}
    </div>
  );
}

interface PileProps {
  readonly pile: Pile;
  readonly display: PileDisplay | undefined;
  readonly words: Words;
  readonly open: (pile: Pile) => void;
}

function PileOf({ pile, display, words, open }: PileProps) {
  const { count } = pile;
  const faces = facesOf(pile, display);
  return (
    <button type="button" class="pile" data-place={placeName(pile)} onClick={() => open(pile)} aria-label={pileLabel(pile, words)}>
      <span class="pile-cards" data-many={count > 1}>
        {faces.length === 0 ? <CardBack /> : faces.map(({ card }, position) => <span key={position} data-card={card}><CardFront face={faceOf(card, words.game)} /></span>)}
        {(faces.length < count || faces.length === 0) && <span class="count">{count}</span>}
      </span>
      <span class="pile-name">{words.owned(WordKind.PILE, pile.name, pile.owner)}</span>
    </button>
  );
}

/** Return the name of a pile among the places of a page. */
export function placeName({ name, owner }: Pick<Pile, "name" | "owner">): string {
  return owner === undefined ? `pile:${name}` : `pile:${name}:${owner}`;
}

function pileLabel(pile: Pile, words: Words): string {
  const known = pile.cards.map(({ card }) => words.card(card)).join(" ");
  return `${words.owned(WordKind.PILE, pile.name, pile.owner)}: ${known || words.cards([], pile.count)}`;
}

/** Return by how much a card lies askew, which a table of cards that were thrown has. */
function tilt(position: number): number {
  return ((position * 37) % 9) - 4;
}
