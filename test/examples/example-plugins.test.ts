import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generateManifest } from '@eyrie/element/generate'
import { describe, expect, it } from 'vitest'
import { packPlugin } from '../../sdk/cli/plugin/plugin-archive.ts'
import { sharedStatefulEngine } from '../fixtures/engine/shared-engine.ts'

const folder = resolve(import.meta.dirname, '../../examples/plugins')
const examples = globSync('*/element.ts', { cwd: folder }).map(file => file.split('/')[0]!)

describe('example plugins', () => {
  it('are listed with what they show', () => {
    const index = readFileSync(join(folder, 'README.md'), 'utf8')
    expect(examples.filter(name => !index.includes(`| [${name}](${name}/README.md) |`))).toEqual([])
  })

  it('pass their own tests', () => {
    const tests = globSync('*/*.test.ts', { cwd: folder })
    expect(tests).toHaveLength(examples.length)
    // One process for all of them: they change nothing outside of themselves.
    const args = ['--test', '--test-isolation=none', ...tests]
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    expect({ status, output: status === 0 ? '' : stdout }).toEqual({ status: 0, output: '' })
  })

  it.each(examples)(
    '%s has a manifest that is up to date with its code: otherwise run make generate',
    async name => {
      const written = JSON.parse(readFileSync(join(folder, name, 'plugin.json'), 'utf8'))
      expect(written).toEqual(await generateManifest(join(folder, name)))
      const { license, version } = JSON.parse(
        readFileSync(join(folder, name, 'package.json'), 'utf8'),
      )
      expect(written).toMatchObject({ name, license, version })
    },
  )

  describe('in an engine', () => {
    const call = sharedStatefulEngine()

    it.each(examples)('%s is packed, inspected, and loaded by an upload', async name => {
      const { archive } = await packPlugin(join(folder, name))
      const gzip = { 'Content-Type': 'application/gzip' }
      const { status, body } = await call('POST', '/plugins/inspection', archive, gzip)
      expect([status, body.name, body.elements.length, body.license]).toEqual([
        200,
        name,
        1,
        '0BSD',
      ])
      // Nothing is granted without being named: each example declares what it uses.
      expect(body.elements[0].capabilities).toMatchObject({ budget_ms: expect.any(Number) })
      expect(await call('POST', '/plugins', archive, gzip)).toMatchObject({ status: 201 })
    })
  })
})
