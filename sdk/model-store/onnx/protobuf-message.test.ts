import { describe, expect, it } from 'vitest'
import {
  bytes,
  defineMessage,
  int32,
  int64,
  optional,
  repeated,
  string,
} from './protobuf-message.ts'

const inner = defineMessage({ text: optional(1, string) })
const outer = defineMessage({
  id: optional(1, int32),
  sizes: repeated(2, int64),
  inner: optional(3, inner),
  raw: optional(4, bytes),
})

describe('a protobuf message', () => {
  it('decodes to the message that was encoded', () => {
    const message = outer.create({
      id: 7,
      sizes: [1n, -1n, 9223372036854775807n],
      inner: inner.create({ text: 'grüß' }),
      raw: Uint8Array.of(0, 255),
    })
    expect(outer.decode(outer.encode(message))).toEqual(message)
  })

  it('preserves unknown fields', () => {
    const onlyId = defineMessage({ id: optional(1, int32) })
    const encoded = outer.encode(outer.create({ id: 7, sizes: [3n], raw: Uint8Array.of(9) }))
    const changed = onlyId.encode({ ...onlyId.decode(encoded), id: 8 })
    expect(outer.decode(changed)).toEqual(
      outer.create({ id: 8, sizes: [3n], raw: Uint8Array.of(9) }),
    )
  })

  it('distinguishes zero from an absent number', () => {
    expect(outer.decode(outer.encode(outer.create({ id: 0 }))).id).toBe(0)
    expect(outer.decode(outer.encode(outer.create({}))).id).toBeUndefined()
  })

  it('decodes repeated numbers, packed or not', () => {
    const unpacked = Uint8Array.of(0x10, 5, 0x10, 6)
    const packed = Uint8Array.of(0x12, 2, 5, 6)
    expect(outer.decode(unpacked).sizes).toEqual([5n, 6n])
    expect(outer.decode(packed).sizes).toEqual([5n, 6n])
  })

  it('rejects truncated bytes and values of another wire type', () => {
    const whole = outer.encode(outer.create({ raw: new Uint8Array(10) }))
    expect(() => outer.decode(whole.subarray(0, -3))).toThrow()
    expect(() => outer.decode(Uint8Array.of(0x0a, 1, 65))).toThrow('wire type')
  })
})
