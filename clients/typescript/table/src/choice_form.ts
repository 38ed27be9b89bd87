// A form for an action with parts that the player chooses.
import type { Action, ActionChoice } from "@croupier/client/contract";
import { type Words, actionText, complete } from "@croupier/client";
import { make, makeSelect } from "./dom.js";

/** Return a form in which a player completes an action, which goes to `take`. */
export function choiceForm(choice: ActionChoice, words: Words, take: (action: Action) => void): HTMLFormElement {
  const { cards, suits, amount, seats } = choice;
  const boxes = (cards?.cards ?? []).map((card) => ({ card, box: make("input", { type: "checkbox" }) }));
  const suit = makeSelect(suits.map((value) => words.suit(value)));
  const seat = makeSelect(seats.map((value) => words.seat(value)));
  const number = make("input", { type: "number" });
  if (amount !== undefined) {
    const [min, max] = [`${amount.minAmount}`, `${amount.maxAmount}`];
    Object.assign(number, { min, max, step: `${amount.step}`, value: min, required: true });
  }
  const chosenCards = () => boxes.filter(({ box }) => box.checked).map(({ card }) => card);
  const text = choice.action === undefined ? "" : actionText(choice.action, words);
  const button = make("button", {}, text);
  const legend = cards === undefined ? text : `${text}: ${words.say("cards", { count: rangeText(cards.minCards, cards.maxCards) })}`;
  const fields = [
    ...boxes.map(({ card, box }) => make("label", {}, box, words.card(card))),
    ...(suits.length === 0 ? [] : [make("label", {}, words.say("suit"), " ", suit)]),
    ...(seats.length === 0 ? [] : [make("label", {}, words.say("seatToName"), " ", seat)]),
    ...(amount === undefined ? [] : [make("label", {}, words.say("amount"), " ", number)]),
  ];
  const form = make("form", {}, make("fieldset", {}, make("legend", {}, legend), ...fields, button));
  const checkCount = () => {
    const count = chosenCards().length;
    button.disabled = cards !== undefined && (count < cards.minCards || count > cards.maxCards);
  };
  form.addEventListener("change", checkCount);
  checkCount();
  form.addEventListener("submit", (submitted) => {
    submitted.preventDefault();
    take(
      complete(choice, {
        cards: cards && chosenCards(),
        suit: suits[suit.selectedIndex],
        seat: seats[seat.selectedIndex],
        amount: amount && number.valueAsNumber,
      }),
    );
  });
  return form;
}

function rangeText(least: number, most: number): string {
  return least === most ? `${most}` : `${least}–${most}`;
}
