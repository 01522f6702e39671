import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { mediaHealth } from '@eyrie/contract'
import { managementRoutes } from '@eyrie/contract/management/index'
import { createErrorHandler, createLog, listen } from '@eyrie/kit'
import { signTicket } from '@eyrie/kit/stream-ticket'
import { and, eq } from 'drizzle-orm'
import { Hono } from 'hono'
import { v7 } from 'uuid'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { createOffer, videoSection } from '../../../../test/fixtures/browser/whep-offer.ts'
import type { SignedInUser } from '../../../../test/fixtures/management/management.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'
import { createDesiredSource } from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../../test/fixtures/media/test-video.ts'
import { localEngineEgress } from '../../../../test/fixtures/network/local-egress.ts'
import { needs } from '../../../../test/fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../../../../test/fixtures/requirements/webrtc-worker.ts'
import { engine, source, userSite } from '../../db/schema/index.ts'
import { createTicketViewRoutes } from './ticket-view-routes.ts'
import { createViewTicket } from './view-tickets.ts'

const INTERNAL = 'internal'
const STREAM = 1

const management = sharedManagement()
const records = sharedRecords(management)

const signEngineTicket = () =>
  signTicket(INTERNAL, { stream: String(STREAM), expires: Date.now() + 60_000 })

/** Starts a server that acts as the engine of the channel: it issues tickets of its media. */
async function startEngine(mediaUrl: string): Promise<void> {
  const { hostname, port } = new URL(mediaUrl)
  const server = createServer((_, response) => {
    const stream = { id: STREAM, hostname, port: Number(port) }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ticket: signEngineTicket(), expires_in: 60, stream }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port: enginePort } = server.address() as AddressInfo
  await management.database.system('test', async tx => {
    await tx
      .update(engine)
      .set({ engine_port: enginePort, engine_timeout: '5s' })
      .where(eq(engine.engine_id, records.engine_id))
    await tx
      .update(source)
      .set({ source_sid: STREAM })
      .where(eq(source.source_id, records.source_id))
  })
}

/** Serves the live views of a channel, whose media service plays a video. */
async function serveChannel() {
  const media = await serveMedia({ token: INTERNAL })
  const path = join(media.folder, 'clip.mp4')
  makeVideo(path, { frames: 60 })
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: STREAM, type: 'inf', url: path }))
  await control.waitForStatus(STREAM, ({ state }) => state === 'running')
  await startEngine(media.url)

  const { database, users, findView } = management
  const routes = createTicketViewRoutes({
    findView,
    database: () => database,
    users: () => users,
    egress: localEngineEgress,
  })
  const app = new Hono().route('/media', routes)
  app.onError(createErrorHandler(createLog('management', 'silent')))
  const { port, close } = await listen({ app, health: () => ({ ok: true }) }, '127.0.0.1', 0)
  onTestFinished(close)
  const origin = `http://127.0.0.1:${port}`
  return {
    send: (method: string, address: string, body?: string) =>
      fetch(new URL(address, origin), {
        method,
        body,
        headers: { 'content-type': 'application/sdp' },
      }),
    /** Opens the stream over HTTP, and reads its beginning. Returns how to read on. */
    async play(address: string) {
      const { body } = await fetch(new URL(address, origin))
      const reader = body!.getReader()
      onTestFinished(() => reader.cancel().catch(() => {}))
      await reader.read()
      return reader
    },
    /** Opens the stream over a WebSocket, and waits for its first message. */
    async watch(address: string) {
      const socket = new WebSocket(new URL(address, origin.replace('http', 'ws')))
      onTestFinished(() => socket.terminate())
      const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)])
      await once(socket, 'message')
      return { socket, closed }
    },
    async countViewers() {
      return mediaHealth.parse(await (await fetch(`${media.url}/health`)).json()).webrtc.viewers
    },
  }
}

/** Requests a ticket, and returns the addresses of the views without the origin. */
async function requestTicket(viewer: SignedInUser) {
  const { channel_id } = records
  const { response } = await management.call(managementRoutes.media.ticket, { channel_id }, viewer)
  const toPath = (address: string) => {
    const { pathname, search } = new URL(address)
    return pathname + search
  }
  return { fmp4: toPath(response.fmp4), ws: toPath(response.ws), whep: toPath(response.whep) }
}

const signInViewer = () => management.signIn('viewer', { sites: [records.site_id] })

const deactivate = ({ user_id }: SignedInUser) =>
  management.call(managementRoutes.user.setStatus, {
    user_id,
    is_active: false,
    is_verified: true,
  })

const remove = ({ user_id }: SignedInUser) =>
  management.call(managementRoutes.user.delete, { user_id })

async function revokeSessions(viewer: SignedInUser) {
  const { response } = await management.call(managementRoutes.user.listSessions, undefined, viewer)
  for (const { session_id } of response) {
    await management.call(managementRoutes.user.revokeSession, { session_id }, viewer)
  }
}

const unassignSite = ({ user_id: userId }: SignedInUser) =>
  management.database.system('test', tx =>
    tx
      .delete(userSite)
      .where(and(eq(userSite.user_id, userId), eq(userSite.site_id, records.site_id))),
  )

