// What taps on cards choose, and which buttons say what, whatever the game.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type MessageInitShape, create, toJson } from "@bufbuild/protobuf";

import { type Decision, type Selection, Words } from "@croupier/client";
import { type Action, ActionSchema, Card, GameDescriptionSchema, LegalActionsSchema, Suit } from "@croupier/client/contract";

import { sayIn } from "../texts/page_texts.js";
import { buttonsOf, hintOf, isChoosing, nothingChosen, refusableAction, tapCard } from "./turn.js";

type Init = MessageInitShape<typeof LegalActionsSchema>;

const [THREE, QUEEN] = [Card.THREE_OF_CLUBS, Card.QUEEN_OF_HEARTS];
const NINES = [Card.NINE_OF_CLUBS, Card.NINE_OF_DIAMONDS, Card.NINE_OF_HEARTS] as const;
const TENS = [Card.TEN_OF_CLUBS, Card.TEN_OF_DIAMONDS] as const;
const [NINE, OTHER_NINE] = NINES;
const PASS = { verb: { case: "passTurn", value: {} } } as const;
const SAY = sayIn("en");
const WORDS = new Words(create(GameDescriptionSchema), "en", ["Ada", "Bo"]);

function play(card: Card, suit = Suit.UNSPECIFIED) {
  return { verb: { case: "play" as const, value: { card, suit } } };
}

function lay(cards: readonly Card[], more: { readonly meld?: string; readonly pile?: string; readonly owner?: number } = {}) {
  return { verb: { case: "lay" as const, value: { cards: [...cards], ...more } } };
}

function layOf(cards: readonly Card[], minCards: number, maxCards: number) {
  return { action: lay([]), cards: { cards: [...cards], minCards, maxCards } };
}

const BOAST = {
  action: { verb: { case: "declareWord" as const, value: { word: "boast" } } },
  cards: { cards: [NINE, THREE], minCards: 1, maxCards: 1 },
  amount: { minAmount: 1, maxAmount: 3, step: 1 },
  seats: [1, 2],
};

/** A person at a turn, who taps cards and buttons. */
class Person {
  readonly decision: Decision;
  readonly acted: unknown[] = [];
  private selection: Selection;

  constructor(init: Init, private readonly playsByOneTap = false) {
    const legal = create(LegalActionsSchema, init);
    this.decision = { sequence: 1n, expectedSequence: 1n, legal };
    this.selection = nothingChosen(legal);
  }

  private readonly deeds = {
    choose: (selection: Selection) => void (this.selection = selection),
    act: (action: Action) => void this.acted.push(shown(action)),
  };

  get hint(): string {
    return hintOf(this.decision, this.selection, SAY);
  }

  /** The texts of the buttons: the main ones with a star, disabled ones in brackets, pressed ones with an arrow. */
  get buttons(): string[] {
    return this.drawn.map(({ text, isMain, isDisabled, isPressed }) => {
      const marked = `${isPressed ? "> " : ""}${text}${isMain ? "*" : ""}`;
      return isDisabled ? `[${marked}]` : marked;
    });
  }

  tap(...cards: Card[]): this {
    for (const card of cards) tapCard(this.selection, card, this.playsByOneTap, this.deeds);
    return this;
  }

  press(text: string): this {
    (this.drawn.find((button) => button.text === text) ?? assert.fail(`no button ${text}: ${this.buttons.join(", ")}`)).act();
    return this;
  }

  private get drawn() {
    return buttonsOf(this.decision, this.selection, WORDS, SAY, this.deeds);
  }
}

function shown(action: MessageInitShape<typeof ActionSchema>): unknown {
  return toJson(ActionSchema, create(ActionSchema, action));
}

test("a second tap plays a lifted card, and with one tap the first", () => {
  const plays = { actions: [play(NINE), play(THREE), PASS] };
  const person = new Person(plays).tap(NINE);
  assert.deepEqual([person.hint, person.buttons, person.acted], ["Tap the card again to play it", ["pass"], []]);
  assert.deepEqual(person.tap(THREE, THREE).acted, [shown(play(THREE))]);
  assert.deepEqual(new Person(plays, true).tap(NINE).acted, [shown(play(NINE))]);
});

