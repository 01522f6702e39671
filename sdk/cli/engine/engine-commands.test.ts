import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { configuration, outputMessage } from '@eyrie/contract'
import { type ListeningServer, listen, type Service } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { runCommandLine } from '../command-line.ts'
import { getEngineAccess } from './engine-access.ts'

let data: string
let engine: Service
let server: ListeningServer
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'eyrie-cli-'))
  mkdirSync(join(data, 'secrets'))
  writeFileSync(join(data, 'secrets/engine-token'), 'generated-token\n')
  const tokens = 'generated-token,other'
  ;({ engine } = await startEngine(data, {
    EYRIE_ENGINE_TOKENS: tokens,
    EYRIE_LICENSE: 'community',
  }))
  server = await listen(engine, '127.0.0.1', 0)
})
afterAll(async () => {
  await server.close()
  await engine.stop()
  await rm(data, { recursive: true })
})

const url = () => `http://127.0.0.1:${server.port}`
const unreachable = 'http://127.0.0.1:9'
const run = (line: string, isTTY = false) =>
  runEyrieCommand(line.split(' '), {
    data,
    isTTY,
    environment: {
      EYRIE_ENGINE_URL: url(),
      EYRIE_MEDIA_URL: unreachable,
      EYRIE_MANAGEMENT_URL: unreachable,
    },
  })

/** Writes a file to deploy and returns its path. */
function writeFile(name: string, text: string): string {
  const path = join(data, name)
  writeFileSync(path, text)
  return path
}

const twoCameras = `
- sources:
    - { type: video, address: "rtsp://user:secret@127.0.0.1:9/door" }
    - { type: video, address: "rtsp://127.0.0.1:9/yard", rate: 5 }
  elements:
    - name: object-tracking
    - name: line-crossing
      config: # only for the door
        "0": { lines: [{ name: door, coords: [{ x: 0, y: 0.5 }, { x: 1, y: 0.5 }] }] }
  usecase: line-crossing
`

describe('eyrie deploy', () => {
  it('replaces the configuration with a YAML file', async () => {
    const path = writeFile('two.yaml', twoCameras)
    expect(await run(`deploy ${path}`)).toEqual({
      code: 0,
      out: 'deployed two.yaml: pipelines 1, sources 2, sinks 0\n',
      err: '',
    })
  })

  it('accepts JSON, and prints JSON with --json', async () => {
    const path = writeFile(
      'one.json',
      JSON.stringify([
        { sources: [{ type: 'inf', address: 'test://ball' }], elements: [{ name: 'motion' }] },
      ]),
    )
    const { out } = await run(`deploy ${path} --json`)
    expect(configuration.parse(JSON.parse(out)).sources).toMatchObject([{ address: 'test://ball' }])
  })

  it('reads the configuration from standard input', async () => {
    const result = await runEyrieCommand(['deploy', '-'], {
      data,
      environment: { EYRIE_ENGINE_URL: url() },
      input: Readable.from([Buffer.from(twoCameras)]),
    })
    expect(result).toEqual({
      code: 0,
      out: 'deployed -: pipelines 1, sources 2, sinks 0\n',
      err: '',
    })
  })

  it('names standard input in the reason if it cannot be deployed', async () => {
    const input = Readable.from([Buffer.from('sources: []')])
    expect(await runEyrieCommand(['deploy', '-'], { data, input })).toEqual({
      code: 1,
      out: '',
      err: 'eyrie: standard input cannot be deployed: must be a list of pipelines\n',
    })
  })

  const invalid: [problem: string, text: string, reason: RegExp][] = [
    ['malformed YAML', 'a: [', /cannot be deployed: .*line 1/],
    [
      'an unknown field',
      '- sources: [{ type: inf, address: "test://ball", fps: 5 }]\n  elements: [{ name: motion }]',
      /\/0\/sources\/0\/fps: unknown field/,
    ],
    [
      'an unknown element',
      '- sources: [{ type: inf, address: "test://ball" }]\n  elements: [{ name: magic }]',
      /magic/,
    ],
  ]
  it.each(invalid)('names the location of %s', async (_, text, reason) => {
    const { code, err } = await run(`deploy ${writeFile('invalid.yaml', text)}`)
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(reason) })
  })

  it('reports a missing file', async () => {
    expect(await run('deploy /nowhere/deploy.yaml')).toMatchObject({
      code: 1,
      err: 'eyrie: /nowhere/deploy.yaml does not exist\n',
    })
  })
})