describe('a live view with a ticket', () => {
  it('ends when its user is deactivated, deleted, signed out or loses the channel', async () => {
    const { play, watch } = await serveChannel()
    const causes = [
      { end: deactivate, reason: /session .* has ended/ },
      { end: remove, reason: /session .* has ended/ },
      { end: revokeSessions, reason: /session .* has ended/ },
      { end: unassignSite, reason: /channel .* does not exist/ },
    ]
    const openViews = async () => {
      const viewer = await signInViewer()
      const { fmp4, ws } = await requestTicket(viewer)
      return { viewer, reader: await play(fmp4), view: await watch(ws) }
    }
    const views = await Promise.all(causes.map(openViews))
    const other = await openViews()
    await Promise.all(causes.map(({ end }, index) => end(views[index]!.viewer)))

    for (const [index, { reason }] of causes.entries()) {
      const { reader, view } = views[index]!
      expect(await view.closed).toEqual([1008, expect.stringMatching(reason)])
      const readAll = async () => {
        while (!(await reader.read()).done);
      }
      await expect(readAll()).rejects.toThrow('terminated')
    }
    expect(other.view.socket.readyState).toBe(WebSocket.OPEN)
    expect((await other.reader.read()).done).toBe(false)
  })

  it('ends when its API token is deleted', async () => {
    const { watch } = await serveChannel()
    const { token: routes } = managementRoutes
    const created = await management.call(routes.create, { name: 'wall', scopes: ['write'] })
    const { token, token_id } = created.response
    const { ws } = await requestTicket({ ...management.superadmin, token })
    const { closed } = await watch(ws)
    await management.call(routes.delete, { token_id })
    expect(await closed).toEqual([1008, expect.stringContaining('API token')])
  })

  it('cannot be opened after the session of its user has ended', async () => {
    const { send } = await serveChannel()
    const viewer = await signInViewer()
    const { fmp4 } = await requestTicket(viewer)
    await revokeSessions(viewer)
    expect((await send('GET', fmp4)).status).toBe(401)
  })
})

describe('WHEP through the management service', needs(webrtcWorkerRequirement), () => {
  const offer = createOffer(videoSection)

  it('forwards an offer to the media of the channel, and ends the session at its Location', async () => {
    const { send, countViewers } = await serveChannel()
    const { whep } = await requestTicket(await signInViewer())
    const response = await send('POST', whep, offer)
    expect([response.status, response.headers.get('content-type')]).toEqual([
      201,
      'application/sdp',
    ])
    expect(await response.text()).toMatch(
      /m=video 9 UDP\/TLS\/RTP\/SAVPF 109\r\n(.*\r\n)+a=candidate:/,
    )
    expect(response.headers.get('etag')).toBeTruthy()
    const location = response.headers.get('location')!
    expect(location).toMatch(
      new RegExp(`^/media/${records.channel_id}/whep/[0-9a-f-]{36}\\?ticket=[^?&]+$`),
    )
    expect(await countViewers()).toBe(1)

    const elsewhere = location.replace(/whep\/.*\?/, `whep/${v7()}?`)
    expect((await send('DELETE', elsewhere)).status).toBe(404)
    expect((await send('DELETE', location.replace(/\?.*/, ''))).status).toBe(401)
    expect(await countViewers()).toBe(1)
    expect((await send('DELETE', location)).status).toBe(200)
    expect(await countViewers()).toBe(0)
    expect((await send('DELETE', location)).status).toBe(404)
  })

  it('ends the session at the media service when the session of its user ends', async () => {
    const { send, countViewers } = await serveChannel()
    // Sessions end after some time without packets from their viewers, the oldest first.
    const { whep: otherWhep } = await requestTicket(await signInViewer())
    await send('POST', otherWhep, offer)
    const viewer = await signInViewer()
    const { whep } = await requestTicket(viewer)
    await send('POST', whep, offer)
    expect(await countViewers()).toBe(2)
    await revokeSessions(viewer)
    await expect.poll(countViewers).toBe(1)
  })

  it('ends a session whose ticket has expired at its Location', async () => {
    const { send, countViewers } = await serveChannel()
    const { whep } = await requestTicket(management.superadmin)
    const { headers } = await send('POST', whep, offer)
    const expired = await createTicket({ expires: 1 })
    const location = headers.get('location')!.replace(/\?.*/, `?ticket=${expired}`)
    expect((await send('DELETE', location)).status).toBe(200)
    expect(await countViewers()).toBe(0)
  })

  const createTicket = async ({ channel_id = records.channel_id, expires = Date.now() + 60_000 }) =>
    createViewTicket(
      management.users.secrets,
      await management.users.accessTokens.verify(management.superadmin.token),
      { channel_id, expires },
    )

  it.each([
    { given: 'without a ticket', status: 401, ticket: () => '' },
    {
      given: 'with the ticket of another channel',
      status: 401,
      ticket: () => createTicket({ channel_id: v7() }),
    },
    {
      given: 'with an expired ticket',
      status: 401,
      ticket: () => createTicket({ expires: 1 }),
    },
    { given: 'with a ticket of the engine', status: 401, ticket: signEngineTicket },
    { given: 'for an unknown channel', status: 404, id: 'door' },
    { given: 'without SDP', status: 400, body: 'hello' },
    { given: 'without end', status: 413, body: offer + 'a=x\r\n'.repeat(20_000) },
  ])(
    'rejects an offer $given with $status',
    async ({ status, id, ticket = () => createTicket({}), body = offer }) => {
      const { send, countViewers } = await serveChannel()
      const address = `/media/${id ?? records.channel_id}/whep?ticket=${await ticket()}`
      const response = await send('POST', address, body)
      expect([response.status, await response.json()]).toEqual([
        status,
        { code: expect.any(String), reason: expect.stringMatching(/.{10}/) },
      ])
      expect(await countViewers()).toBe(0)
    },
  )
})
