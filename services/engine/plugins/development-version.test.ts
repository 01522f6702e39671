// @module-tag long

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDevelopmentVersion } from '@eyrie/contract'
import type { Service } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CallEngine, startEngine } from '../../../test/fixtures/engine/engine.ts'
import { createPluginPackage } from '../../../test/fixtures/engine/plugin-package.ts'
import type { TestPlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

let data: string
let engine: Service
let call: CallEngine
beforeEach(async () => {
  data = createTemporaryFolder()
  ;({ engine, call } = await startEngine(data, { EYRIE_LICENSE: 'community' }))
})
afterEach(() => engine.stop())

const upload = async (plugin: TestPlugin) =>
  call('POST', '/plugins', await createPluginPackage({ version: '1.0.0-dev', ...plugin }), {
    'Content-Type': 'application/gzip',
  })
const withLimit = (maximum: number) => ({
  params_schema: { type: 'object', properties: { limit: { type: 'integer', maximum } } },
})
const readCode = () => readFileSync(join(data, 'plugins/probe/1.0.0-dev/element.ts'), 'utf8')

describe('a development version', () => {
  it.each([
    ['1.0.0-dev', true],
    ['1.0.0-dev.3', true],
    ['1.0.0', false],
    ['1.0.0-device', false],
    ['1.0.0-beta.dev', false],
    ['1.0.0-beta-dev', false],
  ])('is recognized: %s → %s', (version, expected) => {
    expect(isDevelopmentVersion(version)).toBe(expected)
  })

  it('is replaced by an upload with different content', async () => {
    expect((await upload({})).status).toBe(201)
    expect((await upload({})).status).toBe(200)
    const open = 'return { process: () => ({ events: [] }) }'
    expect(await upload({ open, element: withLimit(3) })).toMatchObject({
      status: 201,
      body: { active: '1.0.0-dev', versions: [{ version: '1.0.0-dev' }] },
    })
    expect(readCode()).toContain(open)
    const { elements } = (await call('GET', '/catalog?filter=elements')).body
    const probe = elements.find(({ name }: { name: string }) => name === 'probe')
    expect(JSON.stringify(probe)).toContain('"maximum":3')
  })

  it('remains if pipelines do not fit the new content, or if it cannot be loaded', async () => {
    await upload({ element: withLimit(9) })
    const { id } = (
      await call('POST', '/pipelines', { elements: [{ name: 'probe', args: { limit: 9 } }] })
    ).body
    const before = readCode()
    const refused = await upload({ open: 'return 1', element: withLimit(3) })
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'reference', value: { pipelines: [id] } },
    })
    expect((await upload({ module: 'throw new Error("broken")' })).status).toBe(400)
    expect(readCode()).toBe(before)
  })

  it('is not accepted from shadow after an upload has replaced it, unless by force', async () => {
    const version = '2.0.0-dev'
    await upload({ version: '1.0.0' })
    await upload({ version })
    await call('PUT', '/plugins/probe/shadow', { version })
    await upload({ version, open: 'return 1' })
    const accept = (body: object) => call('POST', '/plugins/probe/shadow/acceptance', body)
    expect(await accept({})).toMatchObject({
      status: 409,
      body: { reason: expect.stringMatching(/2\.0\.0-dev of probe was replaced .*in shadow/) },
    })
    expect(await accept({ force: true })).toMatchObject({ status: 200, body: { active: version } })
  })
})

describe('a version for release', () => {
  it('is not replaced, and the reason names the remedy', async () => {
    await upload({ version: '1.0.0' })
    const refused = await upload({ version: '1.0.0', open: 'return 1' })
    expect(refused).toMatchObject({
      status: 409,
      body: { reason: expect.stringContaining('1.0.0-dev') },
    })
  })
})

describe('an upload', () => {
  it('without schemas is refused, with the command that writes them', async () => {
    const refused = await upload({ element: { params_schema: undefined as never } })
    expect(refused).toMatchObject({
      status: 400,
      body: {
        code: 'syntax',
        reason: expect.stringMatching(/element probe has no params_schema: .*plugin generate/),
      },
    })
  })

  it('that is written for a newer SDK is refused with the remedy', async () => {
    const refused = await upload({ manifest: { sdk: '^1.99' } })
    expect(refused).toMatchObject({
      status: 400,
      body: {
        reason: expect.stringMatching(/\/sdk: it is written for version \^1\.99 .*update Eyrie/),
      },
    })
  })

  it('with an error in its code is refused with the file and line', async () => {
    const refused = await upload({ module: 'const limit = 1\nlimit.missing.length' })
    expect(refused.body.reason).toMatch(
      /Cannot read properties of undefined .*\(element\.ts:2:\d+\)/,
    )
  })
})
