import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type ListeningServer, listen, type Service } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { type TestPlugin, writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { startForwardProxy } from '../../../test/fixtures/network/forward-proxy.ts'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'

// Publishers, a registry in a folder, a web server that serves it, and an engine that trusts
// one of the publishers.

const folder = mkdtempSync(join(tmpdir(), 'eyrie-registry-'))
const registry = join(folder, 'registry')
let engine: Service
let server: ListeningServer
let web: Server
let address: string

beforeAll(async () => {
  ;({ engine } = await startEngine(join(folder, 'data')))
  server = await listen(engine, '127.0.0.1', 0)
  web = createServer((request, response) => {
    const file = join(registry, request.url!.replace('/plugins/', ''))
    if (request.headers.authorization !== `Basic ${btoa('shop:pass word')}`) {
      response.writeHead(401).end()
    } else if (existsSync(file)) {
      response.end(readFileSync(file))
    } else {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>(listening => void web.listen(0, '127.0.0.1', listening))
  address = `http://shop:pass%20word@127.0.0.1:${(web.address() as AddressInfo).port}/plugins`

  await run('plugin keygen @acme --publisher Acme')
  await run('plugin keygen @beta --publisher Beta')
  for (const version of ['1.1.0', '1.2.0', '1.2.1']) await publish({ version })
})
afterAll(async () => {
  web.close()
  await server.close()
  await engine.stop()
  rmSync(folder, { recursive: true })
})

/**
 * Runs a command. Words that begin with @ are files in the folder. `answer`: what somebody
 * types at the terminal.
 */
async function run(line: string, answer?: string) {
  return runEyrieCommand(
    line.split(' ').map(word => word.replace(/^@/, `${folder}/`)),
    {
      data: join(folder, 'data'),
      environment: {
        EYRIE_ENGINE_URL: `http://127.0.0.1:${server.port}`,
        EYRIE_PLUGIN_REGISTRY: registry,
      },
      answer,
    },
  )
}

/** Writes a version of a plugin, and publishes it. */
async function publish(plugin: TestPlugin, options = '--key @acme.key') {
  const { name = 'crowd' } = plugin
  rmSync(join(folder, name), { recursive: true, force: true })
  writePlugin(folder, { name, element: { name, description: 'Counts people' }, ...plugin })
  return run(`plugin publish @${name} ${options}`)
}

const failure = (reason: RegExp) => ({ code: 1, out: '', err: expect.stringMatching(reason) })

describe('eyrie plugin publish', () => {
  it('adds a package, which it signs if necessary, and does not change a version', async () => {
    const gate = { name: 'gate', version: '1.0.0' }
    expect(await publish(gate)).toEqual({
      code: 0,
      out: `published gate 1.0.0 as Acme: ${registry}\n`,
      err: '',
    })
    expect((await publish(gate)).out).toBe(`unchanged; ${registry} has gate 1.0.0 already\n`)
    const changed = await publish({ ...gate, open: 'return { process: () => ({ counters: {} }) }' })
    expect(changed).toMatchObject(
      failure(/has gate 1\.0\.0 with different content: increment the version/),
    )

    await run('plugin sign @gate --key @beta.key')
    expect(await run('plugin publish @gate --key @acme.key')).toMatchObject(
      failure(/is signed with the key \w+ of "Beta", not with that of Acme/),
    )
    expect(existsSync(join(registry, 'index.json.new'))).toBe(false)
  })

  it('refuses the name of another publisher, development versions, and a second command', async () => {
    const foreign = { version: '9.0.0' }
    expect(await publish(foreign, '--key @beta.key')).toMatchObject(
      failure(/crowd in .*registry is published by "Acme" .*--new-publisher/),
    )
    expect((await publish(foreign, '--key @beta.key --new-publisher')).code).toBe(0)
    expect(await publish({ version: '1.3.0-dev' })).toMatchObject(
      failure(/is a development version/),
    )
    expect(
      await publish({ version: '1.3.0' }, '--key @acme.key --registry https://example.com'),
    ).toMatchObject({
      code: 2,
      err: expect.stringMatching(/should be a folder: publish there, and copy the folder/),
    })
    writeFileSync(join(registry, 'index.json.new'), '')
    expect(await publish({ version: '1.3.0' })).toMatchObject(
      failure(/another command changes the registry/),
    )
    rmSync(join(registry, 'index.json.new'))
  })
})

describe('eyrie plugin search', () => {
  it('lists the newest version of each plugin that contains all words', async () => {
    const found = await run(`plugin search COUNTS crowd --registry ${address}`)
    expect(found).toMatchObject({ code: 0, err: '' })
    expect(found.out).toMatch(
      /^PLUGIN +VERSION +PUBLISHER +LICENSE +DESCRIPTION\ncrowd +9\.0\.0 +Beta +Apache-2\.0 +Counts people\nAnyone can use/,
    )
    expect((await run('plugin search nothing')).out).not.toContain('crowd')
    expect(JSON.parse((await run('plugin search crowd --json')).out)).toHaveLength(4)
  })

  it('fails if the registry accepts the connection and stays silent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { port } = await startTcpServer(() => void vi.advanceTimersByTime(30_000))
    expect(await run(`plugin search --registry http://127.0.0.1:${port}/`)).toMatchObject(
      failure(/127\.0\.0\.1:\d+ cannot be reached \(it has not answered in time\)/),
    )
  })
})

describe('eyrie plugin install', () => {
  it('installs the highest version of a trusted publisher that the engine can run, after a yes', async () => {
    expect(await run('plugin install crowd@1.2')).toMatchObject(
      failure(/crowd 1\.2\.1: it is signed by an unknown publisher that calls itself "Acme"/),
    )
    await run('plugin trust @acme.pub')
    const install = `plugin install crowd@1.2 --registry ${address}`
    expect(await run(install, 'n\n')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Install crowd 1\.2\.1\? \[y\/N\] .*nothing was installed/s),
    })
    const installed = await run(install, 'y\n')
    expect(installed.out).toMatch(
      /^crowd 1\.2\.1 is signed by Acme, key \w+\n(?:.*\n)*added crowd 1\.2\.1; 1\.2\.1 is active\n$/,
    )
    expect((await run(install)).out).toBe('unchanged; 1.2.1 is active\n')
    const record = readFileSync(join(folder, 'data/plugin-registries.json'), 'utf8')
    expect(record).not.toContain('pass')
  })

  it('refuses a changed package, a forged entry, and an index older than one seen before', async () => {
    await run('plugin trust @acme.pub')
    const copy = join(folder, 'copy')
    cpSync(registry, copy, { recursive: true })
    const install = (version: string) => run(`plugin install crowd@${version} --registry ${copy}`)
    const index = readFileSync(join(copy, 'index.json'), 'utf8')

    appendFileSync(join(copy, 'packages/crowd-1.1.0.tgz'), 'x')
    expect(await install('1.1.0')).toMatchObject(
      failure(/crowd-1\.1\.0\.tgz has more than \d+ bytes/),
    )
    cpSync(join(registry, 'packages/crowd-1.2.0.tgz'), join(copy, 'packages/crowd-1.1.0.tgz'))
    expect(await install('1.1.0')).toMatchObject(
      failure(/crowd 1\.1\.0 in .*copy was changed after|has more than/),
    )

    const { entries } = JSON.parse(index)
    const older = entries.filter(({ name }: { name: string }) => name !== 'gate')
    writeFileSync(join(copy, 'index.json'), JSON.stringify({ format: 1, entries: older }))
    expect((await install('1.2.1')).err).toMatch(/copy is older than when it was read before/)

    writeFileSync(join(copy, 'index.json'), index.replaceAll('Counts people', 'Counts cars'))
    expect((await run(`plugin search --registry ${copy}`)).err).toMatch(
      /rejected: "crowd 1\.2\.1": its signature/,
    )
    expect(await run(`plugin mirror ${copy} @other`)).toMatchObject(
      failure(/its signature does not match/),
    )
  })

  it('recognizes an old index of a folder by any path to the folder', async () => {
    await run('plugin trust @acme.pub')
    const copy = join(folder, 'moved')
    cpSync(registry, copy, { recursive: true })
    await run(`plugin install crowd@1.2.1 --registry ${copy}`)

    writeFileSync(join(copy, 'index.json'), JSON.stringify({ format: 1, entries: [] }))
    const path = relative(process.cwd(), copy)
    expect((await run(`plugin install crowd@1.2.1 --registry ${path}`)).err).toMatch(
      /moved is older than when it was read before/,
    )
  })

  it('reads a registry through the proxy of the machine, past which it reaches the engine', async () => {
    const proxy = await startForwardProxy((web.address() as AddressInfo).port)
    const registryUrl = 'http://shop:pass%20word@registry.invalid/plugins'
    const engineUrl = `http://127.0.0.1:${server.port}`
    const result = await runEyrieCommand(
      ['plugin', 'install', 'nothing', '--registry', registryUrl, '--url', engineUrl],
      { data: join(folder, 'data'), environment: { http_proxy: proxy.url } },
    )
    expect(result.err).toContain('the registry has no plugin nothing')
    expect(proxy.requested).toEqual(['registry.invalid:80'])
  })

  it('names the server that closes the connection in the middle of a file', async () => {
    const broken = createServer((_, response) => {
      response.writeHead(200, { 'content-length': 1000 })
      response.write('{"format":1,', () => response.destroy())
    })
    onTestFinished(() => void broken.close())
    await new Promise<void>(listening => void broken.listen(0, '127.0.0.1', listening))
    const host = `127.0.0.1:${(broken.address() as AddressInfo).port}`
    expect(await run(`plugin install crowd --registry http://${host}/`)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${host} cannot be reached (other side closed). `),
    })
  })

  it.each([
    ['plugin install nothing', 1, /the registry has no plugin nothing/],
    [
      'plugin install crowd --registry http://127.0.0.1:65535/',
      1,
      /127\.0\.0\.1:65535 cannot be reached \(connect ECONNREFUSED 127\.0\.0\.1:65535\)/,
    ],
    ['plugin search --registry ftp://example.com', 2, /is not a registry: write a folder/],
    ['plugin search --registry @data', 1, /data\/index\.json does not exist/],
    ['plugin publish @crowd', 2, /--key is missing/],
  ])('reports why "%s" fails', async (line, code, reason) => {
    expect(await run(line)).toMatchObject({ code, err: expect.stringMatching(reason) })
  })
})

describe('eyrie plugin mirror', () => {
  it('copies a registry from a web server, and later only what is new', async () => {
    const stick = join(folder, 'stick')
    const mirror = () => run(`plugin mirror ${address} ${stick}`)
    const total = JSON.parse((await run('plugin search --json')).out).length
    expect((await mirror()).out).toBe(
      `mirrored ${total} versions into ${stick}, ${total} of them new\n`,
    )
    await publish({ name: 'late', version: '1.0.0' })
    expect((await mirror()).out).toBe(
      `mirrored ${total + 1} versions into ${stick}, 1 of them new\n`,
    )
    for (const file of ['index.json', 'packages/crowd-1.2.1.tgz']) {
      expect(readFileSync(join(stick, file)).equals(readFileSync(join(registry, file)))).toBe(true)
    }
  })
})
