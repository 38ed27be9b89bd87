// Descriptors of the contract, from a short text in the generated code. That of protoc-gen-es is base64, which does not
// compress, and needs a parser of descriptors: together a quarter of a page that has nothing but this client.
import { type DescFile, createFileRegistry } from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";

const [MESSAGE, ENUM] = [11, 14];
const [SINGULAR, REPEATED] = [1, 3];

/** A file, message, enum or service, as a plain value with the properties that the registry of protobuf-es reads. */
interface Part {
  readonly name: string;
  readonly messageType: Part[];
  readonly nestedType: Part[];
  readonly enumType: Part[];
  readonly service: Part[];
  readonly field: object[];
  readonly value: object[];
  readonly method: object[];
  readonly oneofDecl: readonly object[];
  readonly extension: readonly object[];
  readonly options: object | undefined;
}

/**
 * Return the descriptor of a file from its text and the files that it imports.
 *
 * The first line of a text has the file and its package. Each further one begins with what it describes:
 * - `m name oneof...` a message, `x name` the entries of a map, `e name` an enum, each as `outer.name` if it is nested;
 * - `s name` a service;
 * - `name number type` a field: the type is a number for a scalar, has `=` before it for an enum, and before that `*` if
 *   it is repeated or `?` if it is optional; a fourth word is the index of its oneof;
 * - `name number` a value of an enum;
 * - `name input output` a method, `<` before a stream; a fourth word is the idempotency level.
 */
export function describedFile(text: string, imports: readonly DescFile[] = []): DescFile {
  const [head = "", ...lines] = text.split("\n");
  const [name = "", packageName = ""] = head.split(" ");
  const file = partOf(name);
  const parts = new Map<string, Part>();
  let last = file;
  const full = (type: string) => (type.startsWith(".") ? type : `.${packageName}.${type}`);
  for (const line of lines) {
    const words = line.split(" ");
    if (words[0]?.length === 1) last = begun(words, file, parts);
    else addMember(last, words, full);
  }
  const $typeName = "google.protobuf.FileDescriptorProto";
  const rest = { $typeName, package: packageName, syntax: "proto3", dependency: imports.map(({ proto }) => proto.name) };
  const proto = { ...file, ...rest } as unknown as FileDescriptorProto;
  const described = createFileRegistry(proto, (path) => imports.find(({ proto }) => proto.name === path)).getFile(name);
  if (described === undefined) throw new Error(`no file ${name}`);
  return described;
}

function partOf(name: string, oneofs: readonly string[] = [], options?: object): Part {
  const members = { messageType: [], nestedType: [], enumType: [], service: [], field: [], value: [], method: [], extension: [] };
  return { name, ...members, oneofDecl: oneofs.map((oneof) => ({ name: oneof })), options };
}

/** Add a message, enum or service to its file or its outer message, and return it. */
function begun([kind, path = "", ...oneofs]: readonly string[], file: Part, parts: Map<string, Part>): Part {
  const dot = path.lastIndexOf(".");
  const outer = parts.get(path.slice(0, Math.max(dot, 0)));
  const part = partOf(path.slice(dot + 1), oneofs, kind === "x" ? { mapEntry: true } : undefined);
  parts.set(path, part);
  const messages = outer?.nestedType ?? file.messageType;
  (kind === "s" ? file.service : kind === "e" ? (outer ?? file).enumType : messages).push(part);
  return part;
}

function addMember(part: Part, [name = "", second = "", third, fourth]: readonly string[], full: (type: string) => string): void {
  if (third === undefined) part.value.push({ name, number: Number(second) });
  else if (/^\d/.test(second)) part.field.push(fieldOf(name, Number(second), third, fourth, full));
  else {
    const [[inputType, clientStreaming], [outputType, serverStreaming]] = [second, third].map(
      (type): [string, boolean] => [full(type.replace("<", "")), type.startsWith("<")],
    ) as [[string, boolean], [string, boolean]];
    const options = { idempotencyLevel: Number(fourth ?? 0) };
    part.method.push({ name, inputType, outputType, clientStreaming, serverStreaming, options });
  }
}

function fieldOf(name: string, number: number, written: string, oneof: string | undefined, full: (type: string) => string): object {
  const [, label, isEnum, type = ""] = /^([*?]?)(=?)(.*)$/.exec(written) ?? [];
  const isScalar = /^\d/.test(type);
  return {
    name,
    number,
    jsonName: protoCamelCase(name),
    label: label === "*" ? REPEATED : SINGULAR,
    proto3Optional: label === "?",
    ...(isScalar ? { type: Number(type) } : { type: isEnum ? ENUM : MESSAGE, typeName: full(type) }),
    ...(oneof !== undefined && { oneofIndex: Number(oneof) }),
  };
}
