// A table's events and the player's actions over one WebSocket, in place of WatchTable and SubmitAction over gRPC-Web.
import { type MessageInitShape, create, fromBinary, isMessage, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor, type StreamRequest } from "@connectrpc/connect";

import {
  type ActionAnswer,
  EngineService,
  PlayTableRequestSchema,
  PlayTableResponseSchema,
  type SubmitActionRequest,
  SubmitActionRequestSchema,
  type SubmitActionResponse,
  SubmitActionResponseSchema,
  type TableEvent,
  WatchTableRequestSchema,
  type WatchTableResponse,
  WatchTableResponseSchema,
} from "./generated/croupier_api/v1/engine_pb.js";
import { errorOf } from "./errors.js";

/** Messages that their reader has not taken yet: beyond these a stream ends, and resumes after the last one taken. */
const MAX_UNREAD = 1_024;
/** The stream ended with the game, or after a resume notice. */
const ENDED: ReadonlySet<number> = new Set([1_000, 1_001]);
/** The close code of a refusal is this plus the code of gRPC. */
const REFUSED = 4_000;

/** The part of a WebSocket that a stream needs. */
export interface Socket extends Pick<WebSocket, "binaryType" | "addEventListener" | "close"> {
  /** Send a binary frame. */
  send(data: Uint8Array<ArrayBuffer>): void;
}

/**
 * Send WatchTable over a WebSocket, and SubmitAction over that of its table once it has messages: the last interceptor of
 * a client, so that those before it renew tokens and retry as for gRPC-Web. Needs the WebSocket of a browser, or of Node
 * from version 22.
 */
export function overWebSocket(address: string, open: (url: string) => Socket = (url) => new WebSocket(url)): Interceptor {
  const streams = new Map<string, TableStream>();
  async function* watch({ message, header, signal }: StreamRequest): AsyncGenerator<WatchTableResponse> {
    for await (const watch of message) {
      if (!isMessage(watch, WatchTableRequestSchema)) throw new TypeError("expected a WatchTableRequest");
      // The caller may have stopped while the token was renewed.
      signal.throwIfAborted();
      const { tableId } = watch;
      const accessToken = header.get("authorization")?.replace("Bearer ", "") ?? "";
      const beginning = { accessToken, request: { case: "watch", value: watch } } as const;
      // A newer stream of the table may have taken its place.
      const forget = () => void (streams.get(tableId) === stream && streams.delete(tableId));
      const stream: TableStream = new TableStream(open(urlOf(address, tableId)), beginning, signal, forget);
      for await (const tableEvent of stream.events()) {
        if (!stream.isOver) streams.set(tableId, stream);
        yield create(WatchTableResponseSchema, { tableEvent });
      }
    }
  }
  return (next) => async (request) => {
    const response = { service: request.service, header: new Headers(), trailer: new Headers() };
    if (request.stream) {
      const { method } = request;
      if (method !== EngineService.method.watchTable) return next(request);
      return { ...response, stream: true, method, message: watch(request) };
    }
    const { message, method, signal } = request;
    if (!isMessage(message, SubmitActionRequestSchema)) return next(request);
    const stream = streams.get(message.tableId);
    if (stream === undefined) return next(request);
    return { ...response, stream: false, method, message: await stream.act(message, signal) };
  };
}

function urlOf(address: string, tableId: string): string {
  return `${address.replace(/^http/i, "ws").replace(/\/+$/, "")}/v1/tables/${encodeURIComponent(tableId)}/play`;
}

/** How the promise of an answer ends. */
interface Settling {
  readonly resolve: (answer: SubmitActionResponse) => void;
  readonly reject: (fault: ConnectError) => void;
}

/** One WebSocket: the events of a table, and actions with their answers. It ends once, at the latest with its signal. */
class TableStream {
  private readonly unread: TableEvent[] = [];
  /** The actions without an answer, by their request ids. */
  private readonly unanswered = new Map<string, Settling>();
  private end: { readonly fault: ConnectError | undefined } | undefined;
  private wake: () => void = () => {};

  constructor(
    private readonly socket: Socket,
    beginning: MessageInitShape<typeof PlayTableRequestSchema>,
    signal: AbortSignal,
    private readonly ended: () => void,
  ) {
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => this.send(beginning));
    socket.addEventListener("message", ({ data }) => this.receive(data));
    socket.addEventListener("error", () => this.finish(lost("the connection broke")));
    socket.addEventListener("close", ({ code, reason }) => this.finish(faultOfClose(code, reason)));
    signal.addEventListener("abort", () => this.finish(ConnectError.from(signal.reason, Code.Canceled)));
  }

  get isOver(): boolean {
    return this.end !== undefined;
  }

  /** Yield the events until the stream ends; throws why it was refused or broke. */
  async *events(): AsyncGenerator<TableEvent> {
    for (;;) {
      const event = this.unread.shift();
      if (event !== undefined) yield event;
      else if (this.end === undefined) await new Promise<void>((resolve) => (this.wake = resolve));
      else if (this.end.fault === undefined) return;
      else throw this.end.fault;
    }
  }

  /** Send an action, and return its answer; throws its refusal. Without an answer until `signal` the stream has broken. */
  async act(action: SubmitActionRequest, signal: AbortSignal): Promise<SubmitActionResponse> {
    const { requestId } = action;
    const late = () => this.finish(lost("an action has no answer"));
    signal.addEventListener("abort", late);
    try {
      return await new Promise((resolve, reject) => {
        this.unanswered.set(requestId, { resolve, reject });
        this.send({ request: { case: "action", value: action } });
      });
    } finally {
      signal.removeEventListener("abort", late);
      this.unanswered.delete(requestId);
    }
  }

  private send(request: MessageInitShape<typeof PlayTableRequestSchema>): void {
    this.socket.send(toBinary(PlayTableRequestSchema, create(PlayTableRequestSchema, request)));
  }

  private receive(data: ArrayBuffer): void {
    if (this.isOver) return;
    try {
      const { tableEvent, answer, error } = fromBinary(PlayTableResponseSchema, new Uint8Array(data));
      if (tableEvent !== undefined) this.unread.push(tableEvent);
      if (answer !== undefined) this.settle(answer);
      if (error !== undefined) this.finish(errorOf(error));
      if (this.unread.length > MAX_UNREAD) this.finish(lost("too many messages are unread"));
    } catch (fault) {
      this.finish(ConnectError.from(fault, Code.Internal));
    }
    this.wake();
  }

  private settle({ requestId, outcome }: ActionAnswer): void {
    const action = this.unanswered.get(requestId);
    if (outcome.case === "sequence") action?.resolve(create(SubmitActionResponseSchema, { sequence: outcome.value }));
    if (outcome.case === "refusal") action?.reject(errorOf(outcome.value));
  }

  private finish(fault?: ConnectError): void {
    if (this.end !== undefined) return;
    this.end = { fault };
    this.socket.close();
    this.ended();
    for (const { reject } of this.unanswered.values()) reject(lost("the stream ended before the answer"));
    this.wake();
  }
}

function lost(message: string): ConnectError {
  return new ConnectError(message, Code.Unavailable);
}

/** Return the error that a close code stands for if no message gave it; undefined for the end of a stream. */
function faultOfClose(closeCode: number, reason: string): ConnectError | undefined {
  if (ENDED.has(closeCode)) return undefined;
  const code = closeCode - REFUSED;
  if (code in Code) return new ConnectError(reason || `the stream was closed with code ${closeCode}`, code);
  return lost(`the connection closed with code ${closeCode}`);
}
