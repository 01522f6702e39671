import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { flagParameter, integerParameter, listParameter } from './parameters.ts'
import { parseAs, toQueryFields } from './parse.ts'

describe('parseAs', () => {
  const schema = z.strictObject({
    name: z.string(),
    place: z.union([z.string(), z.strictObject({ url: z.string() })]).optional(),
    facts: z.record(z.string(), z.string()).optional(),
    list: z.array(z.strictObject({ n: z.int() })).optional(),
  })

  it.each([
    [7, 'Invalid input: expected object'],
    [{}, '/name: is required'],
    [{ name: 'a', colour: 1 }, '/colour: unknown field'],
    [{ name: 'a', 'a/b~c': 1 }, '/a~1b~0c: unknown field'],
    [{ name: 'a', list: [{ n: 1 }, { n: 1.5 }] }, '/list/1/n: '],
    [{ name: 'a', place: { url: 1 } }, '/place/url: '],
    [{ name: 'a', place: { url: 'u', port: 1 } }, '/place/port: unknown field'],
    [{ name: 'a', place: 7 }, '/place: Invalid input: expected string or object'],
    [{ name: 'a', facts: [] }, '/facts: Invalid input: expected object, received array'],
    [{ name: 'a', place: {} }, '/place/url: is required'],
  ])('rejects %j with the pointer of the invalid field', (value, beginning) => {
    const parse = () => parseAs(schema, value)
    expect(parse).toThrow(expect.objectContaining({ code: 'syntax' }))
    expect(parse).toThrow(new RegExp(`^${beginning.replaceAll('/', '\\/')}`))
  })

  it('starts the pointer with the given prefix', () => {
    expect(() => parseAs(schema, {}, '/0/source')).toThrow(/^\/0\/source\/name: /)
  })
})

describe('query parameters', () => {
  const query = z.strictObject({
    limit: integerParameter(1, 10).optional(),
    force: flagParameter,
    only: z.enum(['a', 'b']).optional(),
    list: listParameter(z.string()).optional(),
  })

  it.each(['limit', 'force', 'only'])('rejects a repeated %s', name => {
    const fields = toQueryFields({ [name]: ['1', '2'] })
    expect(() => parseAs(query, fields, '?')).toThrow(`?/${name}: may be specified only once`)
  })

  it('accepts a repeated list', () => {
    const parse = (...values: string[]) => parseAs(query, toQueryFields({ list: values })).list
    expect([parse('a'), parse('a', 'b,c')]).toEqual([['a'], ['a', 'b', 'c']])
  })
})
