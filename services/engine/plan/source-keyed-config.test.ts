import { expect, it } from 'vitest'
import { findDuplicateShape, selectSourceConfig } from './source-keyed-config.ts'

it('selects the entries of one source', () => {
  const config = { '1': 'alone', '1,12': 'both', '2,12': 'others' }
  expect(selectSourceConfig(config, 1)).toEqual({ '1': 'alone', '1,12': 'both' })
  expect(selectSourceConfig(config, 12)).toEqual({ '1,12': 'both', '2,12': 'others' })
  expect(selectSourceConfig(config, 3)).toEqual({})
})

it('finds a duplicate shape name of a source and ignores shapes without a name', () => {
  const [door, nameless] = [{ name: 'door' }, { weight: 2 }]
  expect(
    findDuplicateShape({ '1': { lines: [door] }, '1,2': { zones: [nameless, door] } }),
  ).toEqual({
    ...{ pointer: '/1,2/zones/1/name', name: 'door', sourceId: 1 },
  })
  expect(
    findDuplicateShape({
      '1': { lines: [door], weights: [nameless, nameless, 3, 3, null] },
      '2': null,
    }),
  ).toBe(undefined)
})
