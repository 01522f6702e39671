import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { capabilities } from '@eyrie/contract'
import { createLog } from '@eyrie/kit'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createElementFrame } from '../../../../test/fixtures/engine/element-frame.ts'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { openPluginQuarantine } from './plugin-quarantine.ts'
import { createTestSandboxes, openProbe } from './probe-sandboxes.fixture.ts'

const log = createLog('test', 'silent')
const LIMIT_MS = 120_000

it(
  'a version in shadow runs at the lowest priority, its storage is empty and deleted, it sends no requests, and its crashes do not count',
  async () => {
    const requests: string[] = []
    const server = createServer((request, response) => {
      requests.push(request.method!)
      response.end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await vi.waitUntil(() => server.listening)
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`

    const folder = createTemporaryFolder()
    writePlugin(folder, {
      module: `import { getPriority } from 'node:os'`,
      open: `
        return {
          process: async ({ n }: any) => {
            if (n === 2) process.exit(7)
            const files = await setup.storage.list()
            await setup.storage.write('visits-' + files.length, 'x')
            const request = setup.fetch('http://${host}/', { method: 'POST' })
            const sent = await request.then(() => 'sent', (error: Error) => error.message)
            return { events: [{ type: 'ran', files: files.length, sent, priority: getPriority() }] }
          },
        }`,
    })
    const quarantine = openPluginQuarantine({ file: join(folder, 'quarantine.json'), log })
    const addCrash = vi.spyOn(quarantine, 'addCrash')
    const sandboxes = await createTestSandboxes(folder, {
      quarantine,
      allowsPartialIsolation: false,
      log,
    })
    const declared = capabilities.parse({
      network: [host],
      storage_bytes: 1000,
      events: { ran: { files: 'number', sent: 'string', priority: 'number' } },
    })
    const open = (isShadow: boolean) =>
      openProbe(sandboxes, folder, log, { capabilities: declared, isShadow })
    const listFiles = () => readdirSync(join(folder, '.storage/probe/probe/1'))

    const active = await open(false)
    expect(await active.process(createElementFrame(1))).toEqual({
      events: [{ type: 'ran', files: 0, sent: 'sent', priority: getPriority() }],
    })
    const shadow = await open(true)
    expect(await shadow.process(createElementFrame(1))).toEqual({
      events: [
        { type: 'ran', files: 0, sent: 'a version in shadow sends no requests', priority: 19 },
      ],
    })
    expect(requests).toEqual(['POST'])
    expect(listFiles()).toEqual(['visits-0'])

    await expect((async () => shadow.process(createElementFrame(2)))()).rejects.toThrow(
      'exit code 7',
    )
    shadow.close?.()
    await vi.waitUntil(
      () => readdirSync(join(folder, '.storage/.shadow/probe/probe')).length === 0,
      LIMIT_MS,
    )
    expect(addCrash).not.toHaveBeenCalled()
    active.close?.()
  },
  LIMIT_MS,
)