describe('a deployed configuration', () => {
  beforeAll(async () => {
    await run(`deploy ${writeFile('two.yaml', twoCameras)}`)
  })

  it('is shown by eyrie status with the reason for its state', async () => {
    const { out } = await run('status')
    expect(out).toMatch(/^Eyrie \S+ on \S+, activated for community, up /)
    expect(out).toMatch(/^PIPELINE +STATUS +FPS +LATENCY +SOURCES +SINKS +ELEMENTS +REASON$/m)
    expect(out).toMatch(
      /^\d+ +starting +0\.0 +0 ms +\d+,\d+ +- +object-tracking > line-crossing +.*media/m,
    )
  })

  it('is listed by eyrie channels, without passwords', async () => {
    const { out } = await run('channels')
    expect(out.trim().split('\n')).toHaveLength(3)
    expect(out).toMatch(
      /^\d+ +\d+ +\d+ +starting .* line-crossing +rtsp:\/\/user:\*\*\*@127\.0\.0\.1:9\/door/m,
    )
    expect(out).not.toContain('secret')
  })

  it('is printed as JSON with --json', async () => {
    expect(JSON.parse((await run('channels --json')).out)).toMatchObject([
      { status: 'starting' },
      { status: 'starting' },
    ])
    expect(JSON.parse((await run('status --json')).out)).toMatchObject({
      about: { name: 'Eyrie' },
      pipelines: [{ statistics: { status: 'starting' } }],
    })
  })

  it('is not needed to see the alarms of the other services while the engine is unreachable', async () => {
    const alarm = 'engine Yard has been offline since 2026-01-31 12:00:00 UTC'
    const management = createServer((_, response) =>
      response.end(JSON.stringify({ ok: true, alarms: [alarm] })),
    ).listen(0, '127.0.0.1')
    await once(management, 'listening')
    onTestFinished(() => void management.close())
    const environment = {
      EYRIE_ENGINE_URL: unreachable,
      EYRIE_MEDIA_URL: unreachable,
      EYRIE_MANAGEMENT_URL: `http://127.0.0.1:${(management.address() as AddressInfo).port}`,
    }
    const { code, out, err } = await runEyrieCommand(['status'], { data, environment })
    expect(code).toBe(1)
    expect(out).toContain(`alarm  management: ${alarm}\n`)
    expect(out).toContain('unhealthy  engine: ')
    expect(err).toContain('cannot be reached')
    const json = await runEyrieCommand(['status', '--json'], { data, environment })
    expect(JSON.parse(json.out)).toMatchObject({ services: { management: { alarms: [alarm] } } })
  })

  it('is coloured on a terminal only, with aligned columns', async () => {
    const coloured = (await run('channels', true)).out
    expect(coloured).toContain('\u001b[33mstarting\u001b[39m')
    expect(stripVTControlCharacters(coloured)).toBe((await run('channels')).out)
  })

  it('is reported by eyrie watch', async () => {
    expect((await run('watch --since 1 --count 1')).out).toMatch(
      /^\d\d:\d\d:\d\d {2}channel \d+ +state {4}starting .*\n$/,
    )
    const lines = (await run('watch --since 1 --count 2 --kinds state --json')).out
      .trim()
      .split('\n')
    expect(lines.map(line => outputMessage.parse(JSON.parse(line)).kind)).toEqual([
      'state',
      'state',
    ])
  })
})

describe('eyrie watch', () => {
  it('prints a message once the reader of its output has received the previous one', async () => {
    await run(`deploy ${writeFile('two.yaml', twoCameras)}`)
    const steps: string[] = []
    const out = {
      write: () => steps.push('write'),
      async drain() {
        await setImmediate()
        steps.push('drained')
      },
    }
    const args = ['watch', '--since', '1', '--count', '2', '--url', url()]
    expect(await runCommandLine(args, { data, out, err: out })).toBe(0)
    expect(steps).toEqual(['write', 'drained', 'write', 'drained'])
  })
})

describe('eyrie status', () => {
  it('shows unhealthy services', async () => {
    const { out } = await run('status')
    expect(out).toMatch(/^unhealthy {2}media: http:\/\/127\.0\.0\.1:9 cannot be reached: /m)
    expect(out).toMatch(/^unhealthy {2}management: /m)
    expect(out).not.toMatch(/^unhealthy {2}engine/m)
    expect((await run(`status --url ${url()}`)).out).not.toContain('unhealthy')
    expect(JSON.parse((await run('status --json')).out).services).toMatchObject({
      engine: { ok: true, alarms: [], media: 'not connected' },
      media: { ok: false, alarms: [] },
    })
  })

  it('does not expect the other services at their default addresses if only the address of the engine is known', async () => {
    const environment = { EYRIE_ENGINE_PORT: String(server.port), EYRIE_MEDIA_PORT: '9' }
    const { code, out } = await runEyrieCommand(['status'], { data, environment })
    expect(code).toBe(0)
    expect(out).toMatch(/^unhealthy {2}media: /m)
    expect(out).not.toMatch(/unhealthy {2}(management|scheduler)/)
    expect(out).toContain(
      'not asked: management, scheduler (set EYRIE_MANAGEMENT_PORT, EYRIE_SCHEDULER_PORT)\n',
    )
    const json = await runEyrieCommand(['status', '--json'], { data, environment })
    expect(JSON.parse(json.out)).toMatchObject({ not_asked: ['management', 'scheduler'] })
  })

  it('shows alarms in red until they end', async () => {
    const ownData = createTemporaryFolder()
    const { engine, call } = await startEngine(ownData)
    const server = await listen(engine, '127.0.0.1', 0)
    onTestFinished(async () => {
      await server.close()
      await engine.stop()
    })
    const log = join(ownData, 'engine/output/log')
    await rm(log, { recursive: true })
    await call('POST', '/sources', { type: 'inf', address: 'test://ball' })
    await call('POST', '/pipelines', { elements: [{ name: 'motion' }], sources: [1] })
    const args = ['status', '--url', `http://127.0.0.1:${server.port}`]
    const readStatus = async () => (await runEyrieCommand(args, { data: ownData, isTTY: true })).out
    const alarm =
      '\u001b[31m\u001b[1malarm\u001b[22m\u001b[39m  engine: failed to write the output log'
    await vi.waitFor(async () => expect(await readStatus()).toContain(alarm))
    mkdirSync(log)
    await vi.waitFor(async () => expect(await readStatus()).not.toContain('alarm'))
  })
})