test("a card that orders a suit has a button for each, and no other buttons", () => {
  const person = new Person({ actions: [play(QUEEN, Suit.HEARTS), play(QUEEN, Suit.SPADES), { verb: { case: "draw", value: {} } }] });
  assert.deepEqual([person.hint, person.buttons], ["Your turn", ["draw"]]);
  assert.deepEqual(person.tap(QUEEN).buttons, ["play Q♥, order ♥*", "play Q♥, order ♠*"]);
  assert.deepEqual(person.tap(QUEEN).buttons, ["draw"]);
});

test("sets of several ranks and a single card are laid by taps, and the button names the cards", () => {
  const lead = { actions: [lay([THREE])], choices: [layOf(NINES, 1, 3), layOf(TENS, 1, 2)] };
  const person = new Person(lead, true);
  assert.deepEqual([person.hint, person.buttons], ["Choose cards: 0, from 1 to 3", ["[lay*]"]]);
  assert.deepEqual(person.tap(NINE).buttons, ["lay 9♣*"]);
  assert.deepEqual(person.tap(OTHER_NINE).buttons, ["lay 9♣ 9♦*"]);
  assert.deepEqual(person.tap(THREE).buttons, ["lay 3♣*"]);
  assert.deepEqual([person.hint, person.acted], ["Choose cards: 1 of 1", []], "a tap beside combinations chooses");
  assert.deepEqual(person.tap(TENS[1], TENS[0]).press("lay 10♦ 10♣").acted, [shown(lay([TENS[1], TENS[0]]))]);
});

test("an incomplete set cannot be laid, and one without a choice has a button at once", () => {
  const person = new Person({ actions: [PASS], choices: [layOf(NINES, 2, 2), layOf(TENS, 2, 2)] });
  assert.deepEqual([person.hint, person.buttons], ["Choose cards: 0 of 2", ["[lay*]", "lay 10♣ 10♦", "pass"]]);
  assert.deepEqual(person.tap(NINE).buttons, ["[lay*]", "pass"]);
  assert.deepEqual(person.tap(OTHER_NINE).buttons, ["lay 9♣ 9♦*", "pass"]);
  assert.deepEqual(person.tap(TENS[0]).buttons, ["lay 10♣ 10♦", "pass"]);
  assert.deepEqual(person.tap(TENS[1]).buttons, ["lay 10♣ 10♦*", "pass"]);
});

test("the buttons of listed melds name their cards, and of many melds none has a button before a card is chosen", () => {
  const [set, run, off, more] = [lay(NINES, { meld: "set" }), lay([NINE, TENS[0]], { meld: "run" }), lay([NINE], { pile: "first", owner: 1 }), lay(TENS)];
  const few = new Person({ actions: [set, run, off, PASS] });
  assert.deepEqual(few.buttons, ["lay 9♣ 9♦ 9♥: set", "lay 9♣ 10♣: run", "pass"]);
  assert.deepEqual(few.tap(NINE).buttons, ["lay 9♣ 9♦ 9♥: set", "lay 9♣ 10♣: run", "lay 9♣: first (Bo)*"]);
  assert.deepEqual(few.tap(TENS[0]).buttons, ["lay 9♣ 10♣: run*", "pass"]);
  const many = new Person({ actions: [set, run, off, more, lay([...NINES, THREE], { meld: "set" }), PASS] });
  assert.deepEqual([many.hint, many.buttons], ["Choose cards: 0, from 1 to 4", ["pass"]]);
  assert.deepEqual(many.tap(TENS[1]).buttons, ["lay 10♣ 10♦", "pass"]);
});

test("a card to play can be exchanged as well", () => {
  const swap = { action: { verb: { case: "swapCards" as const, value: {} } }, cards: { cards: [NINE, THREE], minCards: 1, maxCards: 2 } };
  const person = new Person({ actions: [play(NINE), play(QUEEN)], choices: [swap] });
  assert.deepEqual(person.tap(NINE).buttons, ["exchange 9♣*", "play 9♣*"]);
  assert.deepEqual(person.tap(THREE).buttons, ["exchange 9♣ 3♣*"]);
  assert.deepEqual([person.tap(QUEEN).hint, person.buttons], ["Tap the card again to play it", []]);
});

