// Calls over gRPC-Web by fetch. The transport of connect-web has JSON and its own descriptors of errors too, which no call
// here needs, and which would add a fifth to the size of a page.
import { type DescMessage, type MessageShape, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor, type Transport, createContextValues } from "@connectrpc/connect";
import { createMethodUrl, runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";

import { errorOf } from "./errors.js";
import { StatusSchema } from "./generated/google/rpc/status_pb.js";

/** A frame begins with a byte of flags and the length in four bytes. */
const HEAD_BYTES = 5;
/** Marks the last frame, which has the status. */
const TRAILER = 0x80;
/** The codes of answers without a status of gRPC, as its specification lists them; all others are UNKNOWN. */
const CODES: Readonly<Record<number, Code>> = {
  400: Code.Internal,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.Unimplemented,
  429: Code.Unavailable,
  502: Code.Unavailable,
  503: Code.Unavailable,
  504: Code.Unavailable,
};

/** How calls are sent. */
export interface GrpcWebSettings {
  /** The address of the services. */
  readonly baseUrl: string;
  /** The time for a call without one of its own, in milliseconds. */
  readonly defaultTimeoutMs: number;
  readonly interceptors?: readonly Interceptor[];
  /** Sends requests in place of the built-in function. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Return a transport of gRPC-Web in binary frames, for unary calls and streams from the server. */
export function grpcWebTransport({ baseUrl, defaultTimeoutMs, interceptors = [], fetch }: GrpcWebSettings): Transport {
  const send = async (url: string, headers: Headers, signal: AbortSignal, message: Uint8Array): Promise<Response> => {
    // The built-in function is looked up at each call: a program may have replaced it.
    const call = fetch ?? globalThis.fetch;
    return call(url, { method: "POST", headers, signal, body: framed(message), redirect: "error" });
  };
  const callSettings = (signal: AbortSignal | undefined, timeoutMs = defaultTimeoutMs) => ({
    interceptors: [...interceptors],
    ...(signal && { signal }),
    // A call may have no limit.
    ...(timeoutMs > 0 && { timeoutMs }),
  });
  return {
    async unary(method, signal, timeoutMs, header, message, contextValues = createContextValues()) {
      const call = { stream: false, service: method.parent, method } as const;
      const settings = callSettings(signal, timeoutMs);
      const request = { requestMethod: "POST", url: createMethodUrl(baseUrl, method), header: headersOf(header, settings.timeoutMs) };
      return runUnaryCall<typeof method.input, typeof method.output>({
        ...settings,
        req: { ...call, ...request, contextValues, message },
        next: async ({ url, header, signal, message }) => {
          const response = await send(url, header, signal, toBinary(method.input, message));
          const answers: MessageShape<typeof method.output>[] = [];
          for await (const answer of answersOf(method.output, response)) answers.push(answer);
          const [answer] = answers;
          if (answer === undefined || answers.length > 1) throw new ConnectError(`${answers.length} answers`, Code.Unimplemented);
          return { ...call, header: response.headers, trailer: new Headers(), message: answer };
        },
      });
    },
    async stream(method, signal, timeoutMs, header, messages, contextValues = createContextValues()) {
      const call = { stream: true, service: method.parent, method } as const;
      const settings = callSettings(signal, timeoutMs);
      const request = { requestMethod: "POST", url: createMethodUrl(baseUrl, method), header: headersOf(header, settings.timeoutMs) };
      return runStreamingCall<typeof method.input, typeof method.output>({
        ...settings,
        req: { ...call, ...request, contextValues, message: messages },
        next: async ({ url, header, signal, message }) => {
          const first = await message[Symbol.asyncIterator]().next();
          if (first.done === true) throw new ConnectError("a stream without a request", Code.Internal);
          const response = await send(url, header, signal, toBinary(method.input, first.value));
          return { ...call, header: response.headers, trailer: new Headers(), message: answersOf(method.output, response) };
        },
      });
    },
  };
}

function headersOf(init: HeadersInit | undefined, timeoutMs: number | undefined): Headers {
  const headers = new Headers(init);
  headers.set("content-type", "application/grpc-web+proto");
  headers.set("x-grpc-web", "1");
  if (timeoutMs !== undefined) headers.set("grpc-timeout", `${timeoutMs}m`);
  return headers;
}

/** Return a message in a frame. */
function framed(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(HEAD_BYTES + message.length);
  new DataView(frame.buffer).setUint32(1, message.length);
  frame.set(message, HEAD_BYTES);
  return frame;
}

/** Yield the messages of an answer; throws its refusal, and that it was cut. */
async function* answersOf<Schema extends DescMessage>(schema: Schema, response: Response): AsyncGenerator<MessageShape<Schema>> {
  const { status, headers, body } = response;
  const refusal = refusalIn(headers);
  if (refusal !== undefined) throw refusal;
  if (!response.ok) throw new ConnectError(`HTTP ${status}`, CODES[status] ?? Code.Unknown);
  let hasStatus = headers.has("grpc-status");
  for await (const [flags, data] of framesOf(body)) {
    if ((flags & TRAILER) === 0) yield fromBinary(schema, data);
    else {
      const trailer = trailerOf(data);
      const refusal = refusalIn(trailer);
      if (refusal !== undefined) throw refusal;
      hasStatus = trailer.has("grpc-status");
    }
  }
  if (!hasStatus) throw new ConnectError("the answer was cut: it has no status", Code.Unknown);
}

/** Yield the frames of a body, with their flags; bytes of a frame that was cut are left out. */
async function* framesOf(body: Response["body"]): AsyncGenerator<[flags: number, data: Uint8Array]> {
  const reader = body?.getReader();
  let unread = new Uint8Array(0);
  for (;;) {
    const length = unread.length < HEAD_BYTES ? Infinity : new DataView(unread.buffer, unread.byteOffset).getUint32(1);
    if (unread.length >= HEAD_BYTES + length) {
      yield [unread[0] ?? 0, unread.subarray(HEAD_BYTES, HEAD_BYTES + length)];
      unread = unread.subarray(HEAD_BYTES + length);
      continue;
    }
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return;
    const joined = new Uint8Array(unread.length + value.length);
    joined.set(unread);
    joined.set(value, unread.length);
    unread = joined;
  }
}

function trailerOf(data: Uint8Array): Headers {
  const headers = new Headers();
  for (const line of new TextDecoder().decode(data).split("\r\n")) {
    const [, name, value = ""] = /^([^:]+):(.*)$/.exec(line) ?? [];
    if (name !== undefined) headers.append(name.trim(), value.trim());
  }
  return headers;
}

/** Return the refusal that headers or a trailer have, with its details; undefined without one. */
function refusalIn(headers: Headers): ConnectError | undefined {
  const details = headers.get("grpc-status-details-bin");
  const status = headers.get("grpc-status") ?? "0";
  if (status === "0") return undefined;
  if (details !== null) return errorOf(fromBinary(StatusSchema, Uint8Array.from(atob(details), (byte) => byte.charCodeAt(0))));
  return new ConnectError(decodeURIComponent(headers.get("grpc-message") ?? ""), Number(status) in Code ? Number(status) : Code.Unknown);
}
