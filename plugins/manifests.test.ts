import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateManifest } from '@eyrie/element/generate'
import { describe, expect, it } from 'vitest'

const plugins = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(entry => entry.name)

describe('plugin manifests', () => {
  it.each(plugins)('plugin.json of %s is up to date with `make generate`', async plugin => {
    const folder = join(import.meta.dirname, plugin)
    const written = JSON.parse(readFileSync(join(folder, 'plugin.json'), 'utf8'))
    expect(written).toEqual(await generateManifest(folder))
    expect(written.name).toBe(plugin)
  })
})
