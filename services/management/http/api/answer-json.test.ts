import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jsonOf } from './answer-json.ts'

const inner = z.object({ id: z.string() })

const textOf = (schema: z.ZodType, value: unknown) => Buffer.from(jsonOf(schema)(value)).toString()

describe('an answer shows', () => {
  test.each<[string, z.ZodType, unknown, unknown]>([
    ['of an object, what is named', inner, { id: 'a', secret: 'b' }, { id: 'a' }],
    [
      'of objects inside, too',
      z.object({ it: inner }),
      { it: { id: 'a', secret: 'b' } },
      { it: { id: 'a' } },
    ],
    ['of objects in lists, too', z.array(z.array(inner)), [[{ id: 'a', secret: 'b' }]], [[{ id: 'a' }]]],
    ['of a strict object, what is named', z.strictObject({ id: z.string() }), { id: 'a', b: 1 }, { id: 'a' }],
    [
      'of a loose object, everything',
      z.looseObject({ id: z.string() }),
      { id: 'a', b: 1 },
      { id: 'a', b: 1 },
    ],
    ['of a record, everything', z.record(z.string(), z.unknown()), { a: { b: 1 } }, { a: { b: 1 } }],
    ['null where there is none', z.object({ it: inner.nullable() }), { it: null }, { it: null }],
    ['nothing where there is nothing', z.object({ it: inner.optional() }), {}, {}],
    ['what stands for nothing', z.object({ it: z.string().default('none') }), {}, { it: 'none' }],
    [
      'what is there in its stead',
      z.object({ it: inner.default({ id: '' }) }),
      { it: { id: 'a', b: 1 } },
      { it: { id: 'a' } },
    ],
    [
      'of several kinds, the one that it is',
      z.union([z.array(inner), z.array(z.object({ key: z.string() }))]),
      [{ key: 'a', b: 1 }],
      [{ key: 'a' }],
    ],
    ['what is made of it', z.preprocess(String, z.string()), 1, '1'],
    ['what is neither object nor list as it is', z.string().max(1), 'more than that', 'more than that'],
  ])('%s', (_, schema, value, shown) => {
    expect(textOf(schema, value)).toBe(JSON.stringify(shown))
  })

  test('no kind that it is not', () => {
    const either = z.union([inner, z.object({ key: z.string() })])
    expect(() => textOf(either, { neither: 1 })).toThrow(z.ZodError)
  })

  test('the same object at several places, at each as much as is named there', () => {
    const more = z.object({ id: z.string(), secret: z.string() })
    const schema = z.object({ one: inner, many: z.array(inner), open: more, others: z.array(more) })
    const [a, b] = [
      { id: 'a', secret: '1' },
      { id: 'b'.repeat(100_000), secret: '2' },
    ]
    const answer = { one: a, many: [b, a, b], open: b, others: [a, b, a] }
    const shown = { one: { id: a.id }, many: [b, a, b].map(({ id }) => ({ id })), open: b, others: [a, b, a] }
    expect(textOf(schema, answer)).toBe(JSON.stringify(shown))
  })

  test('objects with nothing in them', () => {
    const all = z.array(z.object({ id: z.string().optional(), list: z.array(inner).optional() }))
    expect(textOf(all, [{}, { secret: 'b' }, { list: [] }])).toBe('[{},{},{"list":[]}]')
  })
})

describe('an answer writes as JSON.stringify does', () => {
  test.each<[string, unknown]>([
    ['text', 'Straße 1'],
    ['text that is much longer than what it began with', 'ü'.repeat(100_000)],
    ['text of many scripts', 'é 日本語 😀 \u2028 \u007f'],
    ['half a pair of units of UTF-16', '\ud800, then \udc00'],
    ['quotes, backslashes and control characters', '"\\\n\t\0\u001f'],
    ['no text', ''],
    ['numbers', [0, -0, 1.5, -1e-9, 1e300]],
    ['what is no number', [Number.NaN, Number.POSITIVE_INFINITY]],
    ['yes, no and nothing', [true, false, null, undefined]],
    ['moments', new Date(0)],
    ['what has no JSON', { call: () => 0, symbol: Symbol('a'), nothing: undefined }],
    ['what has no JSON in a list', [() => 0, Symbol('a'), undefined]],
    ['a list of nothing', []],
  ])('%s', (_, value) => {
    const schema = z.object({ it: z.unknown(), each: z.array(z.unknown()) })
    const answer = { it: value, each: [value] }
    expect(textOf(schema, answer)).toBe(JSON.stringify(answer))
  })
})
