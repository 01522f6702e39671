import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from '@eyrie/kit'
import { eq, sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { startLiveFeed } from '../../../../test/fixtures/management/feed-client.ts'
import { sharedManagement } from '../../../../test/fixtures/management/shared-management.ts'
import { createWholeApp } from '../../../../test/fixtures/management/whole-app.ts'
import { session } from '../../db/schema/index.ts'
import { extendSession, startSession } from '../../users/sessions.ts'

const DAY_MS = 86_400_000
const FEED_PATH = '/api/v1/feed/stream'

const management = sharedManagement()

/** Starts the whole app with services that have no channels and recordings. Returns its origin. */
async function serve(): Promise<string> {
  const services = createServer((_, response) => response.end('{"channels":[],"streams":[]}'))
  await new Promise<void>(resolve => services.listen(0, '127.0.0.1', resolve))
  const { port } = services.address() as AddressInfo
  const app = createWholeApp(management, `http://127.0.0.1:${port}`)
  const server = await listen({ app, health: () => ({ ok: true }) }, '127.0.0.1', 0)
  onTestFinished(async () => {
    await server.close()
    services.close()
  })
  startLiveFeed(management)
  return `http://127.0.0.1:${server.port}`
}

/** Signs a user in to the console, who has last used it some days ago. */
async function signIn(idleDays: number, { user_id } = management.superadmin) {
  const usedAt = new Date(Date.now() - idleDays * DAY_MS)
  const client = { address: '192.0.2.1', user_agent: '' }
  const { session_id, refresh_token: token } = await management.database.system('test', tx =>
    startSession(tx, user_id, client, usedAt),
  )
  return { session_id, usedAt, headers: { cookie: `eyrie_session=${token}` } }
}

async function readSession(sessionId: string) {
  const [row] = await management.database.system('test', tx =>
    tx.select().from(session).where(eq(session.session_id, sessionId)),
  )
  return row!
}

/** Sends a request of the console, and returns the status and the cookies that are set. */
async function request(url: string, headers: Record<string, string>) {
  const ending = new AbortController()
  const response = await fetch(url, { headers, signal: ending.signal })
  // The live feed does not end by itself.
  ending.abort()
  return { status: response.status, cookies: response.headers.getSetCookie() }
}

const renewed = (cookie: string) => `${cookie}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict`

/** Makes the database refuse to store sessions, as with a full disk, during the current test. */
async function refuseStoring(): Promise<void> {
  await management.database.system('test', async tx => {
    await tx.execute(sql`
      create function refuse() returns trigger language plpgsql as
      $$ begin raise exception using errcode = 'disk_full'; end $$`)
    await tx.execute(sql`
      create trigger refuse before update on session execute function refuse()`)
  })
  onTestFinished(async () => {
    await management.database.system('test', tx => tx.execute(sql`drop function refuse cascade`))
  })
}

describe('a session of the console', () => {
  it.each([
    ['the state of the session', '/session'],
    ['an operation', '/api/v1/user/info'],
    ['recordings', '/live/recordings'],
    ['a path that does not exist', '/live/missing'],
    ['the live feed', FEED_PATH],
  ])('is extended with its cookie by a request for %s', async (_, path) => {
    const origin = await serve()
    const { session_id: sessionId, headers } = await signIn(29)
    const { cookies } = await request(origin + path, headers)
    expect(cookies).toEqual([renewed(headers.cookie)])
    const { used_at: usedAt, expires_at: expiresAt } = await readSession(sessionId)
    expect(Date.now() - usedAt.getTime()).toBeLessThan(60_000)
    expect(expiresAt.getTime() - usedAt.getTime()).toBe(30 * DAY_MS)
  })

  it('is extended with its cookie by a response that is filtered for a viewer', async () => {
    const origin = await serve()
    const { headers } = await signIn(1, await management.signIn('viewer'))
    expect(await request(`${origin}/live/recordings`, headers)).toEqual({
      status: 200,
      cookies: [renewed(headers.cookie)],
    })
  })

  it('is extended once an hour', async () => {
    const origin = await serve()
    const { headers } = await signIn(1 / 23)
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => request(`${origin}/session`, headers)),
    )
    const next = await request(`${origin}/session`, headers)
    expect([...responses, next].flatMap(({ cookies }) => cookies)).toEqual([
      renewed(headers.cookie),
    ])
    expect((await request(`${origin}/session`, (await signIn(1 / 25)).headers)).cookies).toEqual([])
  })

  it('is extended by the next request after a WebSocket, which cannot set a cookie', async () => {
    const origin = await serve()
    const { session_id: sessionId, usedAt, headers } = await signIn(1)
    const socket = new WebSocket(origin.replace('http', 'ws') + FEED_PATH, { headers })
    onTestFinished(() => socket.terminate())
    await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject))
    expect((await readSession(sessionId)).used_at).toEqual(usedAt)
    expect((await request(`${origin}/session`, headers)).cookies).toEqual([renewed(headers.cookie)])
  })

  it('does not resume after 30 days without use', async () => {
    const origin = await serve()
    const { session_id: sessionId, usedAt, headers } = await signIn(30)
    expect(await request(`${origin}/api/v1/user/info`, headers)).toEqual({
      status: 401,
      cookies: [],
    })
    expect((await readSession(sessionId)).used_at).toEqual(usedAt)
  })

  it('does not resume after it was revoked', async () => {
    const origin = await serve()
    const { session_id: sessionId, headers } = await signIn(1)
    const now = new Date()
    await management.database.system('test', tx =>
      tx.update(session).set({ revoked_at: now }).where(eq(session.session_id, sessionId)),
    )
    const revoked = await readSession(sessionId)
    expect((await request(`${origin}/api/v1/user/info`, headers)).status).toBe(401)
    // As by a request that had found the session before it was revoked.
    expect(await management.database.system('test', tx => extendSession(tx, sessionId, now))).toBe(
      false,
    )
    expect(await readSession(sessionId)).toEqual(revoked)
  })

  it('remains valid while the disk of the database is full', async () => {
    const origin = await serve()
    const { headers } = await signIn(1)
    await refuseStoring()
    expect(await request(`${origin}/api/v1/user/info`, headers)).toEqual({
      status: 200,
      cookies: [],
    })
  })
})
