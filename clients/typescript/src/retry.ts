// Retries of calls and streams after lost connections and limits, with delays.
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

import { ErrorReason } from "./generated/croupier_api/v1/errors_pb";
import { reasonOf, retryDelay } from "./errors";

const MAX_ATTEMPTS = 5;
const MAX_FAILURES = 12;
const FIRST_DELAY_MILLISECONDS = 100;
const MAX_DELAY_MILLISECONDS = 3_000;
/** Codes of errors that a retry cannot resolve. */
const NOT_RETRIED = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.PermissionDenied,
  Code.FailedPrecondition,
  Code.Unauthenticated,
  Code.Unimplemented,
]);
const NO_ANSWER = new Set([Code.Unavailable, Code.DeadlineExceeded]);
const LOST_CONNECTION = new Set([Code.Internal, Code.Unknown, Code.Canceled]);

/** Reasons of refusals before the execution. */
const NOT_EXECUTED = new Set<ErrorReason | undefined>([ErrorReason.SERVER_STOPPING, ErrorReason.TOO_MANY_REQUESTS]);

/** Retry unary calls that were not executed. Streams are retried by `reopen`. */
export const retryNotExecuted: Interceptor = (next) => async (request) => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await next(request);
    } catch (error) {
      if (request.stream || attempt === MAX_ATTEMPTS || !NOT_EXECUTED.has(reasonOf(error))) throw error;
      await delay(retryDelay(error) * (1 + Math.random()));
    }
  }
};

/** Return whether there was no answer: the service is unavailable, or the connection was lost, which has no reason. */
export function isUnanswered(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return NO_ANSWER.has(code) || (LOST_CONNECTION.has(code) && reasonOf(error) === undefined);
}

/** Yield the messages of a stream until `isOver`; after a lost connection `open` resumes it. */
export async function* reopen<T>(open: () => AsyncIterable<T>, isOver: () => boolean): AsyncGenerator<T> {
  for (let failures = 0, retryAfter = 0; !isOver(); failures++) {
    if (failures > MAX_FAILURES) throw new Error("the stream has no messages");
    if (failures > 0) await delay(retryAfter + maxDelay(failures) * Math.random());
    retryAfter = 0;
    try {
      for await (const message of open()) {
        failures = -1;
        yield message;
      }
    } catch (error) {
      const fault = ConnectError.from(error);
      // A stream with a message was not refused: it broke, and its error may come from a cut message.
      const isRefused = failures >= 0 && NOT_RETRIED.has(fault.code);
      // A newer stream of the same player replaces this one: to open it again would end the newer one.
      const isReplaced = reasonOf(fault) === ErrorReason.SUPERSEDED;
      if (isRefused || isReplaced || failures >= MAX_FAILURES) throw fault;
      retryAfter = retryDelay(fault);
    }
  }
}

function maxDelay(failures: number): number {
  return Math.min(MAX_DELAY_MILLISECONDS, FIRST_DELAY_MILLISECONDS * 2 ** failures);
}

/** Wait. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
