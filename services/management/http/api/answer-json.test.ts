import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createSerializer } from './answer-json.ts'

const inner = z.object({ id: z.string() })

const serialize = (schema: z.ZodType, value: unknown) => createSerializer(schema)(value)

describe('response serializer', () => {
  it.each<[string, z.ZodType, unknown, unknown]>([
    ['drops fields that an object does not name', inner, { id: 'a', secret: 'b' }, { id: 'a' }],
    [
      'drops unnamed fields of nested objects',
      z.object({ it: inner }),
      { it: { id: 'a', secret: 'b' } },
      { it: { id: 'a' } },
    ],
    [
      'drops unnamed fields of objects in arrays',
      z.array(z.array(inner)),
      [[{ id: 'a', secret: 'b' }]],
      [[{ id: 'a' }]],
    ],
    [
      'drops unnamed fields of a strict object',
      z.strictObject({ id: z.string() }),
      { id: 'a', b: 1 },
      { id: 'a' },
    ],
    [
      'retains all fields of a loose object',
      z.looseObject({ id: z.string() }),
      { id: 'a', b: 1 },
      { id: 'a', b: 1 },
    ],
    [
      'keeps all entries of a record',
      z.record(z.string(), z.unknown()),
      { a: { b: 1 } },
      { a: { b: 1 } },
    ],
    [
      'writes null for a nullable object',
      z.object({ it: inner.nullable() }),
      { it: null },
      { it: null },
    ],
    ['omits an absent optional object', z.object({ it: inner.optional() }), {}, {}],
    [
      'writes the default of an absent field',
      z.object({ it: z.string().default('none') }),
      {},
      { it: 'none' },
    ],
    [
      'writes a value instead of its default',
      z.object({ it: inner.default({ id: '' }) }),
      { it: { id: 'a', b: 1 } },
      { it: { id: 'a' } },
    ],
    [
      'selects the matching variant of a union',
      z.union([z.array(inner), z.array(z.object({ key: z.string() }))]),
      [{ key: 'a', b: 1 }],
      [{ key: 'a' }],
    ],
    ['applies transforms', z.preprocess(String, z.string()), 1, '1'],
    ['does not validate scalars', z.string().max(1), 'more than that', 'more than that'],
  ])('%s', (_, schema, value, expected) => {
    expect(serialize(schema, value)).toBe(JSON.stringify(expected))
  })

  it('rejects a value that matches no variant of a union', () => {
    const either = z.union([inner, z.object({ key: z.string() })])
    expect(() => serialize(either, { neither: 1 })).toThrow(z.ZodError)
  })

  it('writes an object in several places, each time with the fields of that place', () => {
    const more = z.object({ id: z.string(), secret: z.string() })
    const schema = z.object({ one: inner, many: z.array(inner), open: more, others: z.array(more) })
    const [a, b] = [
      { id: 'a', secret: '1' },
      { id: 'b'.repeat(100_000), secret: '2' },
    ]
    const reply = { one: a, many: [b, a, b], open: b, others: [a, b, a] }
    const expected = {
      one: { id: a.id },
      many: [b, a, b].map(({ id }) => ({ id })),
      open: b,
      others: [a, b, a],
    }
    expect(serialize(schema, reply)).toBe(JSON.stringify(expected))
  })

  it('writes empty objects and arrays', () => {
    const all = z.array(z.object({ id: z.string().optional(), list: z.array(inner).optional() }))
    expect(serialize(all, [{}, { secret: 'b' }, { list: [] }])).toBe('[{},{},{"list":[]}]')
  })

  it.each<[string, unknown]>([
    ['text', 'Straße 1'],
    ['long text', 'ü'.repeat(100_000)],
    ['text in many scripts', 'é 日本語 😀 \u2028 \u007f'],
    ['lone surrogates', '\ud800, then \udc00'],
    ['quotes, backslashes and control characters', '"\\\n\t\0\u001f'],
    ['the empty string', ''],
    ['numbers', [0, -0, 1.5, -1e-9, 1e300]],
    ['numbers that JSON cannot represent', [Number.NaN, Number.POSITIVE_INFINITY]],
    ['booleans, null and undefined', [true, false, null, undefined]],
    ['dates', new Date(0)],
    ['functions and symbols', { call: () => 0, symbol: Symbol('a'), nothing: undefined }],
    ['functions and symbols in an array', [() => 0, Symbol('a'), undefined]],
    ['an empty array', []],
  ])('writes %s as JSON.stringify does', (_, value) => {
    const schema = z.object({ it: z.unknown(), each: z.array(z.unknown()) })
    const reply = { it: value, each: [value] }
    expect(serialize(schema, reply)).toBe(JSON.stringify(reply))
  })
})
