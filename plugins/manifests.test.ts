import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateManifest } from '@eyrie/element/generate'
import { expect, test } from 'vitest'

const plugins = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(entry => entry.name)

test.each(plugins)('plugin.json of %s is what `make generate` writes', async plugin => {
  const folder = join(import.meta.dirname, plugin)
  const written = JSON.parse(readFileSync(join(folder, 'plugin.json'), 'utf8'))
  expect(written).toEqual(await generateManifest(folder))
  expect(written.name).toBe(plugin)
})
