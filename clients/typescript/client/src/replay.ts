// The replay of a finished table: its view at every step, with the eyes of a viewer.
import { create } from "@bufbuild/protobuf";

import type { Snapshot, TableEvent, TableUpdate } from "./generated/croupier_api/v1/engine_pb.js";
import { type Fact, type TableView, TableViewSchema } from "./generated/croupier_api/v1/facts_pb.js";
import { type PlayedTable, PlayedTableSchema } from "./generated/croupier_api/v1/tables_pb.js";
import { type CroupierClient, forTable } from "./client.js";
import { reopen } from "./retry.js";
import { type Viewer, fold } from "./view.js";

/** The limit of the entries of a table is 10,000 by default; a longer replay would fill the memory of a page. */
const MAX_STEPS = 100_000;
/** The time within which a replay is read, with all attempts. */
const OPEN_MILLISECONDS = 60_000;
/** The view after each multiple of this number of steps is kept. */
const CHECKPOINT_STEPS = 32;

/** A moment to show on a scrubber: a round begins, a seat takes a trick, a round is scored, or the game is over. */
export interface Moment {
  /** The kind: a round begins, a seat takes a trick, a round is scored, or the game ends. */
  readonly kind: "round" | "trick" | "score" | "end";
  /** The step that leads to the moment. */
  readonly step: number;
  /** The number of the round, from 1. */
  readonly round: number;
  /** The seat that takes the trick; undefined for another kind. */
  readonly seat: number | undefined;
}

/** A finished table from step 0, before its first entry, to step `length`, its end. */
export interface Replay {
  /** The table before its first entry. */
  readonly table: PlayedTable;
  /** The viewer whose knowledge it shows. */
  readonly eyes: Viewer;
  /** The number of steps. */
  readonly length: number;
  /** All moments, in order. */
  readonly moments: readonly Moment[];
  /** Return the view after a step, from 0 on; throws RangeError for another one. */
  viewAt(step: number): TableView;
  /** Return the update that leads to a step, from 1 on; throws RangeError for another one. */
  updateAt(step: number): TableUpdate;
  /** Return the time of a step from 1 on, in milliseconds since 1970 UTC; throws RangeError for another one. */
  timeAt(step: number): number;
}

/** How a replay is opened. */
export interface ReplayOptions {
  /** A link of CreateLink, for a player who needs one. */
  readonly link?: string;
  /** The viewer whose eyes the game is seen with; by default a spectator. */
  readonly eyes?: Viewer;
  /** Ends the reading; by default it ends after a minute. */
  readonly signal?: AbortSignal;
}

/**
 * Read the whole replay of a finished table; a lost stream is read again. Throws the refusal of the table, the reason of
 * the signal, and an error for a replay that is too long or does not fit together.
 */
export async function openReplay(connection: CroupierClient, tableId: string, options: ReplayOptions = {}): Promise<Replay> {
  const { link = "", eyes, signal = AbortSignal.timeout(OPEN_MILLISECONDS) } = options;
  const request = { tableId, link, ...eyesOf(eyes) };
  const calls = { ...forTable(tableId), timeoutMs: OPEN_MILLISECONDS };
  let read: TableEvent[] = [];
  const isOver = () => revealsSeed(read.at(-1));
  const parts = reopen((signal) => connection.engine.watchReplay(request, { ...calls, signal }), isOver, { signal });
  for await (const { tableEvents } of parts) {
    // Every stream begins with the snapshot.
    if (tableEvents[0]?.eventKind.case === "snapshot") read = [];
    read.push(...tableEvents);
    if (read.length > MAX_STEPS) throw new RangeError(`the replay has more than ${MAX_STEPS} steps`);
  }
  return replayOf(read, eyes);
}

function eyesOf(eyes: Viewer) {
  if (eyes === "all") return { allSeats: true };
  return eyes === undefined ? {} : { seat: eyes };
}

/** Return whether an event ends the game: only the last one reveals the seed. */
function revealsSeed(event: TableEvent | undefined): boolean {
  return event?.eventKind.case === "update" && event.eventKind.value.revealedSeed !== "";
}

/** Return the replay of all events of WatchReplay; throws for events that do not fit together. */
export function replayOf(events: readonly TableEvent[], eyes: Viewer): Replay {
  const [first, ...others] = events;
  if (first?.eventKind.case !== "snapshot") throw new Error("the replay does not begin with a snapshot");
  const updates = others.map(({ eventKind }, index) => {
    if (eventKind.case === "update" && eventKind.value.sequence === BigInt(index + 1)) return eventKind.value;
    throw new Error(`entry ${index + 1} of the replay is missing`);
  });
  const checkpoints = checkpointsOf(first.eventKind.value, updates, eyes);
  const updateAt = (step: number) => at(updates, step - 1, step);
  return {
    table: first.eventKind.value.table ?? create(PlayedTableSchema),
    eyes,
    length: updates.length,
    moments: momentsOf(updates),
    viewAt: (step) => {
      if (!Number.isInteger(step) || step > updates.length) throw outOfRange(step);
      const before = Math.floor(step / CHECKPOINT_STEPS);
      return fold(at(checkpoints, before, step), factsOf(updates.slice(before * CHECKPOINT_STEPS, step)), eyes);
    },
    updateAt,
    timeAt: (step) => Number(updateAt(step).storedUnixMs),
  };
}

/** Return the views after each multiple of CHECKPOINT_STEPS, from step 0 on. */
function checkpointsOf(snapshot: Snapshot, updates: readonly TableUpdate[], eyes: Viewer): readonly TableView[] {
  let view = snapshot.view ?? create(TableViewSchema);
  const checkpoints = [view];
  for (let step = 0; step < updates.length; step += CHECKPOINT_STEPS) {
    view = fold(view, factsOf(updates.slice(step, step + CHECKPOINT_STEPS)), eyes);
    checkpoints.push(view);
  }
  return checkpoints;
}

function factsOf(updates: readonly TableUpdate[]): readonly Fact[] {
  return updates.flatMap(({ facts }) => facts);
}

function momentsOf(updates: readonly TableUpdate[]): readonly Moment[] {
  let round = 0;
  return updates.flatMap(({ facts }, index) =>
    facts.flatMap(({ fact }): readonly Moment[] => {
      if (fact.case === "roundStarted") ({ round } = fact.value);
      const moment = { step: index + 1, round, seat: undefined };
      switch (fact.case) {
        case "roundStarted":
          return [{ ...moment, kind: "round" }];
        case "trickTaken":
          return [{ ...moment, kind: "trick", seat: fact.value.seat }];
        case "roundEnded":
          return [{ ...moment, kind: "score" }];
        case "gameEnded":
          return [{ ...moment, kind: "end" }];
        default:
          return [];
      }
    }),
  );
}

function at<T>(values: readonly T[], index: number, step: number): T {
  const value = values[index];
  if (value === undefined) throw outOfRange(step);
  return value;
}

function outOfRange(step: number): RangeError {
  return new RangeError(`invalid step ${step}`);
}
