import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { capabilities } from '@eyrie/contract/plugin'
import { createLog } from '@eyrie/kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { writePlugin } from '../../../../../test/fixtures/engine/test-plugin.ts'
import {
  localPluginEgress,
  pluginEgress,
} from '../../../../../test/fixtures/network/local-egress.ts'
import { createTemporaryFolder } from '../../../../../test/fixtures/temporary-folder.ts'
import { openPluginQuarantine } from '../plugin-quarantine.ts'
import { createSandboxes } from '../sandboxes.ts'
import { createCallHandler } from './call-handler.ts'

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('requests of elements', () => {
  const fetchWith = (network: string[], url: string, egress = localPluginEgress) =>
    createCallHandler({ declared: { network }, egress, folder: '/nowhere' })({
      method: 'fetch',
      url,
      request: {},
    })

  it('reach declared servers only', async () => {
    const requests: string[] = []
    const server = await serve(({ url }, response) => {
      requests.push(url!)
      response.writeHead(201, { 'X-Count': '1' }).end('answer')
    })
    expect(await fetchWith([server], `http://${server}/path`)).toMatchObject({
      status: 201,
      headers: { 'x-count': '1' },
      body: base64('answer'),
    })
    await expect(fetchWith([], `http://${server}/`)).rejects.toThrow(
      `does not declare ${server}: add "network": ["${server}"]`,
    )
    await expect(fetchWith([server], `http://127.0.0.1:1/`)).rejects.toThrow(
      /does not declare 127\.0\.0\.1:1/,
    )
    await expect(fetchWith(['example.com:443'], `https://example.com.evil.test/`)).rejects.toThrow(
      /declare/,
    )
    await expect(fetchWith([], 'file:///etc/passwd')).rejects.toThrow(/no address of the form/)
    expect(requests).toEqual(['/path'])
  })

  it('do not reach this machine, although the manifest declares it', async () => {
    const server = await serve((_, response) => void response.end('secret'))
    await expect(fetchWith([server], `http://${server}/`, pluginEgress)).rejects.toThrow(
      /loopback address, and no server of a plugin may be there.*plugin=127\.0\.0\.1:/,
    )
  })

  it('do not follow redirects, and end with a response that is too large', async () => {
    const server = await serve(({ url }, response) => {
      if (url === '/large') response.end(Buffer.alloc(5 << 20))
      else response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()
    })
    await expect(fetchWith([server], `http://${server}/large`)).rejects.toThrow(/larger than 4 MiB/)
    await expect(fetchWith([server], `http://${server}/`)).rejects.toThrow(/redirects/)
  })
})

describe('storage of elements', () => {
  const createStorage = (bytes: number | undefined, folder = createTemporaryFolder()) =>
    createCallHandler({
      declared: { network: [], storage_bytes: bytes },
      egress: pluginEgress,
      folder,
    })

  it('maintains files up to the declared size, across restarts', async () => {
    const folder = createTemporaryFolder()
    const storage = createStorage(10, folder)
    expect(await storage({ method: 'list' })).toEqual([])
    expect(await storage({ method: 'read', name: 'a' })).toBeUndefined()
    await storage({ method: 'write', name: 'a', content: base64('12345') })
    await storage({ method: 'write', name: 'b', content: base64('12345') })
    await storage({ method: 'write', name: 'a', content: base64('54321') })
    await expect(storage({ method: 'write', name: 'c', content: base64('1') })).rejects.toThrow(
      'would have 11 bytes; its manifest declares 10',
    )
    const restarted = createStorage(10, folder)
    expect(await restarted({ method: 'list' })).toEqual(['a', 'b'])
    expect(await restarted({ method: 'read', name: 'a' })).toBe(base64('54321'))
    await restarted({ method: 'delete', name: 'a' })
    expect(await restarted({ method: 'list' })).toEqual(['b'])
  })

  it.each(['', '.', '..', '../a', '/etc/passwd', 'a/b', 'a\0', '.draft', 'x'.repeat(101)])(
    'rejects the name %j',
    async name => {
      const folder = createTemporaryFolder()
      const storage = createStorage(1000, join(folder, 'storage'))
      for (const call of [
        { method: 'read', name },
        { method: 'delete', name },
        { method: 'write', name, content: '' },
      ] as const) {
        await expect(storage(call)).rejects.toThrow(/no valid name/)
      }
      expect(readdirSync(folder)).toEqual([])
    },
  )

  it('has to be declared', async () => {
    await expect(createStorage(undefined)({ method: 'list' })).rejects.toThrow(
      /add "storage_bytes"/,
    )
  })
})

it('an element in a sandbox sends requests and stores files through the engine', async () => {
  const folder = createTemporaryFolder()
  const server = await serve(async (request, response) => {
    const chunks = await request.toArray()
    response.end(`${request.method} ${Buffer.concat(chunks)}`)
  })
  writePlugin(folder, {
    open: `
      const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
      return {
        process: async () => {
          const { body } = await setup.fetch('http://${server}/', { method: 'POST', body: 'question' })
          await setup.storage.write('answer', body)
          const stored = text(await setup.storage.read('answer'))
          const refused = await setup.fetch('http://127.0.0.1:1/').catch((error: Error) => error.message)
          return { events: [{ type: 'call', stored, refused, names: await setup.storage.list() }] }
        },
      }`,
  })
  const log = createLog('test', 'silent')
  const sandboxes = await createSandboxes({
    quarantine: openPluginQuarantine({ file: join(folder, 'quarantine.json'), log }),
    allowsPartialIsolation: true,
    folder,
    codeFolder: join(folder, '.compiled'),
    storageFolder: join(folder, '.storage'),
    egress: localPluginEgress,
    verifyPackage: async () => {},
    assertTrusted: () => {},
    log,
  })
  const events = { call: { stored: 'string', refused: 'string', names: 'any' } }
  const element = await sandboxes.open({
    plugin: { plugin: 'probe', version: '1.0.0', channel: 1 },
    source: {
      entry: join(folder, 'probe/element.ts'),
      name: 'probe',
      setup: { args: {}, config: undefined, source: { id: 1 }, size: undefined },
    },
    capabilities: capabilities.parse({ network: [server], storage_bytes: 1000, events }),
    needsPixels: false,
    findRing: () => undefined,
    onCost: () => {},
    log,
  })
  onTestFinished(() => element.close?.())
  const frame = {
    ...{ n: 1, pts: 0, time: 0, discontinuity: false, width: 16, height: 9 },
    ...{ objects: [], lowScoreObjects: [], counters: {} },
  }
  expect((await element.process(frame)).events).toEqual([
    {
      type: 'call',
      stored: 'POST question',
      refused: expect.stringContaining('does not declare 127.0.0.1:1'),
      names: ['answer'],
    },
  ])
})
