// What all may know beside cards and scores: the contract, and the marks of the table.
import type { Words } from "@croupier/client";
import { type Contract, Suit, type TableView, WordKind } from "@croupier/client/contract";

import { SuitSign } from "../cards/card.js";
import { SUITS } from "../cards/face.js";

/** The chips above the table. */
export function Known({ view: { contract, marks }, words }: { readonly view: TableView; readonly words: Words }) {
  const ofTable = marks.filter(({ seat }) => seat === undefined);
  return (
    <ul class="known">
      {contract !== undefined && <ContractChip contract={contract} words={words} />}
      {ofTable.map((mark) => <li class="chip" key={mark.name}>{words.mark(mark)}</li>)}
    </ul>
  );
}

function ContractChip({ contract, words }: { readonly contract: Contract; readonly words: Words }) {
  const { declarer, partner, name, amount, trump } = contract;
  const suit = trump === undefined ? undefined : SUITS[trump - 1];
  const bid = [name && words.word(WordKind.CONTRACT, name), amount].filter((part) => part !== undefined && part !== "").join(" ");
  const players = [declarer, partner].filter((seat) => seat !== undefined).map((seat) => words.seat(seat)).join(" + ");
  if (!bid && !players && trump === undefined) return null;
  return (
    <li class="chip contract" aria-label={words.contract(contract)}>
      {trump !== undefined && (suit === undefined ? <span>{trump === Suit.UNSPECIFIED ? words.trump(trump) : ""}</span> : <span class="trump"><SuitSign suit={suit} /></span>)}
      {(players || bid) && <span>{[players, bid].filter(Boolean).join(": ")}</span>}
    </li>
  );
}
