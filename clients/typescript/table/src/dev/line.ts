// The line of a seat's page to the gateway, which a developer can cut and slow down.
import { type JsonValue, create, createRegistry, fromBinary, toJson } from "@bufbuild/protobuf";

import type { Socket } from "@croupier/client";
import { ActionSchema, BadRequestSchema, ErrorInfoSchema, PlayTableRequestSchema, PlayTableResponseSchema, RetryInfoSchema } from "@croupier/client/contract";

import type { Action, Message } from "./recording.js";

/** What a developer does to a line. */
export interface Switches {
  readonly isCut: boolean;
  /** In each direction. */
  readonly delayMilliseconds: number;
}

/** Takes what goes over a line. */
export interface Recorder {
  readonly message: (message: Message) => void;
  readonly action: (action: Action) => void;
}

/** The types of the details of refusals. */
const registry = createRegistry(BadRequestSchema, ErrorInfoSchema, RetryInfoSchema);
/** The code of a socket whose connection broke: a close follows each error too. */
const BROKEN = 1_006;

/** The way of all calls and streams of one page. Messages within a stream of gRPC-Web are not slowed down. */
export class Line {
  private switches: Switches = { isCut: false, delayMilliseconds: 0 };
  private cut = new AbortController();

  constructor(readonly recorder: Recorder) {}

  /** Aborted once the line is cut; a healed line has a new one. */
  get signal(): AbortSignal {
    return this.cut.signal;
  }

  set(switches: Switches): void {
    this.switches = switches;
    if (switches.isCut) this.cut.abort(new TypeError("the line is cut"));
    else if (this.signal.aborted) this.cut = new AbortController();
  }

  /** Send a call, in place of the built-in function. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const signal = AbortSignal.any([this.signal, ...(init?.signal ? [init.signal] : [])]);
    await this.delay();
    signal.throwIfAborted();
    const response = await globalThis.fetch(input, { ...init, signal });
    await this.delay();
    return response;
  };

  /** Open a WebSocket, in place of the built-in class. */
  readonly socket = (url: string): Socket => new LineSocket(url, this);

  /** Return a function that calls others after the delay of that moment, in their order. */
  direction(): (run: () => void) => void {
    let last = Promise.resolve();
    return (run) => {
      const delayed = this.delay();
      last = last.then(() => delayed).then(run);
    };
  }

  private async delay(): Promise<void> {
    const { delayMilliseconds } = this.switches;
    if (delayMilliseconds > 0) await new Promise((resolve) => setTimeout(resolve, delayMilliseconds));
  }
}

/** A WebSocket over a line. It records all messages but the tokens in them, and the actions that the table has taken. */
class LineSocket extends EventTarget implements Socket {
  binaryType: BinaryType = "arraybuffer";
  private readonly socket: WebSocket | undefined;
  private readonly outward: (run: () => void) => void;
  private readonly inward: (run: () => void) => void;
  /** The actions without an answer, by their request ids. */
  private readonly unanswered = new Map<string, JsonValue>();

  constructor(url: string, private readonly line: Line) {
    super();
    this.outward = line.direction();
    this.inward = line.direction();
    if (line.signal.aborted) this.inward(() => this.end(BROKEN));
    else this.socket = this.opened(url, line.signal);
  }

  send(data: Uint8Array<ArrayBuffer>): void {
    const { request } = fromBinary(PlayTableRequestSchema, data);
    // Without the access token, which nobody needs to see.
    this.line.recorder.message({ isSent: true, json: toJson(PlayTableRequestSchema, create(PlayTableRequestSchema, { request })) });
    if (request.case === "action" && request.value.action) this.unanswered.set(request.value.requestId, toJson(ActionSchema, request.value.action));
    this.outward(() => this.socket?.send(data));
  }

  close(): void {
    this.socket?.close();
  }

  private opened(url: string, signal: AbortSignal): WebSocket {
    const socket = new WebSocket(url);
    const cut = () => {
      socket.close();
      this.end(BROKEN);
    };
    signal.addEventListener("abort", cut);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => this.inward(() => this.dispatchEvent(new Event("open"))));
    socket.addEventListener("message", ({ data }) => this.inward(() => signal.aborted || this.receive(data)));
    socket.addEventListener("close", ({ code, reason }) => {
      signal.removeEventListener("abort", cut);
      this.inward(() => this.end(code, reason));
    });
    return socket;
  }

  private end(code: number, reason = ""): void {
    this.dispatchEvent(new CloseEvent("close", { code, reason }));
  }

  private receive(data: ArrayBuffer): void {
    const message = fromBinary(PlayTableResponseSchema, new Uint8Array(data));
    this.line.recorder.message({ isSent: false, json: toJson(PlayTableResponseSchema, message, { registry }) });
    const { requestId = "", outcome } = message.answer ?? {};
    const action = this.unanswered.get(requestId);
    this.unanswered.delete(requestId);
    if (action !== undefined && outcome?.case === "sequence") this.line.recorder.action({ sequence: Number(outcome.value), action });
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
}
