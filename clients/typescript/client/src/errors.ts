// Refusals: the reasons that the contract lists, in the details of an error.
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";

import { ErrorReason } from "./generated/croupier_api/v1/errors_pb.js";
import { ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb.js";
import type { Status } from "./generated/google/rpc/status_pb.js";

/** Return the error of a status inside a message. */
export function errorOf({ code, message, details }: Status): ConnectError {
  const error = new ConnectError(message, code);
  error.details = details.map(({ typeUrl, value }) => ({ type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), value }));
  return error;
}

/** Return why a call was refused: UNSPECIFIED for a reason newer than this client, undefined if no service refused it. */
export function reasonOf(error: unknown): ErrorReason | undefined {
  const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
  return info && (ErrorReason[info.reason as keyof typeof ErrorReason] ?? ErrorReason.UNSPECIFIED);
}

/** Return what a refusal names beside its reason, such as a rule or a package; nothing if no service refused the call. */
export function metadataOf(error: unknown): Readonly<Record<string, string>> {
  return ConnectError.from(error).findDetails(ErrorInfoSchema)[0]?.metadata ?? {};
}

/** Return the id of the rule by which an action was refused; undefined if it was refused for another reason. */
export function ruleOf(error: unknown): string | undefined {
  return metadataOf(error)["rule"];
}

/** Refusals because the table has moved on: the stream has the new legal actions, or the end of the game. */
const OVERTAKEN: ReadonlySet<ErrorReason | undefined> = new Set([
  ErrorReason.STALE_SEQUENCE,
  ErrorReason.NOT_YOUR_TURN,
  ErrorReason.TABLE_FINISHED,
]);

/** Return whether a refused action came too late: the table has moved on, and the player decides again. */
export function isOvertaken(error: unknown): boolean {
  return OVERTAKEN.has(reasonOf(error));
}

/** Throw the error of an action, unless it came too late: for a program, which decides again at each event. */
export function throwUnlessOvertaken(error: unknown): void {
  if (!isOvertaken(error)) throw error;
}

/**
 * Codes without a reason by which a broken connection or stream shows itself beside UNAVAILABLE. Every error of a service
 * or the gateway has a reason. Without one they come from HTTP/2, where the gateway resets the stream of an engine that is
 * gone, or from the browser.
 */
const BROKEN = new Set([Code.Internal, Code.Unknown, Code.Canceled]);

/** Return the error of a call, UNAVAILABLE if its connection or stream broke. */
export function faultOf(error: unknown): ConnectError {
  const fault = ConnectError.from(error);
  const isBroken = BROKEN.has(fault.code) && reasonOf(fault) === undefined;
  return isBroken ? new ConnectError(`the connection broke: ${fault.message}`, Code.Unavailable, undefined, undefined, fault) : fault;
}

/** Return whether a refusal passes: the service says when, or it is a limit of the connection, without a reason. */
export function isPassing(error: ConnectError): boolean {
  const isTimed = error.findDetails(RetryInfoSchema).length > 0;
  return isTimed || (error.code === Code.ResourceExhausted && reasonOf(error) === undefined);
}

/** Return the milliseconds that a refusal asks to wait before a retry; 0 if it does not. */
export function retryDelay(error: unknown): number {
  const [retry] = ConnectError.from(error).findDetails(RetryInfoSchema);
  return retry?.retryDelay === undefined ? 0 : durationMs(retry.retryDelay);
}
