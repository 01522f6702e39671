import { describe, expect, it } from 'vitest'
import { runWithTimeout } from './run-with-timeout.ts'
import { compileCheck } from './schema-check.ts'

const check = compileCheck({
  type: 'object',
  properties: {
    model: { type: 'string' },
    threshold: { type: 'number', maximum: 1, default: 0.3 },
    mode: { enum: ['a', 's'] },
    zones: { type: 'array', items: { type: 'object' }, uniqueItemProperties: ['name'] },
  },
  required: ['model'],
  additionalProperties: false,
})

/** Loads another copy of the module, in which no schema has been compiled. */
function importCopy(copy: number): Promise<typeof import('./schema-check.ts')> {
  const { href } = new URL(`./schema-check.ts?copy=${copy}`, import.meta.url)
  return import(/* @vite-ignore */ href)
}

describe('schema check', () => {
  it('fills in defaults without modifying the original value', () => {
    const given = { model: 'person' }
    expect(check(given)).toEqual({ value: { model: 'person', threshold: 0.3 }, problem: undefined })
    expect(given).toEqual({ model: 'person' })
  })

  it('leaves values out whose default comes from elsewhere', () => {
    const threshold = { type: 'number', default: 0.3, defaultFrom: 'model' }
    const check = compileCheck({ type: 'object', properties: { threshold } })
    expect(check({})).toEqual({ value: {}, problem: undefined })
    expect(check({ threshold: 'x' }).problem).toEqual({
      pointer: '/threshold',
      message: 'must be number',
    })
  })

  it.each([
    [{}, '/model', 'is required'],
    [{ model: 1 }, '/model', 'must be string'],
    [{ model: 'person', threshold: 2 }, '/threshold', 'must be <= 1'],
    [{ model: 'person', mode: 'x' }, '/mode', 'must be one of a, s'],
    [{ model: 'person', size: 1 }, '/size', 'is not known'],
    [{ model: 'person', 'a/b': 1 }, '/a~1b', 'is not known'],
    [
      { model: 'person', zones: [{ name: 'door' }, { name: 'door' }] },
      '/zones',
      'must not have two items with the same name',
    ],
  ])('says of %j what is wrong and where', (value, pointer, message) => {
    expect(check(value).problem).toEqual({ pointer, message })
  })

  it('explains the alternative with the fewest errors', () => {
    const size = (names: string[]) => ({
      type: 'object',
      properties: Object.fromEntries(
        names.map(name => [name, { type: 'number', exclusiveMinimum: 0 }]),
      ),
      required: names,
      additionalProperties: false,
    })
    const resize = compileCheck({ oneOf: [size(['width', 'height']), size(['scale'])] })
    expect(resize({ scale: 0.5 }).problem).toBeUndefined()
    expect(resize({ scale: -1 }).problem).toEqual({ pointer: '/scale', message: 'must be > 0' })
    expect(resize({ width: 0, height: 10 }).problem).toEqual({
      pointer: '/width',
      message: 'must be > 0',
    })
    expect(resize({ width: 10 }).problem).toEqual({ pointer: '/height', message: 'is required' })
    expect(resize({}).problem).toEqual({
      pointer: '',
      message: 'must have width and height, or scale',
    })
  })

  it('validates corners of a convex quadrilateral', () => {
    const corners = compileCheck({ type: 'array', convexCorners: true })
    const [a, b, c, d] = [
      { x: 0, y: 0 },
      { x: 1, y: 0 },
      { x: 1, y: 1 },
      { x: 0, y: 1 },
    ]
    expect(corners([a, b, c, d]).problem).toBeUndefined()
    expect(corners([a, c, b, d]).problem?.message).toMatch('convex quadrilateral')
    expect(corners(['no point']).problem).toBeUndefined()
  })

  it('accepts only an empty object without a schema', () => {
    const nothing = compileCheck(null)
    expect(nothing({}).problem).toBeUndefined()
    expect(nothing({ a: 1 }).problem).toEqual({
      pointer: '',
      message: 'is not accepted by this element',
    })
  })

  it('can be compiled after a time limit has interrupted the first one, at any moment', async () => {
    for (let ms = 1; ms <= 20; ms++) {
      const { compileCheck } = await importCopy(ms)
      const compileForever = () => {
        for (;;) compileCheck({ type: 'object' })
      }
      expect(() => runWithTimeout(ms, 'too long', compileForever)).toThrow('too long')
      expect(compileCheck({ type: 'object' })({}).problem).toBeUndefined()
    }
  })

  it('cannot refer to an `$id` of another schema', () => {
    const named = (type: string) => ({
      $id: 'https://example.com/args',
      properties: { of: { $id: 'https://example.com/part', type } },
    })
    const [ofText, ofNumbers] = [compileCheck(named('string')), compileCheck(named('number'))]
    expect(ofText({ of: 'a' }).problem).toBeUndefined()
    expect(ofNumbers({ of: 1 }).problem).toBeUndefined()
    expect(() => compileCheck({ $ref: 'https://example.com/part' })).toThrow(
      "can't resolve reference",
    )
  })
})
