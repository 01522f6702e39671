import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EyrieError } from '@eyrie/contract'
import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { Hono } from 'hono'
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import type { SignedIn } from '../../../../test/fixtures/management.ts'
import { sharedManagement, sharedRecords } from '../../../../test/fixtures/shared-management.ts'
import { channel, setting, source } from '../../db/schema/index.ts'
import { findLocalChannels } from '../../fleet/registry/local-engine.ts'
import { createUsers, type Users } from '../../users/users.ts'
import { createIdentify } from '../auth/identify-caller.ts'
import { recordingDeletionRoutes } from './recording-deletion.ts'
import { createUpstream } from './upstream-client.ts'

const TIMES = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z'
const deleted = { files: 2, bytes: 100 }

const its = sharedManagement()
let users: Users
const made = sharedRecords(its)
let asked: string[]
beforeAll(async () => {
  users = await createUsers({ data: its.data, now: () => new Date() })
  await its.database.system('test', async tx => {
    await tx.update(channel).set({ channel_sid: 7 }).where(eq(channel.channel_id, made.channel_id))
    await tx.update(source).set({ source_sid: 3 }).where(eq(source.source_id, made.source_id))
    await tx.insert(setting).values({ name: 'local_engine', value: { engine_id: made.engine_id } })
  })
}, 120_000)
beforeEach(() => {
  asked = []
})

async function upstream(name: string, answer: unknown) {
  const server = createServer(({ method, url, headers }, response) => {
    if (name === 'media') asked.push(`${method} ${url} ${headers.authorization}`)
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return createUpstream({ name, url, token: 'internal' })
}

/** Deletes of a stream; the engine exports the channel 7, which is seen in the stream 3. */
async function remove(stream: number, as: SignedIn | { token: string } | undefined) {
  const stream3 = { id: 3, hostname: '127.0.0.1', port: 1 }
  const app = new Hono().route(
    '/live/recordings',
    recordingDeletionRoutes({
      identify: createIdentify(users, () => its.database),
      channelsOf: caller => findLocalChannels(its.database, caller),
      database: () => its.database,
      engine: await upstream('engine', { channels: [{ id: 7, source: 3, pipeline: 1, stream: stream3 }] }),
      media: await upstream('media', deleted),
    }),
  )
  app.onError((error, c) => c.json({}, (error as EyrieError).status as 401))
  return app.request(`/live/recordings/${stream}?${TIMES}`, {
    method: 'DELETE',
    headers: as ? { authorization: `Bearer ${as.token}` } : {},
  })
}

it('managers delete what is recorded of the streams that they see, and it is written down', async () => {
  const manager = await its.signIn('manager', { sites: [made.site_id] })
  const answer = await remove(3, manager)
  expect([answer.status, await answer.json()]).toEqual([200, deleted])
  const times = new URLSearchParams(TIMES)
  expect(asked).toEqual([`DELETE /recordings/3?${times} Bearer internal`])
  const admin = await its.signIn('admin', { organization: made.organization_id })
  const { response } = await its.call(managementRoutes.audit.list, { record: 'recording' }, admin)
  expect(response).toMatchObject([
    {
      ...{ actor: manager.email, operation: '/live/recordings', record_id: '3', change: 'delete' },
      before: { ...Object.fromEntries(times), ...deleted },
    },
  ])
})

it('nobody deletes more than they see, or without the role for it', async () => {
  const statusOf = async (stream: number, as?: SignedIn | { token: string }) =>
    (await remove(stream, as)).status
  expect(await statusOf(3)).toBe(401)
  expect(await statusOf(3, await its.signIn('viewer', { sites: [made.site_id] }))).toBe(403)
  expect(await statusOf(3, await its.signIn('manager'))).toBe(404)
  expect(await statusOf(4, await its.signIn('manager', { sites: [made.site_id] }))).toBe(404)
  expect(asked).toEqual([])
  expect(await statusOf(4, its.superadmin)).toBe(200)
})

it('an API token deletes only what it was made for', async () => {
  for (const [scope, status] of [
    ['read', 403],
    ['write', 200],
  ] as const) {
    const { response } = await its.call(managementRoutes.token.create, { name: scope, scopes: [scope] })
    const { token } = response as unknown as { token: string }
    expect((await remove(3, { token })).status).toBe(status)
  }
})
