import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Capabilities, capabilities, type Plugin, type PluginGrant } from '@eyrie/contract'
import { pluginInspection } from '@eyrie/contract/plugin-grant'
import type { Service } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallEngine, startEngine } from '../../../../test/fixtures/engine/engine.ts'
import { createPluginPackage } from '../../../../test/fixtures/engine/plugin-package.ts'

const data = mkdtempSync(join(tmpdir(), 'eyrie-grants-'))
const grantFile = join(data, 'plugins/grants.json')
let engine: Service
let call: CallEngine
const start = async () => {
  ;({ engine, call } = await startEngine(data))
}
const restart = async (change?: () => void) => {
  await engine.stop()
  change?.()
  await start()
}
beforeAll(start)
afterAll(async () => {
  await engine.stop()
  rmSync(data, { recursive: true })
})

const server = 'api.example.com:443'
const pack = (name: string, version: string, fields?: Partial<Capabilities>, module = '') =>
  createPluginPackage({
    name,
    version,
    module,
    element: fields && { capabilities: capabilities.parse({ budget_ms: 5, ...fields }) },
  })
const GZIP = { 'Content-Type': 'application/gzip' }
const inspect = async (archive: Uint8Array) => call('POST', '/plugins/inspection', archive, GZIP)
const upload = async (...plugin: Parameters<typeof pack>) =>
  call('POST', '/plugins', await pack(...plugin), GZIP)
const use = (name: string, version: string, rest: object = {}) =>
  call('PUT', `/plugins/${name}`, { version, ...rest })
const get = async (name: string): Promise<Plugin> => (await call('GET', `/plugins/${name}`)).body
const listGrants = async (name: string): Promise<PluginGrant[]> =>
  (await call('GET', `/plugins/${name}/grants`)).body

describe('inspection of a package', () => {
  it('shows what it contains and asks for, runs none of its code and installs nothing', async () => {
    const trap = join(data, 'trap')
    const module = `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(trap)}, '')`
    const declared = {
      frames: { format: 'RGB' as const, width: 640, height: 360 },
      network: [server],
    }
    const shown = await inspect(await pack('gate', '1.0.0', declared, module))
    expect(shown).toMatchObject({
      status: 200,
      body: {
        name: 'gate',
        version: '1.0.0',
        license: 'Apache-2.0',
        elements: [
          { name: 'gate', description: 'For tests', capabilities: { ...declared, budget_ms: 5 } },
        ],
        installed: false,
        not_granted: [
          {
            element: 'gate',
            capability: 'frames',
            description: 'reads pictures (RGB, up to 640×360)',
          },
          { element: 'gate', capability: 'network', description: `sends requests to ${server}` },
          {
            element: 'gate',
            capability: 'budget_ms',
            description: 'uses up to 5 ms of CPU time per frame',
          },
        ],
        isolation: { level: expect.stringMatching(/full|partial|none/) },
      },
    })
    expect(pluginInspection.safeParse(shown.body).error).toBeUndefined()
    expect(() => readFileSync(trap)).toThrow(/ENOENT/)
    expect(await call('GET', '/plugins/gate')).toMatchObject({ status: 404 })
    expect(await call('GET', '/plugins/gate/grants')).toMatchObject({ status: 404 })
  })

  it('rejects what an upload would reject', async () => {
    const broken = await inspect(new Uint8Array([1, 2, 3]))
    expect(broken).toMatchObject({ status: 400, body: { code: 'syntax' } })
    const ordinary = await call('POST', '/plugins/inspection', {})
    expect(ordinary).toMatchObject({ status: 415, body: { code: 'type' } })
  })
})

