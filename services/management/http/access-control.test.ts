import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { createLink, openLocalSession } from '../../../test/fixtures/browser/local-session.ts'
import { insertRecords } from '../../../test/fixtures/management/records.ts'
import {
  owner,
  readCookie,
  sharedAccessControl,
  signIn,
} from '../../../test/fixtures/management/shared-access-control.ts'
import { channel, setting } from '../db/schema/index.ts'
import { readConsoleCookie, setConsoleCookie, setLocalCookie } from './auth/console-cookie.ts'

const { management, serve } = sharedAccessControl()

const fetchStatus = async (url: string, headers: Record<string, string> = {}) =>
  (await fetch(url, { headers })).status

const openLink = (origin: string) => openLocalSession({ consoleUrl: origin, data: management.data })

describe('on the appliance itself', () => {
  it('shows live views to a browser that has opened a link, and to no other program', async () => {
    const origin = await serve('127.0.0.1')
    expect(await fetchStatus(`${origin}/live/channels`)).toBe(401)
    expect(await (await fetch(`${origin}/session`)).json()).toEqual({ open: false, user: null })
    const headers = await openLink(origin)
    expect(await fetchStatus(`${origin}/live/channels`, headers)).toBe(200)
    expect(await (await fetch(`${origin}/session`, { headers })).json()).toEqual({
      open: true,
      user: null,
    })
  })

  it('shows a signed-in viewer only the channels that are assigned', async () => {
    const origin = await serve('127.0.0.1')
    const { token } = await management.signIn('viewer')
    const headers = { ...(await openLink(origin)), authorization: `Bearer ${token}` }
    expect(await (await fetch(`${origin}/live/channels`, { headers })).json()).toEqual([])
    expect(await fetchStatus(`${origin}/live/streams/3/snapshot.jpg`, headers)).toBe(404)
    expect(await fetchStatus(`${origin}/live/output?channels=7`, headers)).toBe(404)
  })

  it('shows live views to a browser with a link whose session as a user has ended', async () => {
    const origin = await serve('127.0.0.1')
    const headers = { ...(await openLink(origin)), authorization: 'Bearer expired' }
    expect(await fetchStatus(`${origin}/live/channels`, headers)).toBe(200)
  })

  it('responds with 401 to a deletion by a browser that is not signed in', async () => {
    const origin = await serve('127.0.0.1')
    const headers = { ...(await openLink(origin)), origin }
    expect((await fetch(`${origin}/live/recordings/3`, { method: 'DELETE', headers })).status).toBe(
      401,
    )
  })
})

describe('a link', () => {
  const open = (link: string, init?: RequestInit) => fetch(link, { redirect: 'manual', ...init })
  const createOneLink = (origin: string) =>
    createLink({ consoleUrl: origin, data: management.data })

  it('sets a cookie that scripts cannot read, and redirects to an address without the key', async () => {
    const opened = await open(await createOneLink(await serve('127.0.0.1')))
    expect([opened.status, opened.headers.get('location')]).toEqual([303, '/'])
    expect(opened.headers.get('cache-control')).toBe('no-store')
    expect(opened.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^eyrie_local=[\w-]{43}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Strict$/,
      ),
    ])
  })

  it('works once', async () => {
    const link = await createOneLink(await serve('127.0.0.1'))
    // Programs that preview links do not use them up.
    expect((await open(link, { method: 'HEAD' })).status).toBe(200)
    const responses = await Promise.all([open(link), open(link), open(link)])
    const started = responses.filter(({ headers }) => headers.getSetCookie().length > 0)
    expect(started).toHaveLength(1)
    const rejected = responses.filter(({ headers }) => headers.get('location') === '/link')
    expect(rejected).toHaveLength(2)
  })

  it('leads to the console in the browser that has opened it', async () => {
    const origin = await serve('127.0.0.1')
    const headers = await openLink(origin)
    const opened = await open(`${origin}/?key=used`, { headers })
    expect([opened.headers.get('location'), opened.headers.getSetCookie()]).toEqual(['/', []])
  })

  it.each(['', 'guessed', 'a'.repeat(43)])(
    'with the wrong key "%s" starts no session',
    async key => {
      const origin = await serve('127.0.0.1')
      await createOneLink(origin)
      const opened = await open(`${origin}/?key=${key}`)
      expect([opened.headers.get('location'), opened.headers.getSetCookie()]).toEqual(['/link', []])
      expect(await fetchStatus(`${origin}/live/channels`, { cookie: `eyrie_local=${key}` })).toBe(
        401,
      )
    },
  )

  it('expires with a restart, which sessions outlive', async () => {
    const origin = await serve('127.0.0.1')
    const headers = await openLink(origin)
    const { search } = new URL(await createOneLink(origin))
    const restarted = await serve('127.0.0.1')
    expect((await open(`${restarted}/${search}`)).headers.getSetCookie()).toEqual([])
    expect(await fetchStatus(`${restarted}/live/channels`, headers)).toBe(200)
  })

  it('starts a session that ends with signing out', async () => {
    const origin = await serve('127.0.0.1')
    const headers = { ...(await openLink(origin)), origin }
    const ended = await fetch(`${origin}/session`, { method: 'DELETE', headers })
    expect(ended.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^eyrie_local=; Max-Age=0;/),
    ])
    expect(await fetchStatus(`${origin}/live/channels`, headers)).toBe(401)
  })

  it('is valid neither in requests through a proxy nor for its clients', async () => {
    const origin = await serve('0.0.0.0', { trusted: '127.0.0.1' })
    const proxied = { 'x-forwarded-for': '127.0.0.1' }
    const link = await createOneLink(origin)
    const opened = await open(link, { headers: proxied })
    expect([opened.headers.get('location'), opened.headers.getSetCookie()]).toEqual(['/link', []])
    const session = await openLink(origin)
    expect(await fetchStatus(`${origin}/live/channels`, session)).toBe(200)
    expect(await fetchStatus(`${origin}/live/channels`, { ...session, ...proxied })).toBe(401)
    // A link that was opened elsewhere is still valid.
    expect((await open(link)).headers.getSetCookie()).toHaveLength(1)
  })
})