describe('connecting to the engine', () => {
  it('prefers --url and --token over the environment', async () => {
    const terminal = {
      data: '/nowhere',
      environment: { EYRIE_ENGINE_URL: 'http://127.0.0.1:9', EYRIE_TOKEN: 'wrong' },
    }
    const args = ['status', '--url', url(), '--token', 'other']
    expect(await runEyrieCommand(args, terminal)).toMatchObject({ code: 0 })
    expect(await runEyrieCommand(args.slice(0, 3), terminal)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/does not accept this token; .*secrets\/engine-token/),
    })
  })

  it.each(['box:8100', 'ftp://box', 'http://%', 'http://box:99999'])(
    'rejects the address %s',
    async address => {
      const reason = `eyrie: ${address} is not the address of a service: write an address such as http://`
      const rejection = { code: 2, err: expect.stringContaining(reason) }
      expect(await runEyrieCommand(['status', '--url', address], { data })).toMatchObject(rejection)
      const environment = { EYRIE_ENGINE_URL: address, EYRIE_MANAGEMENT_URL: address }
      expect(await runEyrieCommand(['watch'], { data, environment })).toMatchObject(rejection)
      const ownData = createTemporaryFolder()
      mkdirSync(join(ownData, 'secrets'))
      writeFileSync(join(ownData, 'secrets/operator-token'), 'token')
      const reset = await runEyrieCommand(['user', 'reset', 'me@box'], {
        data: ownData,
        environment,
      })
      expect(reset).toMatchObject(rejection)
    },
  )

  it.each(['http://192.0.2.1:8100', 'http://127.0.0.1.example.com:8100'])(
    'does not send the token in the data folder to %s',
    async other => {
      // The command fails before it connects.
      expect(await runEyrieCommand(['watch', '--url', other], { data })).toMatchObject({
        code: 2,
        err: expect.stringContaining(
          `the token of this machine is not sent to ${other}: pass a token of that engine with --token or EYRIE_TOKEN`,
        ),
      })
    },
  )

  it('sends the token in the data folder to this machine, and to EYRIE_ENGINE_URL', async () => {
    const other = 'http://192.0.2.1:8100'
    const environment = { EYRIE_ENGINE_URL: other }
    expect(getEngineAccess({}, { data, environment })).toEqual({
      url: other,
      token: 'generated-token',
    })
    expect(await run(`status --url http://localhost:${server.port}/`)).toMatchObject({ code: 0 })
  })

  it('names the reason why the token cannot be read', async () => {
    const ownData = createTemporaryFolder()
    mkdirSync(join(ownData, 'secrets/engine-token'), { recursive: true })
    expect(await runEyrieCommand(['watch'], { data: ownData })).toEqual({
      code: 1,
      out: '',
      err: `eyrie: ${ownData}/secrets/engine-token cannot be read (EISDIR): run the command as root, or as the user of the appliance\n`,
    })
  })

  it('accepts addresses of services that end with slashes', async () => {
    const environment = { EYRIE_ENGINE_URL: `${url()}//`, EYRIE_MEDIA_URL: `${url()}/` }
    const { code, out } = await runEyrieCommand(['status', '--json'], { data, environment })
    expect(code).toBe(0)
    expect(JSON.parse(out).services).toMatchObject({ engine: { ok: true }, media: { ok: true } })
  })

  it('names the address of an unreachable engine', async () => {
    const result = await runEyrieCommand(['watch'], {
      data,
      environment: { EYRIE_ENGINE_URL: 'http://127.0.0.1:9' },
    })
    expect(result).toMatchObject({
      code: 1,
      err: expect.stringMatching(/the engine at http:\/\/127\.0\.0\.1:9 cannot be reached/),
    })
  })

  it.each([
    ['watch --kinds all', /eyrie: --kinds: /],
    ['watch --count none', /--count none should be a whole number/],
    ['join-token create a --days 99999', /--days 99999 should be at most 36525/],
    ['deploy a b', /unexpected argument b/],
    ['deploy a --override memory', /--override memory should be capacity/],
    ['status now', /unexpected argument now/],
    ['logs --level loud', /--level loud should be one of debug, info, warn, error/],
  ])('exits with 2 for "%s" without a request', async (line, reason) => {
    expect(await run(line)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(reason) })
  })
})
