import { expect, test } from 'vitest'
import { z } from 'zod'
import { flagParameter, integerParameter, listParameter } from './parameters.ts'
import { parseAs, toQueryFields } from './parse.ts'

const schema = z.strictObject({
  name: z.string(),
  place: z.union([z.string(), z.strictObject({ url: z.string() })]).optional(),
  facts: z.record(z.string(), z.string()).optional(),
  list: z.array(z.strictObject({ n: z.int() })).optional(),
})

test.each([
  [7, 'Invalid input: expected object'],
  [{}, '/name: is required'],
  [{ name: 'a', colour: 1 }, '/colour: there is no such field'],
  [{ name: 'a', 'a/b~c': 1 }, '/a~1b~0c: there is no such field'],
  [{ name: 'a', list: [{ n: 1 }, { n: 1.5 }] }, '/list/1/n: '],
  [{ name: 'a', place: { url: 1 } }, '/place/url: '],
  [{ name: 'a', place: { url: 'u', port: 1 } }, '/place/port: there is no such field'],
  [{ name: 'a', place: 7 }, '/place: Invalid input: expected string or object'],
  [{ name: 'a', facts: [] }, '/facts: Invalid input: expected object, received array'],
  [{ name: 'a', place: {} }, '/place/url: is required'],
])('%j is refused at its place', (value, beginning) => {
  const parse = () => parseAs(schema, value)
  expect(parse).toThrow(expect.objectContaining({ code: 'syntax' }))
  expect(parse).toThrow(new RegExp(`^${beginning.replaceAll('/', '\\/')}`))
})

test('what is put before the pointer comes first', () => {
  expect(() => parseAs(schema, {}, '/0/source')).toThrow(/^\/0\/source\/name: /)
})

const query = z.strictObject({
  limit: integerParameter(1, 10).optional(),
  force: flagParameter,
  only: z.enum(['a', 'b']).optional(),
  list: listParameter(z.string()).optional(),
})

test.each(['limit', 'force', 'only'])('%s may be given once in a query', name => {
  const twice = toQueryFields({ [name]: ['1', '2'] })
  expect(() => parseAs(query, twice, '?')).toThrow(`?/${name}: is given more than once: give it once`)
})

test('a list may be given once and more than once in a query', () => {
  const given = (...values: string[]) => parseAs(query, toQueryFields({ list: values })).list
  expect([given('a'), given('a', 'b,c')]).toEqual([['a'], ['a', 'b', 'c']])
})
