// The public interface of @croupier/client.
export { type Parts, type Random, complete, randomLegal } from "./choices.js";
export {
  type ConnectSettings,
  type Connection,
  type CroupierClient,
  type TableTransport,
  connect,
  forTable,
} from "./client.js";
export { Device, type Store, memoryStore, ownStore } from "./device.js";
export { type Act, DrawnActions, SETTLING_MILLISECONDS } from "./drawn_actions.js";
export { faultOf, isOvertaken, metadataOf, reasonOf, retryDelay, ruleOf, throwUnlessOvertaken } from "./errors.js";
export type { Expandable } from "./expandable.js";
export { type Language, type Values, fill, languageOf, sentence } from "./languages.js";
export {
  type MatchSettings,
  type MatchSpec,
  type TableSpec,
  type Target,
  awaitsSeat,
  findMatch,
  findTable,
  joinTable,
  listGames,
  openTable,
  playAgain,
  waitForDeal,
} from "./lobby.js";
export { type MyTable, MyTables } from "./my_tables.js";
export { hasParts, others } from "./options.js";
export { shownPiles } from "./piles.js";
export { deletePlayer, deviceCode, me, rename, signOut } from "./player.js";
export { randomId } from "./random_id.js";
export type { Following, Pacing } from "./retry.js";
export { scoreText, shownRound } from "./rounds.js";
export { actionText, callText, factText, knownTexts, placeText, seatParts, updateTexts } from "./sentences.js";
export { type Candidate, type Missing, Selection, selectionOf } from "./selection.js";
export { type Surroundings, ownSurroundings } from "./surroundings.js";
export { type ActSettings, type EventChange, type StatusChange, Table, type TableChange, type TableSettings } from "./table.js";
export type { Texts } from "./texts/en.js";
export type { Session, TokenSource } from "./tokens.js";
export { type Viewer, fold } from "./view.js";
export { type Decision, type TableStatus, ViewedTable } from "./viewed_table.js";
export type { Socket } from "./web_socket.js";
export { Words, texts } from "./words.js";
