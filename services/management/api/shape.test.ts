import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { shapeOf } from './shape.ts'

const inner = z.object({ id: z.string() })

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
    expect(shapeOf(schema)(value)).toEqual(shown)
  })

  test('no kind that it is not', () => {
    const either = z.union([inner, z.object({ key: z.string() })])
    expect(() => shapeOf(either)({ neither: 1 })).toThrow(z.ZodError)
  })
})
