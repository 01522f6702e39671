import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** How one kind of value is read and written. */
export interface Codec<T> {
  wireType: WireType
  read(reader: BinaryReader): T
  write(writer: BinaryWriter, value: T): void
}

interface Field<T, Many extends boolean> {
  number: number
  codec: Codec<T>
  many: Many
}

type AnyField = Field<unknown, boolean>
type Fields = Record<string, AnyField>

type FieldValue<F> =
  F extends Field<infer T, true> ? T[] : F extends Field<infer T, false> ? T | undefined : never

/** A decoded message: every declared field, and the bytes of all others, which are written back as they were. */
export type Message<F extends Fields> = { [K in keyof F]: FieldValue<F[K]> } & { others: Uint8Array[] }

/** A message type: a codec of its own, so that it can be a field of another. */
export interface MessageType<M> extends Codec<M> {
  decode(bytes: Uint8Array): M
  encode(message: M): Uint8Array
  /** A message of these fields; what is left out is absent. */
  create(fields: Partial<M>): M
}

export type MessageOf<T> = T extends MessageType<infer M> ? M : never

export const one = <T>(number: number, codec: Codec<T>): Field<T, false> => ({ number, codec, many: false })
export const many = <T>(number: number, codec: Codec<T>): Field<T, true> => ({ number, codec, many: true })

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

/** A message type by its fields. Only those that are worked on need be declared: decoding loses nothing. */
export function message<F extends Fields>(fields: F): MessageType<Message<F>> {
  type M = Message<F>
  const entries = Object.entries(fields) as [string, Field<unknown, boolean>][]
  const byNumber = new Map(entries.map(([name, field]) => [field.number, { name, ...field }]))

  const create = (given: Partial<M>): M => {
    const absent = entries.map(([name, { many }]) => [name, many ? [] : undefined])
    return { ...Object.fromEntries(absent), others: [], ...given } as M
  }

  const decode = (bytes: Uint8Array): M => {
    const decoded = create({})
    const values = decoded as Record<string, unknown>
    const reader = new BinaryReader(bytes)
    while (reader.pos < reader.len) {
      const start = reader.pos
      const [number, wireType] = reader.tag()
      const field = byNumber.get(number)
      if (!field) {
        reader.skip(wireType, number)
        decoded.others.push(bytes.subarray(start, reader.pos))
      } else if (!field.many) {
        values[field.name] = readOne(reader, wireType, field.codec)
      } else {
        const list = values[field.name] as unknown[]
        for (const value of readSome(reader, wireType, field.codec)) list.push(value)
      }
    }
    return decoded
  }

  const encode = (encoded: M): Uint8Array => {
    const writer = new BinaryWriter()
    for (const [name, { number, codec }] of entries)
      for (const value of [(encoded as Record<string, unknown>)[name] ?? []].flat())
        codec.write(writer.tag(number, codec.wireType), value)
    for (const bytes of encoded.others) writer.raw(bytes)
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

function readOne<T>(reader: BinaryReader, wireType: WireType, codec: Codec<T>): T {
  if (wireType !== codec.wireType) throw new Error(`wire type ${wireType} where ${codec.wireType} belongs`)
  return codec.read(reader)
}

/** One value of a repeated field, or all of them where numbers are packed. */
function readSome<T>(reader: BinaryReader, wireType: WireType, codec: Codec<T>): T[] {
  const isPacked = wireType === WireType.LengthDelimited && codec.wireType === WireType.Varint
  if (!isPacked) return [readOne(reader, wireType, codec)]
  const values: T[] = []
  for (const end = reader.uint32() + reader.pos; reader.pos < end; ) values.push(codec.read(reader))
  return values
}
