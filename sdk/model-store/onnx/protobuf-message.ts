import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** Reads and writes one type of value. */
export interface Codec<T> {
  wireType: WireType
  read(reader: BinaryReader): T
  write(writer: BinaryWriter, value: T): void
}

interface Field<T, Repeated extends boolean> {
  number: number
  codec: Codec<T>
  isRepeated: Repeated
}

type Fields = Record<string, Field<unknown, boolean>>

type FieldValue<F> =
  F extends Field<infer T, true> ? T[] : F extends Field<infer T, false> ? T | undefined : never

/** A decoded message: the declared fields, and the encoded bytes of all other fields, which are written back unchanged. */
export type Message<F extends Fields> = { [K in keyof F]: FieldValue<F[K]> } & { unknownFields: Uint8Array[] }

/** A message type. It is a codec itself, so that it can be the type of a field. */
export interface MessageType<M> extends Codec<M> {
  decode(bytes: Uint8Array): M
  encode(message: M): Uint8Array
  /** Creates a message in which all fields that are not passed are absent. */
  create(fields: Partial<M>): M
}

export type MessageOf<T> = T extends MessageType<infer M> ? M : never

export const optional = <T>(number: number, codec: Codec<T>): Field<T, false> => ({
  number,
  codec,
  isRepeated: false,
})
export const repeated = <T>(number: number, codec: Codec<T>): Field<T, true> => ({
  number,
  codec,
  isRepeated: true,
})

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

/** Defines a message type. Only the fields in use must be declared: unknown fields survive decoding and encoding. */
export function defineMessage<F extends Fields>(fields: F): MessageType<Message<F>> {
  type M = Message<F>
  const entries = Object.entries(fields)
  const fieldsByNumber = new Map(entries.map(([name, field]) => [field.number, { name, ...field }]))

  const create = (values: Partial<M>): M => {
    const absent = entries.map(([name, { isRepeated }]) => [name, isRepeated ? [] : undefined])
    return { ...Object.fromEntries(absent), unknownFields: [], ...values } as M
  }

  const decode = (encoded: Uint8Array): M => {
    const message = create({})
    const values = message as Record<string, unknown>
    const reader = new BinaryReader(encoded)
    while (reader.pos < reader.len) {
      const start = reader.pos
      const [number, wireType] = reader.tag()
      const field = fieldsByNumber.get(number)
      if (!field) {
        reader.skip(wireType, number)
        message.unknownFields.push(encoded.subarray(start, reader.pos))
      } else if (!field.isRepeated) {
        values[field.name] = readValue(reader, wireType, field.codec)
      } else {
        const list = values[field.name] as unknown[]
        for (const value of readRepeated(reader, wireType, field.codec)) list.push(value)
      }
    }
    return message
  }

  const encode = (message: M): Uint8Array => {
    const writer = new BinaryWriter()
    for (const [name, { number, codec }] of entries)
      for (const value of [(message as Record<string, unknown>)[name] ?? []].flat())
        codec.write(writer.tag(number, codec.wireType), value)
    for (const field of message.unknownFields) writer.raw(field)
    return writer.finish()
  }

  return {
    wireType: WireType.LengthDelimited,
    read: reader => decode(reader.bytes()),
    write: (writer, value) => void writer.bytes(encode(value)),
    decode,
    encode,
    create,
  }
}

function readValue<T>(reader: BinaryReader, wireType: WireType, codec: Codec<T>): T {
  if (wireType !== codec.wireType) throw new Error(`wire type ${wireType}, expected ${codec.wireType}`)
  return codec.read(reader)
}

/** Reads one value of a repeated field, or all values of a packed one. */
function readRepeated<T>(reader: BinaryReader, wireType: WireType, codec: Codec<T>): T[] {
  const isPacked = wireType === WireType.LengthDelimited && codec.wireType === WireType.Varint
  if (!isPacked) return [readValue(reader, wireType, codec)]
  const values: T[] = []
  for (const end = reader.uint32() + reader.pos; reader.pos < end; ) values.push(codec.read(reader))
  return values
}
