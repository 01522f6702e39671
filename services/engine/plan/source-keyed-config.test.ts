import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ManifestElement, manifest } from '@eyrie/contract/plugin'
import { expect, it } from 'vitest'
import { keysAreSources, namedTwice, ownConfig } from './source-keyed-config.ts'

function builtIn(plugin: string): ManifestElement {
  const path = resolve(import.meta.dirname, '../../../plugins', plugin, 'plugin.json')
  return manifest.parse(JSON.parse(readFileSync(path, 'utf8'))).elements[0]!
}

it('knows from its schema which config is keyed by sources', () => {
  expect(keysAreSources(builtIn('line-crossing'))).toBe(true)
  expect(keysAreSources(builtIn('detect-zone-intersection'))).toBe(false)
  expect(keysAreSources(builtIn('infer'))).toBe(false)
})

it('finds what a config says to one source', () => {
  const config = { '1': 'alone', '1,12': 'both', '2,12': 'others' }
  expect(ownConfig(config, 1)).toEqual({ '1': 'alone', '1,12': 'both' })
  expect(ownConfig(config, 12)).toEqual({ '1,12': 'both', '2,12': 'others' })
  expect(ownConfig(config, 3)).toEqual({})
})

it('finds the second shape of one name that a source has, and no name where there is none', () => {
  const [door, nameless] = [{ name: 'door' }, { weight: 2 }]
  expect(namedTwice({ '1': { lines: [door] }, '1,2': { zones: [nameless, door] } })).toEqual({
    ...{ pointer: '/1,2/zones/1/name', name: 'door', source: '1' },
  })
  expect(namedTwice({ '1': { lines: [door], weights: [nameless, nameless, 3, 3, null] }, '2': null })).toBe(
    undefined,
  )
})