test("a choice with further parts is chosen by its button, and given up by another tap on it", () => {
  const person = new Person({ choices: [layOf([NINE, THREE], 1, 2), BOAST] }).tap(NINE);
  assert.deepEqual(person.buttons, ["lay 9♣*", "say “boast”"]);
  assert.deepEqual(person.press("say “boast”").buttons, ["> say “boast”", "Bo", "seat 3", "[−]", "[1]", "+"]);
  assert.equal(person.hint, "Choose a player");
  person.press("Bo").press("+");
  assert.deepEqual(person.buttons, ["> say “boast”", "> Bo", "seat 3", "−", "[2]", "+", "say “boast”, Bo, 2, 9♣*"]);
  assert.deepEqual(person.press("say “boast”").buttons, ["[lay*]", "say “boast”"]);
});

test("the only choice shows its parts and its confirmation at once", () => {
  const bid = { action: { verb: { case: "bid" as const, value: {} } }, amount: { minAmount: 10, maxAmount: 30, step: 10 } };
  const person = new Person({ actions: [PASS], choices: [bid] });
  assert.deepEqual([person.hint, person.buttons], ["Your turn", ["[−]", "[10]", "+", "bid 10*", "pass"]]);
  assert.deepEqual(person.press("+").press("bid 20").acted, [shown({ verb: { case: "bid", value: { bid: { case: "amount", value: 20 } } } })]);
  const playing = new Person({ actions: [play(NINE), play(THREE)], choices: [bid] });
  assert.deepEqual([playing.buttons, playing.tap(NINE).buttons], [["[−]", "[10]", "+", "bid 10*"], []]);
  const keep = { action: { verb: { case: "keepCards" as const, value: {} } }, cards: { cards: [...NINES], minCards: 2, maxCards: 2 }, suits: [Suit.HEARTS, Suit.SPADES] };
  const keeping = new Person({ choices: [keep] });
  assert.deepEqual([keeping.hint, keeping.buttons], ["Choose cards: 0 of 2", ["♥", "♠", "[keep*]"]]);
  assert.equal(keeping.tap(NINE, OTHER_NINE).hint, "Choose a suit");
  assert.deepEqual(keeping.press("♠").buttons, ["♥", "> ♠", "keep 9♣ 9♦, trump: ♠*"]);
  assert.equal(keeping.hint, "Choose cards: 2 of 2");
});

test("actions whose texts are equal are numbered, and equal actions have one button", () => {
  const named = (owner: number) => lay([], { owner });
  assert.deepEqual(new Person({ actions: [named(0), named(1), PASS] }).buttons, ["lay (1)", "lay (2)", "pass"]);
  assert.deepEqual(new Person({ actions: [lay(TENS), lay(TENS)] }).buttons, ["lay 10♣ 10♦"]);
});

test("taps choose where a button confirms, and play where none does", () => {
  const turns: readonly [Init, boolean][] = [
    [{ actions: [play(NINE)] }, false],
    [{ actions: [lay([NINE]), lay([THREE]), PASS] }, false],
    [{ actions: [play(NINE), { verb: { case: "declareWord", value: { word: "pair", cards: [NINE, QUEEN] } } }] }, false],
    [{ actions: [lay([NINE])], choices: [layOf(TENS, 1, 2)] }, true],
    [{ actions: [lay(NINES)] }, true],
    [{ choices: [BOAST] }, true],
    [{ actions: [PASS] }, false],
  ];
  for (const [init, expected] of turns) assert.equal(isChoosing(create(LegalActionsSchema, init)), expected);
});

test("a card that nothing legal has is refused by the rules, and no legal action is taken for it", () => {
  const answer = create(LegalActionsSchema, { actions: [PASS], choices: [layOf(NINES, 2, 2)] });
  assert.deepEqual(refusableAction(answer, THREE), create(ActionSchema, lay([THREE])));
  assert.deepEqual(refusableAction(create(LegalActionsSchema, { actions: [play(NINE)] }), THREE), create(ActionSchema, play(THREE)));
  for (const card of NINES) assert.equal(refusableAction(answer, card), undefined);
  assert.equal(refusableAction(create(LegalActionsSchema, { actions: [PASS] }), THREE), undefined);
});
