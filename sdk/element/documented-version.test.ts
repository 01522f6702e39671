import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { checkSdkRange, SDK_VERSION } from '@eyrie/contract/sdk-version'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const EXAMPLES = join(ROOT, 'examples/plugins')
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8')

describe('the version of the SDK', () => {
  it('is the last one whose additions the README lists', () => {
    const versions = [...read('sdk/element/README.md').matchAll(/^\| (\d+\.\d+\.\d+) \|/gm)]
    expect(versions.at(-1)?.[1]).toBe(SDK_VERSION)
  })

  it('is that of the package in the guide', () => {
    const names = [...read('docs/guide/plugins.md').matchAll(/eyrie-element-(\d+\.\d+\.\d+)\.tgz/g)]
    expect(names.length).toBeGreaterThan(0)
    for (const [, version] of names) expect(version).toBe(SDK_VERSION)
  })

  it.each(
    readdirSync(EXAMPLES, { withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .map(({ name }) => name),
  )('is sufficient for the example %s, which requires what it uses', name => {
    const folder = join(EXAMPLES, name)
    const { sdk, entry } = JSON.parse(readFileSync(join(folder, 'plugin.json'), 'utf8'))
    expect(checkSdkRange(sdk)).toBeUndefined()
    const isNew = /\binfer\b|\bmigrate\b/.test(readFileSync(join(folder, entry), 'utf8'))
    if (isNew) expect(checkSdkRange(sdk, '1.1.0')).toMatch(/update Eyrie/)
  })
})
