// @module-tag long

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished, vi } from 'vitest'
import { findFreePort } from '../fixtures/network/free-ports.ts'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startService } from '../fixtures/processes/service-process.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const ENGINE_ONLY = resolve(import.meta.dirname, '../../appliance/engine-only.ts')
const WAIT = { timeout: 180_000, interval: 200 }
const JOIN_TOKEN: string = randomUUID()
const administrator = { email: 'admin@eyrie.test', password: `pass ${randomUUID()}` }

interface JoinedEngine {
  engine_id: string
  engine_name: string
  engine_port: number
  engine_status: number
}

it('engines register themselves by a join token, and remain the same engines after a restart', {
  timeout: 600_000,
}, async () => {
  const ports = await Promise.all([1, 2, 3, 4].map(() => findFreePort()))
  const data = createTemporaryFolder()
  const management = await startService('management', {
    EYRIE_DATA: `${data}/management`,
    EYRIE_MANAGEMENT_PORT: '0',
    EYRIE_JOIN_TOKEN: JOIN_TOKEN,
    EYRIE_EGRESS_ALLOW: ports.map(port => `engine=127.0.0.1:${port}`).join(),
    EYRIE_ADMIN_EMAIL: administrator.email,
    EYRIE_ADMIN_PASSWORD: administrator.password,
  })
  onTestFinished(() => management.stop())

  async function startEngine(name: string, port: number, token = JOIN_TOKEN) {
    const engine = await startEngineProcess({
      data: join(data, name),
      settings: { engine: { inference_workers: 1 } },
      variables: {
        EYRIE_ENGINE_PORT: String(port),
        EYRIE_MANAGEMENT_URL: management.url,
        EYRIE_JOIN_TOKEN: token,
      },
    })
    onTestFinished(() => engine.kill())
    return engine
  }

  const call = async <Response>(path: string, token: string, body?: unknown): Promise<Response> => {
    const response = await fetch(`${management.url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return ((await response.json()) as { response: Response }).response
  }
  const { access_token: token } = await vi.waitFor(async () => {
    const session = await call<{ access_token: string } | null>('/user/auth', '', administrator)
    expect(session).not.toBeNull()
    return session!
  }, WAIT)
  const listEngines = () => call<JoinedEngine[]>('/engine/list?site_ids=', token)
  const untilOnline = (expectedPorts: number[]) =>
    vi.waitFor(async () => {
      const online = (await listEngines()).filter(({ engine_status }) => engine_status === 1)
      expect(online.map(({ engine_port }) => engine_port).sort()).toEqual(expectedPorts.toSorted())
      return online
    }, WAIT)

  // Two engines at once, which were given nothing but the token and the address of management.
  const [first] = await Promise.all([
    startEngine('first', ports[0]!),
    startEngine('second', ports[1]!),
  ])
  const joined = await untilOnline([ports[0]!, ports[1]!])
  const find = (engines: JoinedEngine[], port: number) =>
    engines.find(({ engine_port }) => engine_port === port)!.engine_id

  // Restarted at another address, an engine is the same one. It needs no valid token any more.
  await first.kill()
  await startEngine('first', ports[2]!, 'revoked')
  const returned = await untilOnline([ports[1]!, ports[2]!])
  expect(find(returned, ports[2]!)).toBe(find(joined, ports[0]!))
  expect(await listEngines()).toHaveLength(2)

  // An unknown engine needs a valid token, such as one that was created for it.
  const refused = await startEngine('third', ports[3]!, 'wrong')
  await vi.waitUntil(
    () => refused.lines.some(line => line.includes('the join token is unknown')),
    WAIT,
  )
  expect(await listEngines()).toHaveLength(2)
  await refused.kill()
  const { join_token: joinToken } = await call<{ join_token: string }>(
    '/engine/create-join-token',
    token,
    {
      name: 'third',
    },
  )

  // As in a container of its own: the supervisor runs an engine and its media
  // service, and nothing else.
  const supervisor = spawn(process.execPath, [ENGINE_ONLY], {
    env: {
      PATH: process.env.PATH,
      EYRIE_DATA: join(data, 'third'),
      EYRIE_ENGINE_PORT: String(ports[3]),
      EYRIE_MEDIA_PORT: '0',
      EYRIE_MANAGEMENT_URL: management.url,
      EYRIE_JOIN_TOKEN: joinToken,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void supervisor.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: supervisor.stdout }).on('line', line => lines.push(line))
  await untilOnline([ports[1]!, ports[2]!, ports[3]!])
  const tokens = await call<{ name: string; used_at: string | null }[]>(
    '/engine/join-tokens',
    token,
  )
  expect(tokens).toMatchObject([{ name: 'third', used_at: expect.any(String) }])
  expect(JSON.stringify(tokens)).not.toContain(joinToken)
  await vi.waitFor(async () => {
    const health = await fetch(`http://127.0.0.1:${ports[3]}/health`)
    expect(await health.json()).toMatchObject({ ok: true })
  }, WAIT)
  supervisor.kill('SIGTERM')
  expect(await once(supervisor, 'exit')).toEqual([0, null])
  const services = new Set(lines.map(line => /^\S+ (\S+)/.exec(line)?.[1]))
  expect([...services]).toEqual(expect.arrayContaining(['supervisor', 'media', 'engine']))
  for (const name of ['management', 'scheduler', 'database']) {
    expect([...services]).not.toContain(name)
  }
})
