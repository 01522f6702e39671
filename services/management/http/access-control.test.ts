import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createLog, type ListeningServer, listen } from '@eyrie/kit'
import { Hono } from 'hono'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runEyrie } from '../../../test/fixtures/command-line.ts'
import { plantRecords } from '../../../test/fixtures/management-records.ts'
import { sharedManagement } from '../../../test/fixtures/shared-management.ts'
import { channel, setting, user } from '../db/schema/index.ts'
import { provideFirstAdministrator } from '../users/first-administrator.ts'
import { createUsers, type Users } from '../users/users.ts'
import { addAccessControl } from './access-control.ts'
import { operatorToken } from './auth/operator-routes.ts'
import { createUpstream } from './live/upstream-client.ts'

const email = 'owner@eyrie.test'
const password = 'correct horse'

const its = sharedManagement()
let users: Users
beforeAll(async () => {
  // Nobody is there yet who could sign in.
  await its.database.system('test', tx => tx.delete(user))
  users = await createUsers({ data: its.data, now: () => new Date() })
}, 120_000)

/** An engine that exports the channel 7, which is seen in the stream 3, and one that nobody manages. */
async function engine() {
  const stream = (id: number) => ({ id, hostname: '127.0.0.1', port: 1 })
  const channels = [7, 8].map(id => ({ id, source: 1, pipeline: 1, stream: stream(id === 7 ? 3 : 4) }))
  const server = createServer((_, response) => response.end(JSON.stringify({ channels })))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return createUpstream({ name: 'engine', url, token: undefined })
}

/** The origin of management that listens on `host`; requests reach it by loopback all the same. */
async function serve(host: string, data = its.data, administrator = { email, password }) {
  const log = createLog('management', 'silent')
  const app = new Hono()
  addAccessControl(app, {
    host,
    data,
    database: () => its.database,
    users: () => users,
    engine: await engine(),
    media: createUpstream({ name: 'media', url: 'http://127.0.0.1:9', token: undefined }),
  })
  const told = (value: unknown) => {
    const text = JSON.stringify(value)
    return new Response(text, { headers: { 'content-length': String(text.length) } })
  }
  app.get('/live/channels', () => told([{ id: 7 }, { id: 8 }]))
  app.get('/live/recordings', () => told({ free_bytes: 1, streams: [{ stream: 3 }, { stream: 4 }] }))
  app.get('/live/recordings/sources', () => told([{ id: 3 }, { id: 4 }]))
  app.get('/live/*', c => c.text('picture'))
  app.onError((error, c) => c.json({ reason: error.message }, (error as { status?: number }).status as 401))
  operatorToken(data)
  const { passwords } = users
  await provideFirstAdministrator(its.database, { data, given: administrator, passwords, log })
  const server: ListeningServer = await listen({ app, health: () => ({ ok: true }) }, '127.0.0.1', 0)
  onTestFinished(() => server.close())
  return `http://127.0.0.1:${server.port}`
}

async function signIn(origin: string, given = { email, password }) {
  const headers = { origin, 'content-type': 'application/json' }
  return fetch(`${origin}/session`, { method: 'POST', headers, body: JSON.stringify(given) })
}

const cookieOf = (response: Response) => response.headers.getSetCookie()[0]!.split(';')[0]!
const statusOf = async (url: string, headers: Record<string, string> = {}) =>
  (await fetch(url, { headers })).status

describe('at the box itself', () => {
  it('live views are seen without signing in', async () => {
    const origin = await serve('127.0.0.1')
    expect(await statusOf(`${origin}/live/channels`)).toBe(200)
    expect(await (await fetch(`${origin}/session`)).json()).toEqual({ open: true, user: null })
  })

  it('nothing is deleted without signing in', async () => {
    const origin = await serve('127.0.0.1')
    expect((await fetch(`${origin}/live/recordings/3`, { method: 'DELETE' })).status).toBe(401)
  })
})