describe('from another machine', () => {
  it('responds with 401 without sign-in', async () => {
    const origin = await serve('0.0.0.0')
    expect(await fetchStatus(`${origin}/live/channels`)).toBe(401)
    expect(await (await fetch(`${origin}/session`)).json()).toEqual({ open: false, user: null })
  })

  it('grants a superadmin full access by cookie until sign-out', async () => {
    const origin = await serve('0.0.0.0')
    const signedIn = await signIn(origin)
    expect(signedIn.status).toBe(204)
    expect(signedIn.headers.getSetCookie()[0]).toMatch(/HttpOnly/)
    expect(signedIn.headers.getSetCookie()[0]).toMatch(/SameSite=Strict/)
    const headers = { cookie: readCookie(signedIn) }
    expect(await (await fetch(`${origin}/session`, { headers })).json()).toEqual({
      open: false,
      user: { email: owner.email, role: 'superadmin' },
    })
    expect(await fetchStatus(`${origin}/live/streams/4/snapshot.jpg`, headers)).toBe(200)
    await fetch(`${origin}/session`, { method: 'DELETE', headers: { ...headers, origin } })
    expect(await fetchStatus(`${origin}/live/channels`, headers)).toBe(401)
  })

  it('hides channels from a viewer to whom they are not assigned', async () => {
    const origin = await serve('0.0.0.0')
    const {
      engine_id,
      customer_id: customerId,
      channel_id: channelId,
    } = await insertRecords(management.database)
    await management.database.system('test', async tx => {
      await tx.update(channel).set({ channel_sid: 7 })
      await tx
        .insert(setting)
        .values({ name: 'local_engine', value: { engine_id } })
        .onConflictDoUpdate({ target: setting.name, set: { value: { engine_id } } })
    })
    expect(channelId).toBeDefined()
    const { token } = await management.signIn('viewer', { customers: [customerId] })
    const headers = { authorization: `Bearer ${token}` }
    expect(await (await fetch(`${origin}/live/channels`, { headers })).json()).toEqual([{ id: 7 }])
    const status = (path: string) => fetchStatus(`${origin}/live/${path}`, headers)
    expect(await status('streams/3/snapshot.jpg')).toBe(200)
    expect(await status('streams/4/snapshot.jpg')).toBe(404)
    expect(await status('recordings/4')).toBe(404)
    const fetchJson = async (path: string) =>
      (await fetch(`${origin}/live/${path}`, { headers })).json()
    expect(await fetchJson('recordings?stream=4')).toEqual({
      free_bytes: 1,
      streams: [{ stream: 3 }],
    })
    expect(await fetchJson('recordings/sources')).toEqual([{ id: 3 }])
    // Channel 9 is in stream 3 too, but not assigned to the viewer.
    for (const resource of ['metadata', 'events', 'clip.mp4']) {
      expect(await fetchJson(`recordings/3/${resource}?channels=9`)).toEqual([7])
    }
    const head = await fetch(`${origin}/live/recordings`, { method: 'HEAD', headers })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, null])
    expect(await status('output?channels=7')).toBe(200)
    expect(await status('output?channels=7,8')).toBe(404)
    expect(await status('output')).toBe(404)
    const other = await management.signIn('viewer')
    expect(
      await fetchStatus(`${origin}/live/streams/3/ws`, { authorization: `Bearer ${other.token}` }),
    ).toBe(404)
  })

  it.each([undefined, 'http://evil.example'])(
    'rejects the cookie in a request from a page of %s',
    async foreign => {
      const origin = await serve('0.0.0.0')
      const cookie = readCookie(await signIn(origin))
      const headers: Record<string, string> = foreign ? { cookie, origin: foreign } : { cookie }
      const reply = await fetch(`${origin}/session`, { method: 'DELETE', headers })
      expect(reply.status).toBe(403)
      expect(await fetchStatus(`${origin}/live/channels`, { cookie })).toBe(200)
    },
  )

  it('sends the cookies with the prefix __Host- over TLS', async () => {
    const app = new Hono()
    app.get('/', c => {
      setConsoleCookie(c, 'refresh token')
      setLocalCookie(c, 'token')
      return c.text(readConsoleCookie(c) ?? '')
    })
    const request = (url: string) =>
      app.request(url, { headers: { cookie: 'eyrie_session=planted' } })
    const secure = await request('https://eyrie.test/')
    expect(secure.headers.getSetCookie()[0]).toMatch(
      /^__Host-eyrie_session=.*; Path=\/; HttpOnly; Secure; /,
    )
    expect(secure.headers.getSetCookie()[1]).toMatch(
      /^__Host-eyrie_local=token; .*; HttpOnly; Secure; /,
    )
    expect(await secure.text()).toBe('')
    const plain = await request('http://eyrie.test/')
    expect(plain.headers.getSetCookie()[0]).toMatch(/^eyrie_session=/)
  })

  it('rejects a wrong password', async () => {
    const origin = await serve('0.0.0.0')
    const rejected = await signIn(origin, { ...owner, password: 'another one' })
    expect([rejected.status, rejected.headers.getSetCookie()]).toEqual([404, []])
  })
})
