// What has gone over the lines of all seats, as JSON of the contract.
import type { JsonValue } from "@bufbuild/protobuf";

export interface Message {
  readonly isSent: boolean;
  readonly json: JsonValue;
}

/** An action that the table has taken. */
export interface Action {
  readonly sequence: number;
  readonly action: JsonValue;
}

/** A message as the panel shows it. */
export interface Entry {
  readonly number: number;
  readonly time: Date;
  readonly title: string;
  readonly text: string;
}

const MAX_MESSAGES = 500;
const MAX_ACTIONS = 5_000;

/** The newest messages of each page, newest first, and the first actions of all, which a test sends again. */
export class Recording {
  private readonly entries = new Map<number, readonly Entry[]>();
  private readonly taken = new Map<number, { readonly page: number; readonly action: JsonValue }>();
  private count = 0;

  constructor(private readonly changed: () => void) {}

  /** The actions in the order of the table. */
  get actions(): readonly { readonly page: number; readonly action: JsonValue }[] {
    return [...this.taken].sort(([one], [other]) => one - other).map(([, action]) => action);
  }

  /** Forget everything: another table begins. */
  clear(): void {
    this.entries.clear();
    this.taken.clear();
  }

  of(page: number): readonly Entry[] {
    return this.entries.get(page) ?? [];
  }

  message(page: number, { isSent, json }: Message): void {
    const title = `${isSent ? "→" : "←"} ${titleOf(json)}`;
    const entry = { number: (this.count += 1), time: new Date(), title, text: JSON.stringify(json, null, 2) };
    this.entries.set(page, [entry, ...this.of(page)].slice(0, MAX_MESSAGES));
    this.changed();
  }

  action(page: number, { sequence, action }: Action): void {
    if (this.taken.size < MAX_ACTIONS) this.taken.set(sequence, { page, action });
    this.changed();
  }
}

/** Return the name of what a message has; that of its event instead of "tableEvent". */
function titleOf(json: JsonValue): string {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return "";
  const { tableEvent, ...others } = json;
  return [tableEvent ?? {}, others].flatMap((each) => Object.keys(each)).join(", ");
}