describe('from elsewhere', () => {
  it('nothing is seen without signing in', async () => {
    const origin = await serve('0.0.0.0')
    expect(await statusOf(`${origin}/live/channels`)).toBe(401)
    expect(await (await fetch(`${origin}/session`)).json()).toEqual({ open: false, user: null })
  })

  it('the cookie of a session opens everything to the superadmin, until signing out', async () => {
    const origin = await serve('0.0.0.0')
    const signedIn = await signIn(origin)
    expect(signedIn.status).toBe(204)
    expect(signedIn.headers.getSetCookie()[0]).toMatch(/HttpOnly/)
    expect(signedIn.headers.getSetCookie()[0]).toMatch(/SameSite=Strict/)
    const headers = { cookie: cookieOf(signedIn) }
    expect(await (await fetch(`${origin}/session`, { headers })).json()).toEqual({
      open: false,
      user: { email, role: 'superadmin' },
    })
    expect(await statusOf(`${origin}/live/streams/4/snapshot.jpg`, headers)).toBe(200)
    await fetch(`${origin}/session`, { method: 'DELETE', headers: { ...headers, origin } })
    expect(await statusOf(`${origin}/live/channels`, headers)).toBe(401)
  })

  it('a viewer sees the channels that are theirs, and no other', async () => {
    const origin = await serve('0.0.0.0')
    const { engine_id, customer_id, channel_id } = await plantRecords(its.database)
    await its.database.system('test', async tx => {
      await tx.update(channel).set({ channel_sid: 7 })
      await tx
        .insert(setting)
        .values({ name: 'local_engine', value: { engine_id } })
        .onConflictDoUpdate({ target: setting.name, set: { value: { engine_id } } })
    })
    expect(channel_id).toBeDefined()
    const { token } = await its.signIn('viewer', { customers: [customer_id] })
    const headers = { authorization: `Bearer ${token}` }
    expect(await (await fetch(`${origin}/live/channels`, { headers })).json()).toEqual([{ id: 7 }])
    const status = (path: string) => statusOf(`${origin}/live/${path}`, headers)
    expect(await status('streams/3/snapshot.jpg')).toBe(200)
    expect(await status('streams/4/snapshot.jpg')).toBe(404)
    expect(await status('recordings/4')).toBe(404)
    const told = async (path: string) => (await fetch(`${origin}/live/${path}`, { headers })).json()
    expect(await told('recordings?stream=4')).toEqual({ free_bytes: 1, streams: [{ stream: 3 }] })
    expect(await told('recordings/sources')).toEqual([{ id: 3 }])
    const head = await fetch(`${origin}/live/recordings`, { method: 'HEAD', headers })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, null])
    expect(await status('output?channels=7')).toBe(200)
    expect(await status('output?channels=7,8')).toBe(404)
    expect(await status('output')).toBe(404)
    const other = await its.signIn('viewer')
    expect(await statusOf(`${origin}/live/streams/3/ws`, { authorization: `Bearer ${other.token}` })).toBe(
      404,
    )
  })

  it.each([undefined, 'http://evil.example'])('a page of %s makes no use of a cookie', async foreign => {
    const origin = await serve('0.0.0.0')
    const cookie = cookieOf(await signIn(origin))
    const headers: Record<string, string> = foreign ? { cookie, origin: foreign } : { cookie }
    const answer = await fetch(`${origin}/session`, { method: 'DELETE', headers })
    expect(answer.status).toBe(403)
    expect(await statusOf(`${origin}/live/channels`, { cookie })).toBe(200)
  })

  it('a wrong password opens nothing', async () => {
    const origin = await serve('0.0.0.0')
    const refused = await signIn(origin, { email, password: 'another one' })
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([404, []])
  })
})

describe('eyrie user reset', () => {
  it('shows a new password once, which is good, and ends the sessions of the old one', async () => {
    const origin = await serve('127.0.0.1')
    const cookie = cookieOf(await signIn(origin))
    const environment = { EYRIE_MANAGEMENT_URL: origin }
    const { code, out } = await runEyrie(['user', 'reset', email], { data: its.data, environment })
    expect(code).toBe(0)
    const fresh = /is (\S+)$/m.exec(out)![1]!
    expect((await signIn(origin)).status).toBe(404)
    expect(await (await fetch(`${origin}/session`, { headers: { cookie } })).json()).toMatchObject({
      user: null,
    })
    expect((await signIn(origin, { email, password: fresh })).status).toBe(204)
  })

  it('takes away the file with the first password, which is good no longer, and leaves that of another', async () => {
    const environment = { EYRIE_MANAGEMENT_URL: await serve('127.0.0.1') }
    const file = join(its.data, 'secrets/admin')
    for (const kept of [email.toUpperCase(), 'another@eyrie.test']) {
      writeFileSync(file, `${kept}\nfirst password\n`)
      const { code } = await runEyrie(['user', 'reset', email], { data: its.data, environment })
      expect([code, existsSync(file)]).toEqual([0, kept === 'another@eyrie.test'])
    }
  })

  it('says where there is no such administrator who could be meant', async () => {
    const environment = { EYRIE_MANAGEMENT_PORT: new URL(await serve('127.0.0.1')).port }
    const result = await runEyrie(['user', 'reset', 'nobody@eyrie.test'], { data: its.data, environment })
    const named = `no administrator has the e-mail address nobody@eyrie.test; superadmins are ${email}`
    expect(result).toMatchObject({ code: 1, err: expect.stringContaining(named) })
  })

  it('is refused without the token of the box', async () => {
    const origin = await serve('127.0.0.1')
    const answer = await fetch(`${origin}/operator/user/reset`, {
      method: 'POST',
      headers: { authorization: 'Bearer guessed' },
      body: JSON.stringify({ email }),
    })
    expect(answer.status).toBe(401)
    expect(statSync(join(its.data, 'secrets/operator-token')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(its.data, 'secrets/operator-token'), 'utf8')).toHaveLength(43)
  })
})
