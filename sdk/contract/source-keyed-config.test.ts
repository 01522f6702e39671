import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { type ManifestElement, manifest } from './plugin.ts'
import { isKeyedBySource } from './source-keyed-config.ts'

function builtIn(plugin: string): ManifestElement {
  const path = resolve(import.meta.dirname, '../../plugins', plugin, 'plugin.json')
  return manifest.parse(JSON.parse(readFileSync(path, 'utf8'))).elements[0]!
}

it('recognizes a config keyed by source by its schema', () => {
  expect(isKeyedBySource(builtIn('line-crossing'))).toBe(true)
  expect(isKeyedBySource(builtIn('detect-zone-intersection'))).toBe(false)
  expect(isKeyedBySource(builtIn('infer'))).toBe(false)
})
