// What a player's program does when it is not answered: what was lost is asked for again, with pauses in between.
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

import { ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb";

const TOO_MANY_CALLS = "TOO_MANY_CALLS";
const MOST_ATTEMPTS = 5;
const MOST_FAILURES = 12;
const FIRST_PAUSE_MILLISECONDS = 100;
const LONGEST_PAUSE_MILLISECONDS = 3_000;
/** What asking again cannot put right. */
const FINAL = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.PermissionDenied,
  Code.FailedPrecondition,
  Code.Unauthenticated,
  Code.Unimplemented,
]);
const NO_ANSWER = new Set([Code.Unavailable, Code.DeadlineExceeded]);
const LOST_CONNECTION = new Set([Code.Internal, Code.Unknown, Code.Canceled]);

/** How long a limit asks to wait, in milliseconds; 0 where it does not say, or something else went wrong. */
export function askedToWait(error: unknown): number {
  const fault = ConnectError.from(error);
  if (fault.code !== Code.ResourceExhausted) return 0;
  const [retry] = fault.findDetails(RetryInfoSchema);
  return retry?.retryDelay === undefined ? 0 : durationMs(retry.retryDelay);
}

/** Calls that came too soon are made again: nothing was done, whatever they are. Streams see to it themselves. */
export const patient: Interceptor = (next) => async (request) => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await next(request);
    } catch (error) {
      if (request.stream || attempt === MOST_ATTEMPTS || !cameTooSoon(error)) throw error;
      await pause(askedToWait(error) * (1 + Math.random()));
    }
  }
};

function cameTooSoon(error: unknown): boolean {
  return reasonsOf(ConnectError.from(error)).includes(TOO_MANY_CALLS);
}

function reasonsOf(fault: ConnectError): string[] {
  return fault.findDetails(ErrorInfoSchema).map(({ reason }) => reason);
}

/** Whether no answer came: nobody could give one, or it was lost on its way, for which nobody gives a reason. */
export function isUnanswered(error: unknown): boolean {
  const fault = ConnectError.from(error);
  return NO_ANSWER.has(fault.code) || (LOST_CONNECTION.has(fault.code) && reasonsOf(fault).length === 0);
}

/** What streams bring, one after the other until it is over: where one was lost, `open` goes on from there. */
export async function* reopened<T>(open: () => AsyncIterable<T>, isOver: () => boolean): AsyncGenerator<T> {
  for (let failures = 0, asked = 0; !isOver(); failures++) {
    if (failures > MOST_FAILURES) throw new Error("the stream brings nothing");
    if (failures > 0) await pause(asked + longestPause(failures) * Math.random());
    asked = 0;
    try {
      for await (const message of open()) {
        failures = -1;
        yield message;
      }
    } catch (error) {
      const fault = ConnectError.from(error);
      // A stream that has brought something was not refused: it broke, and whatever it was cut into makes no sense.
      const isRefused = failures >= 0 && FINAL.has(fault.code);
      if (isRefused || failures >= MOST_FAILURES) throw fault;
      asked = askedToWait(fault);
    }
  }
}

function longestPause(failures: number): number {
  return Math.min(LONGEST_PAUSE_MILLISECONDS, FIRST_PAUSE_MILLISECONDS * 2 ** failures);
}

/** Let time pass. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
