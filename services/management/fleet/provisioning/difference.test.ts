import { describe, expect, test } from 'vitest'
import { type DifferenceInput, differenceOf, surviving } from './difference.ts'

interface Fields {
  name: string
  secret: string
}

const shown = (fields: Fields): Fields => ({ ...fields, secret: fields.secret && '***' })
const record = (name: string, secret = '') => ({ record_id: 'a', name: 'a', fields: { name, secret } })
const made = (name: string, secret = '', sid: number | null = 7) => ({
  record_id: 'a',
  sid,
  made_after: 5,
  applied: { name, secret },
})
const found = (id: number, name: string, secret = '') => ({ id, name, secret, other: 'not ours' })
const difference = (input: Partial<DifferenceInput<Fields>>) =>
  differenceOf({ wanted: [], made: [], found: [], shown, repair: false, ...input })
const stepsOf = (input: Partial<DifferenceInput<Fields>>) =>
  difference(input).steps.map(step => ({
    step: step.step,
    ...('fields' in step && { fields: step.fields }),
    ...('found' in step && { id: step.found.id }),
  }))

describe('what it takes to make an engine what is stored', () => {
  test('nothing, where it is', () => {
    const input = { wanted: [record('x', 's')], made: [made('x', 's')], found: [found(7, 'x', '***')] }
    expect(difference(input)).toEqual({ steps: [], drift: [] })
  })

  test('what is new is created', () => {
    expect(stepsOf({ wanted: [record('x')], found: [found(7, 'x')] })).toEqual([{ step: 'create' }])
  })

  test('what is missing is created again', () => {
    expect(stepsOf({ wanted: [record('x')], made: [made('x')] })).toEqual([{ step: 'create' }])
  })

  test('what is stored otherwise than before is changed, and nothing besides', () => {
    const input = { wanted: [record('y', 's')], made: [made('x', 's')], found: [found(7, 'x', '***')] }
    expect(stepsOf(input)).toEqual([{ step: 'change', fields: { name: 'y' }, id: 7 }])
  })

  test('a secret that cannot be seen there is changed, too', () => {
    const input = { wanted: [record('x', 'new')], made: [made('x', 'old')], found: [found(7, 'x', '***')] }
    expect(stepsOf(input)).toEqual([{ step: 'change', fields: { secret: 'new' }, id: 7 }])
  })

  test('what is stored no longer is removed', () => {
    expect(stepsOf({ made: [made('x')], found: [found(7, 'x')] })).toEqual([{ step: 'remove', id: 7 }])
    expect(stepsOf({ made: [made('x')] })).toEqual([{ step: 'forget' }])
  })

  test('what others have made is left alone', () => {
    expect(difference({ found: [found(1, 'theirs')] })).toEqual({ steps: [], drift: [] })
  })
})

describe('what somebody has changed there', () => {
  const changed = { wanted: [record('x', 's')], made: [made('x', 's')], found: [found(7, 'theirs', '***')] }

  test('is drift, and stays', () => {
    expect(difference(changed)).toEqual({
      steps: [],
      drift: [{ record_id: 'a', name: 'a', sid: 7, field: 'name', stored: 'x', found: 'theirs' }],
    })
  })

  test('is undone by repair, together with what cannot be seen', () => {
    expect(stepsOf({ ...changed, repair: true })).toEqual([
      { step: 'change', fields: { name: 'x', secret: 's' }, id: 7 },
    ])
  })

  test('gives way to what is changed here later, field by field', () => {
    const input = { ...changed, wanted: [record('x', 't')] }
    expect(difference(input)).toMatchObject({
      steps: [{ step: 'change', fields: { secret: 't' } }],
      drift: [{ field: 'name' }],
    })
  })
})

describe('something of which nobody knows whether it was made', () => {
  test('is found again by what it is, and by an id that came after', () => {
    const input = { wanted: [record('x')], made: [made('x', '', null)] }
    expect(stepsOf({ ...input, found: [found(4, 'x'), found(6, 'x')] })).toEqual([{ step: 'adopt', id: 6 }])
    expect(stepsOf({ ...input, found: [found(4, 'x')] })).toEqual([{ step: 'create' }])
  })

  test('is removed where it is wanted no longer', () => {
    expect(stepsOf({ made: [made('x', '', null)], found: [found(6, 'x')] })).toEqual([
      { step: 'adopt', id: 6 },
      { step: 'remove', id: 6 },
    ])
  })

  test('is not what another record is', () => {
    const other = { ...made('x', '', 6), record_id: 'b' }
    const input = { wanted: [record('x')], made: [made('x', '', null), other], found: [found(6, 'x')] }
    expect(stepsOf(input)).toEqual([{ step: 'create' }, { step: 'remove', id: 6 }])
  })
})

test('where ids begin anew only what is as it was written is believed to be ours', () => {
  expect(surviving([made('x', 's')], [found(7, 'x', '***')], shown)).toHaveLength(1)
  expect(surviving([made('x')], [found(7, 'another')], shown)).toEqual([])
  expect(surviving([made('x')], [], shown)).toEqual([])
})
