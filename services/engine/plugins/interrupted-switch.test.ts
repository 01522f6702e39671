// @module-tag long

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { createPluginPackage } from '../../../test/fixtures/engine/plugin-package.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const LIMIT_MS = 120_000
const data = { EYRIE_LICENSE: 'community' }
const withArgument = (name: string) => ({
  params_schema: { type: 'object', properties: { [name]: {} }, additionalProperties: false },
})

it('a switch during which the engine has ended changes the pipelines when it starts again', async () => {
  const folder = createTemporaryFolder()
  const first = await startEngine(folder, data)
  const upload = async (version: string, name: string) => {
    const archive = await createPluginPackage({ version, element: withArgument(name) })
    await first.call('POST', '/plugins', archive, { 'Content-Type': 'application/gzip' })
  }
  await upload('1.0.0', 'limit')
  await upload('2.0.0', 'threshold')
  const before = [{ name: 'probe', args: { limit: 4 } }]
  const after = [{ name: 'probe', args: { threshold: 4 } }]
  const { id } = (await first.call('POST', '/pipelines', { elements: before })).body
  const { id: edited } = (
    await first.call('POST', '/pipelines', { elements: [{ name: 'probe', args: {} }] })
  ).body
  await first.engine.stop()

  // As it is after the version was stored, and before the pipelines were.
  const selection = join(folder, 'plugins', 'active.json')
  writeFileSync(
    selection,
    JSON.stringify({ ...JSON.parse(readFileSync(selection, 'utf8')), probe: '2.0.0' }),
  )
  const pipelines = [id, edited].map(id => ({ id, before, after }))
  const unfinished = { to: '2.0.0', pipelines }
  writeFileSync(
    join(folder, 'plugins', 'switches.json'),
    JSON.stringify({ probe: { switches: [], unfinished } }),
  )

  const second = await startEngine(folder, data)
  onTestFinished(() => second.engine.stop())
  expect((await second.call('GET', `/pipelines/${id}`)).body.elements).toEqual(after)
  // Somebody has edited this one since.
  expect((await second.call('GET', `/pipelines/${edited}`)).body.elements[0].args).toEqual({})
  expect(JSON.parse(readFileSync(join(folder, 'plugins', 'switches.json'), 'utf8'))).toEqual({
    probe: { switches: [] },
  })
})

it('a switch whose pipelines could not be stored is completed when it is requested again', async () => {
  const folder = createTemporaryFolder()
  const { engine, call } = await startEngine(folder, data)
  onTestFinished(() => engine.stop())
  const upload = async (version: string, name: string, members?: string) => {
    const plugin = { version, element: withArgument(name), members }
    const archive = await createPluginPackage(plugin)
    await call('POST', '/plugins', archive, { 'Content-Type': 'application/gzip' })
  }
  await upload('1.0.0', 'limit')
  await upload(
    '2.0.0',
    'threshold',
    'migrate: (args: { limit: number }) => ({ threshold: args.limit }),',
  )
  const elements = [{ name: 'probe', args: { limit: 4 } }]
  const { id } = (await call('POST', '/pipelines', { elements })).body
  const use = () => call('PUT', '/plugins/probe', { version: '2.0.0' })

  // The file cannot be written, as on a full disk.
  const temporary = join(folder, 'engine', 'configuration.json.new')
  mkdirSync(temporary)
  expect((await use()).status).toBe(500)
  rmSync(temporary, { recursive: true })
  expect((await use()).status).toBe(200)
  expect((await call('GET', `/pipelines/${id}`)).body.elements).toEqual([
    { name: 'probe', args: { threshold: 4 } },
  ])
})

it(
  'a switch remains under watch when the engine starts again, and is reverted when the version fails then',
  async () => {
    const folder = createTemporaryFolder()
    const first = await startEngine(folder, data)
    const upload = async (version: string, open?: string) => {
      const archive = await createPluginPackage({ version, open })
      await first.call('POST', '/plugins', archive, { 'Content-Type': 'application/gzip' })
    }
    await upload('1.0.0')
    await upload('2.0.0', `throw new Error('no lens')`)
    // Without a pipeline, the version does not run yet.
    expect((await first.call('PUT', '/plugins/probe', { version: '2.0.0' })).body.active).toBe(
      '2.0.0',
    )
    await first.engine.stop()

    const second = await startEngine(folder, data)
    onTestFinished(() => second.engine.stop())
    const source = { type: 'inf', address: 'test://ball' }
    await second.call('POST', '/configuration', [
      { sources: [source], sinks: [], elements: [{ name: 'probe' }] },
    ])
    await vi.waitUntil(
      async () => (await second.call('GET', '/plugins/probe')).body.active === '1.0.0',
      LIMIT_MS,
    )
    const switches = (await second.call('GET', '/plugins/probe/switches')).body
    expect(switches.at(-1)).toMatchObject({
      from: '2.0.0',
      to: '1.0.0',
      reason: expect.stringContaining('no lens'),
    })
  },
  LIMIT_MS,
)
