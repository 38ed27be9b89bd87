// The replay of a table, and the proof of its deals, as the server streams them.
import { useEffect, useState } from "preact/hooks";

import { type Connection, type Viewer, forTable } from "@croupier/client";
import { type Proof, type Replay, openReplay, verifyReplay } from "@croupier/client/replays";

import { useShared } from "../connection.js";

const READ_MILLISECONDS = 60_000;
/** The file of the longest replay is smaller. */
const MAX_FILE_CHARACTERS = 64 * 1024 * 1024;

interface Opened<T> {
  readonly value: T | undefined;
  readonly fault: unknown;
}

/** Read a replay; while one with other eyes is read, that of before stays. */
export function useReplay(id: string, link: string, eyes: Viewer): Opened<Replay> {
  const { connection } = useShared();
  return useOpened((signal) => openReplay(connection, id, { link, signal, ...(eyes === undefined ? {} : { eyes }) }), [id, link, eyes]);
}

/** Prove the deals of a table. */
export function useProof(id: string, link: string): Opened<Proof> {
  const { connection } = useShared();
  return useOpened(async (signal) => verifyReplay(await fileOf(connection, id, link, signal)), [id, link]);
}

async function fileOf({ engine }: Connection, tableId: string, link: string, signal: AbortSignal): Promise<string> {
  let file = "";
  for await (const { replay } of engine.getReplay({ tableId, link }, { ...forTable(tableId), signal })) {
    file += replay;
    if (file.length > MAX_FILE_CHARACTERS) throw new RangeError("the replay is too long");
  }
  return file;
}

function useOpened<T>(open: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Opened<T> {
  const [opened, setOpened] = useState<Opened<T>>({ value: undefined, fault: undefined });
  useEffect(() => {
    const left = new AbortController();
    open(AbortSignal.any([left.signal, AbortSignal.timeout(READ_MILLISECONDS)])).then(
      (value) => left.signal.aborted || setOpened({ value, fault: undefined }),
      (fault: unknown) => left.signal.aborted || setOpened({ value: undefined, fault }),
    );
    return () => left.abort();
  }, inputs);
  return opened;
}
