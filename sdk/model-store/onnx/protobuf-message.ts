import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/**
 * Decodes and encodes Protocol Buffers messages (https://protobuf.dev/programming-guides/encoding)
 * of which only some fields are declared. All other fields survive unchanged, so a file can be
 * edited without knowing its complete schema.
 */

/** Reads and writes values of one type. */
export interface Codec<T> {
  wireType: WireType
  read(reader: BinaryReader): T
  write(writer: BinaryWriter, value: T): void
}

/**
 * A declared field: its number in the encoding, its type, and whether it holds a list of values.
 */
interface Field<T, Repeated extends boolean> {
  number: number
  codec: Codec<T>
  isRepeated: Repeated
}

type Fields = Record<string, Field<unknown, boolean>>

/** The value of a field in a decoded message. */
type FieldValue<F> =
  F extends Field<infer T, true> ? T[] : F extends Field<infer T, false> ? T | undefined : never

/**
 * A decoded message: the values of the declared fields, and the encoded bytes of
 * each undeclared field.
 */
export type Message<F extends Fields> = { [K in keyof F]: FieldValue<F[K]> } & {
  unknownFields: Uint8Array[]
}

/** A message type. As a codec, it can itself be the type of a field. */
export interface MessageType<M> extends Codec<M> {
  decode(encoded: Uint8Array): M
  encode(message: M): Uint8Array
  /** Creates a message. Fields without a value are absent. */
  create(values: Partial<M>): M
}

/** The messages of a message type. */
export type MessageOf<T> = T extends MessageType<infer M> ? M : never

/** Declares a field with at most one value. */
export function optional<T>(number: number, codec: Codec<T>): Field<T, false> {
  return { number, codec, isRepeated: false }
}

/** Declares a field with a list of values. */
export function repeated<T>(number: number, codec: Codec<T>): Field<T, true> {
  return { number, codec, isRepeated: true }
}

export const int64: Codec<bigint> = {
  wireType: WireType.Varint,
  read: reader => BigInt(reader.int64()),
  write: (writer, value) => void writer.int64(value),
}
export const int32: Codec<number> = {
  wireType: WireType.Varint,
  read: reader => reader.int32(),
  write: (writer, value) => void writer.int32(value),
}
export const string: Codec<string> = {
  wireType: WireType.LengthDelimited,
  read: reader => reader.string(),
  write: (writer, value) => void writer.string(value),
}
export const bytes: Codec<Uint8Array> = {
  wireType: WireType.LengthDelimited,
  read: reader => reader.bytes(),
  write: (writer, value) => void writer.bytes(value),
}

/** Defines a message type by the names, numbers and types of its fields. */
export function defineMessage<F extends Fields>(fields: F): MessageType<Message<F>> {
  type M = Message<F>
  const namesByNumber = new Map(Object.entries(fields).map(([name, { number }]) => [number, name]))

  const create = (values: Partial<M>): M => {
    const message: Record<string, unknown> = { unknownFields: [] }
    for (const [name, { isRepeated }] of Object.entries(fields)) {
      message[name] = isRepeated ? [] : undefined
    }
    return { ...message, ...values } as M
  }

  const decode = (encoded: Uint8Array): M => {
    const message = create({})
    const values: Record<string, unknown> = message
    const reader = new BinaryReader(encoded)

    while (reader.pos < reader.len) {
      const start = reader.pos
      const [number, wireType] = reader.tag()
      const name = namesByNumber.get(number)
      if (name === undefined) {
        // An undeclared field: its bytes are kept as they are, including the tag.
        reader.skip(wireType, number)
        message.unknownFields.push(encoded.subarray(start, reader.pos))
        continue
      }
      const { codec, isRepeated } = fields[name]!
      if (isRepeated) readRepeated(reader, wireType, codec, values[name] as unknown[])
      else values[name] = readSingle(reader, wireType, codec)
    }
    return message
  }

  const encode = (message: M): Uint8Array => {
    const values: Record<string, unknown> = message
    const writer = new BinaryWriter()
    for (const [name, field] of Object.entries(fields)) writeField(writer, field, values[name])
    for (const field of message.unknownFields) writer.raw(field)
    return writer.finish()
  }

  return {
    wireType: WireType.LengthDelimited,
    read: reader => decode(reader.bytes()),
    write: (writer, message) => void writer.bytes(encode(message)),
    decode,
    encode,
    create,
  }
}

function readSingle<T>(reader: BinaryReader, wireType: WireType, codec: Codec<T>): T {
  if (wireType !== codec.wireType) {
    throw new Error(`wire type ${wireType}, expected ${codec.wireType}`)
  }
  return codec.read(reader)
}

/**
 * Appends the next value of a repeated field to `values`. Numbers may be packed: then a single
 * length-delimited record holds several values.
 */
function readRepeated<T>(
  reader: BinaryReader,
  wireType: WireType,
  codec: Codec<T>,
  values: T[],
): void {
  const isPacked = wireType === WireType.LengthDelimited && codec.wireType === WireType.Varint
  if (!isPacked) {
    values.push(readSingle(reader, wireType, codec))
    return
  }
  const byteCount = reader.uint32()
  const end = reader.pos + byteCount
  while (reader.pos < end) values.push(codec.read(reader))
}

function writeField(writer: BinaryWriter, field: Field<unknown, boolean>, value: unknown): void {
  const { number, codec, isRepeated } = field
  if (value === undefined) return
  const values = isRepeated ? (value as unknown[]) : [value]
  for (const element of values) codec.write(writer.tag(number, codec.wireType), element)
}
