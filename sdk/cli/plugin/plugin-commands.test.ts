import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Capabilities } from '@eyrie/contract'
import { type ListeningServer, listen, type Service } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'

let folder: string
let engine: Service
let server: ListeningServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-cli-'))
  ;({ engine } = await startEngine(join(folder, 'data')))
  server = await listen(engine, '127.0.0.1', 0)
  writePlugin(folder, { name: 'crowd' })
  writeFileSync(join(folder, 'crowd/.secret'), 'must not be packed')
})
afterAll(async () => {
  await server.close()
  await engine.stop()
  rmSync(folder, { recursive: true })
})

const run = (line: string) =>
  runEyrieCommand(line.split(' '), {
    data: join(folder, 'data'),
    environment: { EYRIE_ENGINE_URL: `http://127.0.0.1:${server.port}` },
  })

describe('eyrie plugin', () => {
  it('packs a folder, and adds, lists, activates and removes its versions', async () => {
    const file = join(folder, 'crowd.tgz')
    expect(await run(`plugin pack ${join(folder, 'crowd')} --out ${file}`)).toEqual({
      code: 0,
      out: `packed crowd 1.0.0: ${file}\n`,
      err: '',
    })
    expect((await run(`plugin add ${file}`)).out).toMatch(
      /^crowd 1\.0\.0 is unsigned\ncrowd 1\.0\.0 asks for:\n(?: {2}crowd .*\n)+isolation of uploaded plugins: (?:.*\n)+added crowd 1\.0\.0; 1\.0\.0 is active\n$/,
    )
    expect((await run(`plugin add ${join(folder, 'crowd')}`)).out).toBe(
      'unchanged; 1.0.0 is active\n',
    )
    expect(existsSync(join(folder, 'data/plugins/crowd/1.0.0/.secret'))).toBe(false)

    writePlugin(folder, { name: 'crowd', version: '1.1.0' })
    expect((await run(`plugin add ${join(folder, 'crowd')}`)).out).toMatch(
      /^crowd 1\.1\.0 is unsigned\nisolation of uploaded plugins: (?:.*\n)+added crowd 1\.1\.0; 1\.0\.0 is active\n$/,
    )
    expect((await run('plugin use crowd 1.1.0')).out).toBe('active crowd 1.1.0\n')
    expect((await run('plugin list')).out).toMatch(
      /^crowd +1\.1\.0 +active +uploaded +unsigned +Apache-2\.0 +crowd\ncrowd +1\.0\.0 +uploaded /m,
    )
    expect((await run('plugin remove crowd 1.0.0')).out).toBe('removed crowd 1.0.0\n')
    const listed = JSON.parse((await run('plugin list --json')).out)
    expect(listed).toContainEqual(expect.objectContaining({ name: 'crowd', active: '1.1.0' }))
  })

  it('shows what the elements of a plugin declare, and how well they are isolated', async () => {
    const capabilities = {
      frames: { format: 'RGB' as const, width: 640, height: 360 },
      events: { crowd: { count: 'number' as const } },
      counters: ['entered'],
      network: ['api.example.com:443'],
      storage_bytes: 1000,
      budget_ms: 8,
    } satisfies Capabilities
    writePlugin(folder, { name: 'gate', element: { capabilities } })
    const declared =
      '  gate: reads pictures (RGB, up to 640×360); events: crowd; counters: entered; network: api.example.com:443; ' +
      'stores up to 1000 bytes; at most 8 ms of CPU time per frame\n'
    const requested = [
      '  gate reads pictures (RGB, up to 640×360)\n',
      '  gate sends requests to api.example.com:443\n',
      '  gate stores up to 1000 bytes on each channel\n',
      '  gate uses up to 8 ms of CPU time per frame\n',
      '  gate reports the events crowd\n',
      '  gate counts entered\n',
    ].join('')
    const added = (await run(`plugin add ${join(folder, 'gate')}`)).out
    expect(added).toContain(`gate 1.0.0 asks for:\n${requested}isolation of uploaded plugins: `)
    expect(added).toContain('added gate 1.0.0; 1.0.0 is active\n')
    const shown = (await run('plugin show gate')).out
    expect(shown).toContain(
      `gate 1.0.0 (uploaded, active)\n  unsigned\n${declared}granted with 1.0.0 at 2`,
    )
    expect(shown).toContain(`Z by 127.0.0.1:\n${requested}`)
    expect((await run('plugin show motion')).out).toMatch(/ {2}motion: declares no capabilities/)
    expect((await run('plugin list')).out).toMatch(
      /^isolation of uploaded plugins: (full|partial|none)$/m,
    )
    expect((await run('plugin release gate')).out).toBe('released gate\n')
    expect(await run('plugin release nothing')).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not exist'),
    })
  })

  it('changes plugins with their own token, which an ordinary token does not permit', async () => {
    const data = join(folder, 'guarded')
    const tokens = { EYRIE_ENGINE_TOKENS: 'operator', EYRIE_PLUGIN_TOKENS: 'plugins' }
    const guarded = await startEngine(data, tokens)
    onTestFinished(() => guarded.engine.stop())
    const { port, close } = await listen(guarded.engine, '127.0.0.1', 0)
    onTestFinished(close)
    mkdirSync(join(data, 'secrets'), { recursive: true })
    writeFileSync(join(data, 'secrets/plugin-token'), 'plugins')

    const environment = { EYRIE_ENGINE_URL: `http://127.0.0.1:${port}` }
    const add = ['plugin', 'add', join(folder, 'crowd')]
    const refused = await runEyrieCommand([...add, '--token', 'operator'], { data, environment })
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('secrets/plugin-token') })
    expect(await runEyrieCommand(add, { data, environment })).toMatchObject({ code: 0 })
  })

  it('packs reproducibly', async () => {
    const packed = await Promise.all(
      ['a.tgz', 'b.tgz'].map(async name => {
        await run(`plugin pack ${join(folder, 'crowd')} --out ${join(folder, name)}`)
        return readFileSync(join(folder, name))
      }),
    )
    expect(packed[0]!.equals(packed[1]!)).toBe(true)
  })

  it.each([
    ['plugin pack /nowhere', 1, /\/nowhere\/plugin\.json does not exist/],
    [
      'plugin pack plugins/motion --out /nowhere/motion.tgz',
      1,
      /written: its folder does not exist/,
    ],
    ['plugin test /nowhere', 1, /\/nowhere\/plugin\.json does not exist/],
    ['plugin add /nowhere.tgz', 1, /\/nowhere\.tgz does not exist/],
    ['plugin add package.json', 1, /not a complete gzipped tar archive/],
    ['plugin use crowd 9.0.0', 1, /plugin crowd has no version 9\.0\.0; available: 1\.1\.0/],
    ['plugin remove motion 1.0.0', 1, /is built in/],
    ['plugin use crowd', 2, /the version is missing/],
  ])('reports why "%s" fails', async (line, code, reason) => {
    expect(await run(line)).toEqual({ code, out: '', err: expect.stringMatching(reason) })
  })
})
