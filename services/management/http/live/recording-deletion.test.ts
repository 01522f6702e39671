import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ERROR_TABLE, EyrieError } from '@eyrie/contract'
import { managementRoutes } from '@eyrie/contract/management/index'
import { createLog } from '@eyrie/kit'
import { eq, sql } from 'drizzle-orm'
import { Hono } from 'hono'
import { beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { SignedInUser } from '../../../../test/fixtures/management/management.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'
import { localProviderEgress } from '../../../../test/fixtures/network/local-egress.ts'
import { channel, setting, source } from '../../db/schema/index.ts'
import { findLocalChannels } from '../../fleet/registry/local-engine.ts'
import { loadSecrets } from '../../secrets/secrets.ts'
import { createUsers, type Users } from '../../users/users.ts'
import { createIdentifyCaller } from '../auth/identify-caller.ts'
import { createRecordingDeletionRoutes } from './recording-deletion.ts'
import { createUpstream } from './upstream-client.ts'

const TIMES = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z'
const deleted = { files: 2, bytes: 100 }

const management = sharedManagement()
let users: Users
const records = sharedRecords(management)
let requests: string[]
beforeAll(async () => {
  users = await createUsers({
    data: management.data,
    secrets: loadSecrets(management.data),
    identityEgress: localProviderEgress,
    now: () => new Date(),
  })
  await management.database.system('test', async tx => {
    await tx
      .update(channel)
      .set({ channel_sid: 7 })
      .where(eq(channel.channel_id, records.channel_id))
    await tx.update(source).set({ source_sid: 3 }).where(eq(source.source_id, records.source_id))
    await tx
      .insert(setting)
      .values({ name: 'local_engine', value: { engine_id: records.engine_id } })
  })
}, 180_000)
beforeEach(() => {
  requests = []
})

/**
 * Starts a service that replies with JSON or with an error, or that closes each connection without
 * a `reply`. It replies once `ready` resolves.
 */
async function upstream(name: string, reply: unknown, ready = Promise.resolve()) {
  const server = createServer(async ({ method, url, headers }, response) => {
    if (name === 'media') requests.push(`${method} ${url} ${headers.authorization}`)
    await ready
    if (reply === undefined) return response.destroy()
    if (reply instanceof EyrieError) response.statusCode = reply.status
    response.end(JSON.stringify(reply instanceof EyrieError ? reply.toBody() : reply))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return createUpstream({ name, url, token: 'internal' })
}

/** Requests a deletion. The engine exports channel 7, which is shown in stream 3. */
async function requestDeletion(
  stream: number,
  as: SignedInUser | { token: string } | undefined,
  media = upstream('media', deleted),
) {
  const stream3 = { id: 3, hostname: '127.0.0.1', port: 1 }
  const app = new Hono().route(
    '/live/recordings',
    createRecordingDeletionRoutes({
      identify: createIdentifyCaller(
        () => users,
        () => management.database,
      ),
      findChannels: caller => findLocalChannels(management.database, caller),
      database: () => management.database,
      engine: await upstream('engine', {
        channels: [{ id: 7, source: 3, pipeline: 1, stream: stream3 }],
      }),
      media: await media,
      log: createLog('management', 'silent'),
    }),
  )
  app.onError((error, c) => c.json({ reason: error.message }, (error as EyrieError).status as 401))
  return app.request(`/live/recordings/${stream}?${TIMES}`, {
    method: 'DELETE',
    headers: as ? { authorization: `Bearer ${as.token}` } : {},
  })
}

it('deletes recordings of visible streams for managers, and audits it', async () => {
  const manager = await management.signIn('manager', { sites: [records.site_id] })
  const reply = await requestDeletion(3, manager)
  expect([reply.status, await reply.json()]).toEqual([200, deleted])
  const times = new URLSearchParams(TIMES)
  expect(requests).toEqual([`DELETE /recordings/3?${times} Bearer internal`])
  const admin = await management.signIn('admin', { organization: records.organization_id })
  const { response } = await management.call(
    managementRoutes.audit.list,
    { record: 'recording' },
    admin,
  )
  expect(response).toMatchObject([
    {
      ...{ actor: manager.email, operation: '/live/recordings', record_id: '3', change: 'delete' },
      before: { ...Object.fromEntries(times), ...deleted },
    },
  ])
})

it('audits a deletion of which the result is unknown, because media has not responded', async () => {
  const { status } = await requestDeletion(5, management.superadmin, upstream('media', undefined))
  expect(status).toBe(503)
  expect(requests).toHaveLength(1)
  const { response } = await management.call(managementRoutes.audit.list, { record: 'recording' })
  expect(response.filter(({ record_id }) => record_id === '5')).toMatchObject([
    {
      change: 'delete',
      before: {
        ...Object.fromEntries(new URLSearchParams(TIMES)),
        failure: expect.stringContaining('media'),
      },
    },
  ])
})

it('reports and audits how many files could not be deleted', async () => {
  const value = { ...deleted, undeletable: 1 }
  const failure = '1 of 3 files could not be deleted'
  const media = upstream('media', new EyrieError('conflict', failure, { value }))
  const reply = await requestDeletion(6, management.superadmin, media)
  expect([reply.status, await reply.json()]).toEqual([
    ERROR_TABLE.conflict.status,
    { reason: failure },
  ])
  const { response } = await management.call(managementRoutes.audit.list, { record: 'recording' })
  expect(response.find(({ record_id }) => record_id === '6')).toMatchObject({
    before: { ...value, failure },
  })
})

const conflict = new EyrieError('conflict', 'undeletable', {
  value: { ...deleted, undeletable: 1 },
})

it.each([
  ['a success', deleted, 9, 200],
  ['a failure', conflict, 10, conflict.status],
] as const)('responds with %s that cannot be audited yet, and audits it later', async (...row) => {
  const [, reply, stream, status] = row
  const run = (statement: string) =>
    management.database.system('test', tx => tx.execute(sql.raw(statement)))
  await run(`
    create function reject_result() returns trigger language plpgsql as $$
    begin
      raise disk_full;
    end
    $$`)
  onTestFinished(async () => void (await run('drop function if exists reject_result cascade')))
  await run(`
    create trigger reject_result before update on audit for each row
    execute function reject_result()`)
  const media = upstream('media', reply)
  const response = await requestDeletion(stream, management.superadmin, media)
  expect(response.status).toBe(status)

  await run('drop function reject_result cascade')
  await vi.waitFor(async () => {
    const { response } = await management.call(managementRoutes.audit.list, { record: 'recording' })
    expect(response.find(({ record_id }) => record_id === String(stream))).toMatchObject({
      before: deleted,
    })
  })
})

it('waits for a deletion that takes minutes', async () => {
  const finished = Promise.withResolvers<void>()
  const media = upstream('media', deleted, finished.promise)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const reply = requestDeletion(8, management.superadmin, media)
  await vi.waitUntil(() => requests.length > 0)
  vi.advanceTimersByTime(600_000)
  finished.resolve()
  expect((await reply).status).toBe(200)
})

it('responds with 404 for an invisible stream and 403 without the role manager', async () => {
  const statusOf = async (stream: number, as?: SignedInUser | { token: string }) =>
    (await requestDeletion(stream, as)).status
  expect(await statusOf(3)).toBe(401)
  const viewer = await requestDeletion(
    3,
    await management.signIn('viewer', { sites: [records.site_id] }),
  )
  expect([viewer.status, await viewer.json()]).toEqual([
    403,
    {
      reason:
        'deleting recordings requires the role manager or a higher one, and your role is viewer: ask an administrator',
    },
  ])
  expect(await statusOf(3, await management.signIn('manager'))).toBe(404)
  expect(await statusOf(4, await management.signIn('manager', { sites: [records.site_id] }))).toBe(
    404,
  )
  expect(requests).toEqual([])
  expect(await statusOf(4, management.superadmin)).toBe(200)
})

it('requires the scope write from an API token', async () => {
  for (const [scope, status] of [
    ['read', 403],
    ['write', 200],
  ] as const) {
    const { response } = await management.call(managementRoutes.token.create, {
      name: scope,
      scopes: [scope],
    })
    const { token } = response as unknown as { token: string }
    expect((await requestDeletion(3, { token })).status).toBe(status)
  }
})
