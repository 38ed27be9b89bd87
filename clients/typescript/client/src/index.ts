// The public interface of @croupier/client.
export { type Parts, type Random, complete, randomLegal } from "./choices.js";
export { type Connection, type CroupierClient, type TableTransport, connect, forTable } from "./client.js";
export { Device, type Store } from "./device.js";
export { type Act, DrawnActions } from "./drawn_actions.js";
export { faultOf, isOvertaken, reasonOf, ruleOf, throwUnlessOvertaken } from "./errors.js";
export type { Expandable } from "./expandable.js";
export { type TableSpec, act, awaitsSeat, findMatch, openTable, playAgain, setAway, waitForDeal } from "./game.js";
export { type Language, languageOf, sentence } from "./languages.js";
export { type MyTable, MyTables } from "./my_tables.js";
export { shownPiles } from "./piles.js";
export { randomId } from "./random_id.js";
export { scoreText, shownRound } from "./rounds.js";
export { SeatAway } from "./seat_away.js";
export { actionText, callText, factText, knownTexts, placeText, seatParts, updateTexts } from "./sentences.js";
export { Table } from "./table.js";
export type { Credentials, Session } from "./tokens.js";
export { fold } from "./view.js";
export { Words, texts } from "./words.js";
