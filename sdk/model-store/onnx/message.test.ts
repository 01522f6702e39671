import { describe, expect, it } from 'vitest'
import { bytes, int32, int64, many, message, one, string } from './message.ts'

const inner = message({ text: one(1, string) })
const outer = message({ id: one(1, int32), sizes: many(2, int64), inner: one(3, inner), raw: one(4, bytes) })

describe('a message', () => {
  it('comes back as it was written', () => {
    const written = outer.create({
      id: 7,
      sizes: [1n, -1n, 9223372036854775807n],
      inner: inner.create({ text: 'grüß' }),
      raw: Uint8Array.of(0, 255),
    })
    expect(outer.decode(outer.encode(written))).toEqual(written)
  })

  it('keeps what it does not know', () => {
    const onlyId = message({ id: one(1, int32) })
    const written = outer.encode(outer.create({ id: 7, sizes: [3n], raw: Uint8Array.of(9) }))
    const changed = onlyId.encode({ ...onlyId.decode(written), id: 8 })
    expect(outer.decode(changed)).toEqual(outer.create({ id: 8, sizes: [3n], raw: Uint8Array.of(9) }))
  })

  it('tells a number that is zero from one that is absent', () => {
    expect(outer.decode(outer.encode(outer.create({ id: 0 }))).id).toBe(0)
    expect(outer.decode(outer.encode(outer.create({}))).id).toBeUndefined()
  })

  it('reads repeated numbers packed and one by one', () => {
    const oneByOne = Uint8Array.of(0x10, 5, 0x10, 6)
    const packed = Uint8Array.of(0x12, 2, 5, 6)
    expect(outer.decode(oneByOne).sizes).toEqual([5n, 6n])
    expect(outer.decode(packed).sizes).toEqual([5n, 6n])
  })

  it('refuses bytes that end in the middle, and values of another type', () => {
    const whole = outer.encode(outer.create({ raw: new Uint8Array(10) }))
    expect(() => outer.decode(whole.subarray(0, -3))).toThrow()
    expect(() => outer.decode(Uint8Array.of(0x0a, 1, 65))).toThrow('wire type')
  })
})
