import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ManifestElement, manifest } from '@eyrie/contract/plugin'
import { expect, it } from 'vitest'
import { findDuplicateShape, isKeyedBySource, selectSourceConfig } from './source-keyed-config.ts'

function builtIn(plugin: string): ManifestElement {
  const path = resolve(import.meta.dirname, '../../../plugins', plugin, 'plugin.json')
  return manifest.parse(JSON.parse(readFileSync(path, 'utf8'))).elements[0]!
}

it('recognises by its schema a config keyed by sources', () => {
  expect(isKeyedBySource(builtIn('line-crossing'))).toBe(true)
  expect(isKeyedBySource(builtIn('detect-zone-intersection'))).toBe(false)
  expect(isKeyedBySource(builtIn('infer'))).toBe(false)
})

it('selects the entries of one source', () => {
  const config = { '1': 'alone', '1,12': 'both', '2,12': 'others' }
  expect(selectSourceConfig(config, 1)).toEqual({ '1': 'alone', '1,12': 'both' })
  expect(selectSourceConfig(config, 12)).toEqual({ '1,12': 'both', '2,12': 'others' })
  expect(selectSourceConfig(config, 3)).toEqual({})
})

it('finds a duplicate shape name of a source and ignores shapes without a name', () => {
  const [door, nameless] = [{ name: 'door' }, { weight: 2 }]
  expect(findDuplicateShape({ '1': { lines: [door] }, '1,2': { zones: [nameless, door] } })).toEqual({
    ...{ pointer: '/1,2/zones/1/name', name: 'door', source: '1' },
  })
  expect(
    findDuplicateShape({ '1': { lines: [door], weights: [nameless, nameless, 3, 3, null] }, '2': null }),
  ).toBe(undefined)
})
