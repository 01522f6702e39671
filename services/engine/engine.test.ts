import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineHealth } from '@eyrie/contract'
import { createLog, readEnvironment, type Service } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startEngine } from '../../test/fixtures/engine/engine.ts'
import { createEngine } from './engine.ts'

describe('engine', () => {
  let data: string
  let engines: Service[]

  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'eyrie-engine-'))
    engines = []
  })
  afterEach(async () => {
    for (const engine of engines) await engine.stop()
    await rm(data, { recursive: true })
  })

  const start = async (variables?: NodeJS.ProcessEnv) => {
    const { engine } = await startEngine(data, variables)
    engines.push(engine)
    return engine
  }
  const get = async (engine: Service, path: string) =>
    (await engine.app.request(`/api/v3${path}`)).json()

  test('is healthy without the media service, and reports the missing connection and its boundaries', async () => {
    const engine = await start()
    expect(engineHealth.parse(engine.health())).toMatchObject({
      ok: true,
      media: 'not connected',
      activated: false,
      isolation: { level: 'full', missing: [] },
      channels: {},
    })
  })

  test('activates the license from the environment at its first start and persists it', async () => {
    const engine = await start({ EYRIE_LICENSE: 'community' })
    const activation = await get(engine, '/activation')
    expect(activation).toMatchObject({ activated: true, license: { pool: 'community' } })
    await engine.stop()
    expect(await get(await start({ EYRIE_LICENSE: 'none' }), '/activation')).toEqual(activation)
  })

  test('activates a license from a file', async () => {
    const file = join(data, 'license.json')
    await writeFile(
      file,
      '{"version":1,"customer":"community","subscription":"community","pool":"community"}',
    )
    expect(await get(await start({ EYRIE_LICENSE: file }), '/activation')).toMatchObject({
      activated: true,
    })
  })

  test.each([
    ['a configuration', 'engine/configuration.json', {}],
    ['an activation', 'engine/activation.json', {}],
    ['numbers', 'engine/output/sequence.json', {}],
    ['settings', 'eyrie.json', {}],
    ['a license', 'license.json', { EYRIE_LICENSE: 'license.json' }],
  ])(
    'refuses to start with an unreadable %s and does not modify the file',
    async (_, name, variables) => {
      const file = join(data, name)
      await mkdir(join(file, '..'), { recursive: true })
      await writeFile(file, '{"torn":')
      const absolute = Object.fromEntries(Object.keys(variables).map(key => [key, file]))
      await expect(start(absolute)).rejects.toThrow(file)
      expect(await readFile(file, 'utf8')).toBe('{"torn":')
    },
  )

  test('refuses to start a second instance on the same data folder', async () => {
    const running = await start()
    await expect(start()).rejects.toThrow('in use by another process')
    expect(await get(running, '/sources')).toEqual([])
  })

  test('listens only on loopback without a token', async () => {
    expect((await start({ EYRIE_HOST: '0.0.0.0' })).host).toBe('127.0.0.1')
    const environment = readEnvironment({
      EYRIE_DATA: data,
      EYRIE_HOST: '0.0.0.0',
      EYRIE_ENGINE_TOKENS: 'secret',
    })
    expect(createEngine({ environment, log: createLog('test', 'silent') }).host).toBeUndefined()
  })

  test('applies its settings', async () => {
    await writeFile(join(data, 'eyrie.json'), '{"engine":{"pace":"all"}}')
    await expect(start()).rejects.toThrow(/eyrie\.json.*\/engine\/pace: unknown field/)
  })
})
