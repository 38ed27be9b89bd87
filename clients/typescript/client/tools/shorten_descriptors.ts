// Replaces the base64 descriptors in generated code by short texts: node tools/shorten_descriptors.ts FOLDER
import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { posix } from "node:path";

import { type DescEnum, type DescFile, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { fileDesc } from "@bufbuild/protobuf/codegenv2";
import { base64Decode } from "@bufbuild/protobuf/wire";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  type MethodDescriptorProto,
} from "@bufbuild/protobuf/wkt";

import { describedFile } from "../src/descriptors.ts";

/** The descriptor of a file in the code of protoc-gen-es, with the names of those that it imports. */
const FILE = /export const (?<name>file_\w+): GenFile[^"]+fileDesc\("(?<base64>[^"]+)"(?:, \[(?<imported>[^\]]*)\])?\)/;

/** Return the text of a file, as `describedFile` reads it. */
function textOf({ name, package: packageName, messageType, enumType, service }: FileDescriptorProto): string {
  const short = (type: string) => (type.startsWith(`.${packageName}.`) ? type.slice(packageName.length + 2) : type);
  const messages = messageType.flatMap((message) => messageLines(message, "", short));
  const services = service.flatMap(({ name, method }) => [`s ${name}`, ...method.map((it) => methodLine(it, short))]);
  return [`${name} ${packageName}`, ...messages, ...enumType.flatMap((it) => enumLines(it, "")), ...services].join("\n");
}

type Short = (type: string) => string;

function messageLines(message: DescriptorProto, outer: string, short: Short): string[] {
  const { name, field, nestedType, enumType, oneofDecl, options } = message;
  // The oneof that protoc makes for an optional field has no meaning of its own.
  const oneofs = oneofDecl.filter((_, index) => field.some((it) => it.oneofIndex === index && isMember(it)));
  const head = [options?.mapEntry ? "x" : "m", outer + name, ...oneofs.map((oneof) => oneof.name)].join(" ");
  const within = `${outer}${name}.`;
  const messages = nestedType.flatMap((it) => messageLines(it, within, short));
  return [head, ...field.map((it) => fieldLine(it, short)), ...messages, ...enumType.flatMap((it) => enumLines(it, within))];
}

function isMember(field: FieldDescriptorProto): boolean {
  return Object.hasOwn(field, "oneofIndex") && !field.proto3Optional;
}

function fieldLine(field: FieldDescriptorProto, short: Short): string {
  const { name, number, label, type, typeName, proto3Optional } = field;
  const mark = label === Label.REPEATED ? "*" : proto3Optional ? "?" : "";
  const written = type === Type.MESSAGE ? short(typeName) : type === Type.ENUM ? `=${short(typeName)}` : `${type}`;
  return `${name} ${number} ${mark}${written}${isMember(field) ? ` ${field.oneofIndex}` : ""}`;
}

function enumLines({ name, value }: EnumDescriptorProto, outer: string): string[] {
  return [`e ${outer}${name}`, ...value.map((it) => `${it.name} ${it.number}`)];
}

function methodLine(method: MethodDescriptorProto, short: Short): string {
  const { name, inputType, outputType, clientStreaming, serverStreaming, options } = method;
  const level = options?.idempotencyLevel ?? 0;
  const types = [`${clientStreaming ? "<" : ""}${short(inputType)}`, `${serverStreaming ? "<" : ""}${short(outputType)}`];
  return [name, ...types, ...(level === 0 ? [] : [level])].join(" ");
}

/** Replaces what refers to other descriptors by their names, and leaves out what a short text does not have. */
function plain<T extends object>(described: T): object {
  const left = ["parent", "proto", "file", "toString", "getDefaultValue"];
  const entries = Object.entries(described).filter(([key]) => !left.includes(key));
  const shown = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shown);
    if (typeof value !== "object" || value === null) return value;
    return "typeName" in value ? value.typeName : (value as { readonly name: string }).name;
  };
  return Object.fromEntries(entries.map(([key, value]) => [key, shown(value)]));
}

/** Return all that a program may ask a descriptor, but for the options that are left out. */
function shown({ name, edition, messages, enums, services }: DescFile): unknown {
  const message = ({ typeName, fields, oneofs, nestedMessages, nestedEnums }: DescMessage): unknown => ({
    typeName,
    fields: fields.map(plain),
    oneofs: oneofs.map(plain),
    messages: nestedMessages.map(message),
    enums: nestedEnums.map(enumeration),
  });
  const enumeration = ({ typeName, sharedPrefix, open, values }: DescEnum) => ({ typeName, sharedPrefix, open, values: values.map(plain) });
  return {
    name,
    edition,
    messages: messages.map(message),
    enums: enums.map(enumeration),
    services: services.map(({ typeName, methods }) => ({ typeName, methods: methods.map(plain) })),
  };
}

/** The descriptors of a file in both forms. */
interface Both {
  readonly long: DescFile;
  readonly short: DescFile;
}

/** Rewrite a generated file, and return its descriptor with its name, unless one of its imports is not known yet. */
function shorten(folder: string, path: string, known: ReadonlyMap<string, Both>): [string, Both] | undefined {
  const code = readFileSync(posix.join(folder, path), "utf8");
  const { name = "", base64 = "", imported = "" } = FILE.exec(code)?.groups ?? {};
  const imports = imported.split(", ").filter(Boolean).map((name) => known.get(name));
  if (!imports.every((it) => it !== undefined)) return undefined;
  const text = textOf(fromBinary(FileDescriptorProtoSchema, base64Decode(base64)));
  const [long, short] = [fileDesc(base64, imports.map((it) => it.long)), describedFile(text, imports.map((it) => it.short))];
  assert.deepEqual(shown(short), shown(long), `the text of ${path} says something else`);
  const root = posix.relative(posix.dirname(path), ".");
  const written = code
    .replace(/fileDesc\("[^"]+"/, () => `describedFile(${JSON.stringify(text)}`)
    .replace(/^import \{.*\bfileDesc\b.*$/m, (line) => `${withoutFileDesc(line)}import { describedFile } from "${root}/../descriptors.js";`)
    .replace(/^import \{ (file_.*) \} from "@bufbuild\/protobuf\/wkt";$/m, (_, names: string) =>
      names.split(", ").map((name) => `import { ${name} } from "${root}/google/protobuf/${name.split("_").at(-1)}_pb.js";`).join("\n"),
    );
  writeFileSync(posix.join(folder, path), written);
  return [name, { long, short }];
}

function withoutFileDesc(line: string): string {
  const rest = line.replace(/\bfileDesc, |, fileDesc\b|\bfileDesc\b/, "");
  return rest.includes("{  }") ? "" : `${rest}\n`;
}

const [folder = "src/generated"] = process.argv.slice(2);
const known = new Map<string, Both>();
let paths = globSync("**/*_pb.ts", { cwd: folder }).sort();
while (paths.length > 0) {
  const left = paths.filter((path) => {
    const done = shorten(folder, path, known);
    if (done !== undefined) known.set(...done);
    return done === undefined;
  });
  if (left.length === paths.length) throw new Error(`imports are missing: ${left.join(", ")}`);
  paths = left;
}