describe('grants of a plugin', () => {
  it('are recorded when its first version is uploaded', async () => {
    const before = Date.now()
    expect(await upload('first', '1.0.0', { network: [server] })).toMatchObject({ status: 201 })
    const [grant, ...others] = await listGrants('first')
    expect(others).toEqual([])
    expect(grant).toEqual({
      version: '1.0.0',
      time: expect.any(String),
      capabilities: [
        { element: 'first', capability: 'network', description: `sends requests to ${server}` },
        {
          element: 'first',
          capability: 'budget_ms',
          description: 'uses up to 5 ms of CPU time per frame',
        },
      ],
    })
    expect(Date.parse(grant!.time)).toBeGreaterThanOrEqual(before)
  })

  it('are needed by a version that asks for more, and outlive restarts', async () => {
    await upload('crowd', '1.0.0', { network: [server], budget_ms: 8 })
    expect(
      await inspect(await pack('crowd', '1.1.0', { network: [server, 'b.example.com:443'] })),
    ).toMatchObject({
      body: {
        active: '1.0.0',
        installed: false,
        not_granted: [
          { capability: 'network', description: 'sends requests to b.example.com:443' },
        ],
      },
    })
    expect(
      await upload('crowd', '1.1.0', { network: [server, 'b.example.com:443'] }),
    ).toMatchObject({
      status: 201,
      body: {
        active: '1.0.0',
        versions: [{ not_granted: [{ capability: 'network' }] }, { version: '1.0.0' }],
      },
    })

    const refused = await use('crowd', '1.1.0')
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'grant',
        reason: expect.stringMatching(
          /^version 1\.1\.0 of crowd asks for more than was granted: crowd sends requests to b\.example\.com:443\. To grant it: eyrie plugin use crowd 1\.1\.0 --grant, or "grant": true/,
        ),
        value: { not_granted: [{ element: 'crowd', capability: 'network' }] },
      },
    })
    expect(await get('crowd')).toMatchObject({ active: '1.0.0' })
    expect(await listGrants('crowd')).toHaveLength(1)

    expect(await use('crowd', '1.1.0', { grant: true })).toMatchObject({
      status: 200,
      body: { active: '1.1.0', versions: [{ version: '1.1.0' }, { version: '1.0.0' }] },
    })
    await restart()
    expect(await get('crowd')).not.toHaveProperty('versions[0].not_granted')
    expect(await listGrants('crowd')).toMatchObject([
      { version: '1.0.0' },
      { version: '1.1.0', capabilities: [{ description: 'sends requests to b.example.com:443' }] },
    ])
    for (const version of ['1.0.0', '1.1.0']) {
      expect(await use('crowd', version)).toMatchObject({ status: 200, body: { active: version } })
    }
    expect(await listGrants('crowd')).toHaveLength(2)
  })

  it('are not needed by a version that asks for the same, for less, or that declares nothing as before', async () => {
    await upload('same', '1.0.0', { network: [server], storage_bytes: 1000 })
    await upload('same', '1.1.0', { network: [server] })
    expect(await use('same', '1.1.0')).toMatchObject({ status: 200 })
    await upload('plain', '1.0.0')
    await upload('plain', '2.0.0')
    expect(await use('plain', '2.0.0')).toMatchObject({ status: 200 })
  })

  it('remain as they are if the switch fails', async () => {
    await upload('stuck', '1.0.0')
    const archive = await createPluginPackage({
      name: 'stuck',
      version: '2.0.0',
      element: { name: 'plain', capabilities: capabilities.parse({ network: [server] }) },
    })
    await call('POST', '/plugins', archive, GZIP)
    expect(await use('stuck', '2.0.0', { grant: true })).toMatchObject({
      body: { code: 'conflict' },
    })
    expect(await listGrants('stuck')).toHaveLength(1)
  })

  it('are needed by an uploaded version that would become active because another one is removed', async () => {
    await upload('fallback', '1.0.0')
    await upload('fallback', '2.0.0', { network: [server] })
    expect(await call('DELETE', '/plugins/fallback/1.0.0')).toMatchObject({
      status: 409,
      body: {
        code: 'conflict',
        reason: expect.stringMatching(
          /^version 2\.0\.0 of fallback would become active, and asks for more/,
        ),
      },
    })
    expect(await use('fallback', '2.0.0', { grant: true })).toMatchObject({ status: 200 })
    expect(await call('DELETE', '/plugins/fallback/1.0.0')).toMatchObject({ status: 204 })
  })

  it('end with its last uploaded version', async () => {
    await upload('renewed', '1.0.0', { network: [server] })
    await call('DELETE', '/plugins/renewed/1.0.0')
    expect(JSON.parse(readFileSync(grantFile, 'utf8'))).not.toHaveProperty('renewed')
    expect(await inspect(await pack('renewed', '1.0.0', { network: [server] }))).toMatchObject({
      body: { not_granted: [{ capability: 'network' }, { capability: 'budget_ms' }] },
    })
  })

  it('to store files end with its last version, together with the files', async () => {
    await upload('diary', '1.0.0', { storage_bytes: 1000 })
    await upload('diary', '1.1.0', { storage_bytes: 1000 })
    const stored = join(data, 'engine/plugin-storage/diary/diary/1/entry')
    mkdirSync(dirname(stored), { recursive: true })
    writeFileSync(stored, 'by an element of the first publisher')
    await call('DELETE', '/plugins/diary/1.0.0')
    expect(existsSync(stored)).toBe(true)
    await call('DELETE', '/plugins/diary/1.1.0')
    expect(existsSync(stored)).toBe(false)
  })

  it('are needed by the version that is active because the selected one is missing', async () => {
    await upload('lost', '1.0.0')
    await upload('lost', '2.0.0', { network: [server] })
    const folder = join(data, 'plugins/lost/1.0.0')
    await restart(() => rmSync(folder, { recursive: true }))
    expect(await get('lost')).toMatchObject({ active: '2.0.0' })
    const alarm = 'version 2.0.0 of lost asks for more than was granted: lost sends requests to'
    expect(engine.health().alarms).toContainEqual(expect.stringContaining(alarm))
    expect(await use('lost', '2.0.0')).toMatchObject({ status: 409, body: { code: 'grant' } })
    expect(await use('lost', '2.0.0', { grant: true })).toMatchObject({ status: 200 })
    expect(engine.health().alarms).not.toContainEqual(expect.stringContaining(alarm))
  })

  it('are assumed for the active versions that an earlier release has installed', async () => {
    await upload('old', '1.0.0', { network: [server] })
    await upload('old', '2.0.0', { network: [server, 'b.example.com:443'] })
    await restart(() => {
      const { old: _, ...others } = JSON.parse(readFileSync(grantFile, 'utf8'))
      writeFileSync(grantFile, JSON.stringify({ ...others, removed: others.crowd }))
    })
    expect(await listGrants('old')).toMatchObject([{ version: '1.0.0' }])
    expect(await use('old', '2.0.0')).toMatchObject({ body: { code: 'grant' } })
    expect(JSON.parse(readFileSync(grantFile, 'utf8'))).not.toHaveProperty('removed')
  })

  it('are unknown if the file is damaged: nothing runs until a person grants it again', async () => {
    await upload('kept', '1.0.0', { network: [server] })
    const content = readFileSync(grantFile, 'utf8')
    const cut = content.slice(0, -20)
    await restart(() => writeFileSync(grantFile, cut))
    expect(await listGrants('kept')).toEqual([])
    expect(await get('kept')).toMatchObject({
      versions: [{ not_granted: [{ capability: 'network' }, {}] }],
    })
    const damaged = expect.stringMatching(
      /grants\.json is damaged, so .* nothing: restore it from a backup/,
    )
    expect(engine.health().alarms).toEqual(
      expect.arrayContaining([
        damaged,
        expect.stringMatching(/^version 1\.0\.0 of kept asks for more/),
      ]),
    )
    await restart(() => writeFileSync(grantFile, content))
    expect(await get('kept')).not.toHaveProperty('versions[0].not_granted')

    await restart(() => writeFileSync(grantFile, cut))
    expect(await use('kept', '1.0.0', { grant: true })).toMatchObject({ status: 200 })
    expect(await listGrants('kept')).toMatchObject([{ version: '1.0.0' }])
    expect(engine.health().alarms).not.toContainEqual(damaged)
    expect(readFileSync(`${grantFile}.damaged`, 'utf8')).toBe(cut)
  })

  it('are not needed by versions of the owner', async () => {
    expect(await get('motion')).not.toHaveProperty('versions[0].not_granted')
    expect(await listGrants('motion')).toEqual([])
  })
})
