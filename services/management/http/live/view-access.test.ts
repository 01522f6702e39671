import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { mediaHealth } from '@eyrie/contract'
import { managementRoutes } from '@eyrie/contract/management/index'
import { createErrorHandler, createLog, listen } from '@eyrie/kit'
import { and, eq } from 'drizzle-orm'
import { Hono } from 'hono'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createOffer, videoSection } from '../../../../test/fixtures/browser/whep-offer.ts'
import type { SignedInUser } from '../../../../test/fixtures/management/management.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'
import { createDesiredSource } from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../../test/fixtures/media/test-video.ts'
import { localProviderEgress } from '../../../../test/fixtures/network/local-egress.ts'
import { needs } from '../../../../test/fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../../../../test/fixtures/requirements/webrtc-worker.ts'
import type { Database } from '../../db/database.ts'
import { DatabaseUnavailableError } from '../../db/database-errors.ts'
import { channel, role, setting, user, userSite } from '../../db/schema/index.ts'
import { findLocalChannels } from '../../fleet/registry/local-engine.ts'
import { loadSecrets } from '../../secrets/secrets.ts'
import { createUsers, type Users } from '../../users/users.ts'
import { createIdentifyCaller } from '../auth/identify-caller.ts'
import { createLiveAccess } from './live-access.ts'
import { createLiveRoutes } from './live-routes.ts'
import { createUpstream, type Upstream } from './upstream-client.ts'

const CHANNEL = 7
const STREAM = 1
const OUTPUT = `/live/output?channels=${CHANNEL}`
const VIDEO = `/live/streams/${STREAM}/ws`

const management = sharedManagement()
const records = sharedRecords(management)
let users: Users
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
      .set({ channel_sid: CHANNEL })
      .where(eq(channel.channel_id, records.channel_id))
    await tx
      .insert(setting)
      .values({ name: 'local_engine', value: { engine_id: records.engine_id } })
  })
}, 180_000)

/**
 * Starts a server that acts as an engine with one channel and as the media service of its stream.
 * Its WebSockets send a message at once and stay open.
 */
async function startServices(): Promise<Upstream> {
  const stream = { id: STREAM, hostname: '127.0.0.1', port: 1 }
  const channels = [{ id: CHANNEL, source: STREAM, pipeline: 1, stream }]
  const server = createServer((_, response) => response.end(JSON.stringify({ channels })))
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', socket => socket.send('{}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return createUpstream({ name: 'engine', url, token: undefined })
}

interface LiveViewsOptions {
  media?: Upstream
  database?: () => Database
  /** Whether this client needs no sign-in at the moment. */
  isLocal?: () => boolean
}

/** Serves live views with their access check, and returns their origin. */
async function serveLiveViews({
  media,
  database = () => management.database,
  isLocal = () => false,
}: LiveViewsOptions = {}): Promise<string> {
  const services = await startServices()
  const log = createLog('management', 'silent')
  const access = createLiveAccess({
    mayViewWithoutSignIn: isLocal,
    identify: createIdentifyCaller(() => users, database),
    findChannels: caller => findLocalChannels(database(), caller),
    engine: services,
    log,
  })
  const app = new Hono().use('/live/*', access)
  app.route('/live', createLiveRoutes({ engine: services, media: media ?? services }))
  app.onError(createErrorHandler(log))
  const server = await listen({ app, health: () => ({ ok: true }) }, '127.0.0.1', 0)
  onTestFinished(() => server.close())
  return `http://127.0.0.1:${server.port}`
}

const toHeaders = (viewer: Pick<SignedInUser, 'token'> | undefined): Record<string, string> =>
  viewer ? { authorization: `Bearer ${viewer.token}` } : {}

/** Opens a view and waits for its first message. */
async function openView(origin: string, path: string, viewer?: Pick<SignedInUser, 'token'>) {
  const socket = new WebSocket(origin.replace('http', 'ws') + path, { headers: toHeaders(viewer) })
  onTestFinished(() => socket.terminate())
  const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)])
  await once(socket, 'message')
  return { socket, closed }
}

const signInViewer = () => management.signIn('viewer', { sites: [records.site_id] })

const unassignSite = ({ user_id: userId }: SignedInUser) =>
  management.database.system('test', tx =>
    tx
      .delete(userSite)
      .where(and(eq(userSite.user_id, userId), eq(userSite.site_id, records.site_id))),
  )

const deactivate = ({ user_id }: SignedInUser) =>
  management.call(managementRoutes.user.setStatus, {
    user_id,
    is_active: false,
    is_verified: true,
  })

async function revokeSessions(viewer: SignedInUser) {
  const { response } = await management.call(managementRoutes.user.listSessions, undefined, viewer)
  for (const { session_id } of response) {
    await management.call(managementRoutes.user.revokeSession, { session_id }, viewer)
  }
}

const makeViewer = ({ user_id: userId }: SignedInUser) =>
  management.database.system('test', async tx => {
    const [viewer] = await tx.select().from(role).where(eq(role.role_key, 'viewer'))
    await tx.update(user).set({ role_id: viewer!.role_id }).where(eq(user.user_id, userId))
  })

describe('an open live view', () => {
  it('is closed when its user is deactivated, signed out or loses the channel', async () => {
    const origin = await serveLiveViews()
    const causes = [
      { viewer: await signInViewer(), end: deactivate, reason: /session has ended/ },
      { viewer: await signInViewer(), end: revokeSessions, reason: /session has ended/ },
      { viewer: await signInViewer(), end: unassignSite, reason: /may see fewer channels/ },
      {
        viewer: await management.signIn('superadmin'),
        end: makeViewer,
        reason: /may see fewer channels/,
      },
    ]
    const openViews = (viewer: SignedInUser) =>
      Promise.all([openView(origin, OUTPUT, viewer), openView(origin, VIDEO, viewer)])
    const views = await Promise.all(causes.map(({ viewer }) => openViews(viewer)))
    const others = await openViews(await signInViewer())
    await Promise.all(causes.map(({ viewer, end }) => end(viewer)))

    for (const [index, { reason }] of causes.entries()) {
      for (const { closed } of views[index]!) {
        expect(await closed).toEqual([1008, expect.stringMatching(reason)])
      }
    }
    expect(others.map(({ socket }) => socket.readyState)).toEqual([WebSocket.OPEN, WebSocket.OPEN])
  })

  it('is closed when its API token is deleted', async () => {
    const origin = await serveLiveViews()
    const { token: routes } = managementRoutes
    const created = await management.call(routes.create, { name: 'screen', scopes: ['read'] })
    const { token, token_id } = created.response
    const { closed } = await openView(origin, VIDEO, { token })
    await management.call(routes.delete, { token_id })
    expect(await closed).toEqual([1008, expect.stringContaining('API token')])
  })

  it('is closed when a browser without an account signs out', async () => {
    const local = { isSignedIn: true }
    const origin = await serveLiveViews({ isLocal: () => local.isSignedIn })
    const { closed } = await openView(origin, VIDEO)
    local.isSignedIn = false
    expect(await closed).toEqual([1008, 'sign in to see live views'])
  })

  it('stays open while the database is unreachable', async () => {
    let failedChecks = 0
    const connection = { isUp: true }
    const origin = await serveLiveViews({
      database() {
        if (connection.isUp) return management.database
        failedChecks += 1
        throw new DatabaseUnavailableError('the database is unreachable', new Error('refused'))
      },
    })
    const viewer = await signInViewer()
    const { closed, socket } = await openView(origin, VIDEO, viewer)
    connection.isUp = false
    await vi.waitUntil(() => failedChecks > 1)
    expect(socket.readyState).toBe(WebSocket.OPEN)

    connection.isUp = true
    await deactivate(viewer)
    expect(await closed).toEqual([1008, expect.stringMatching(/session has ended/)])
  })
})

/** Starts a server that acts as a media service with a recording that never ends. */
async function startEndlessRecording(): Promise<Upstream> {
  const server = createServer((_, response) => {
    const timer = setInterval(() => response.write('video'), 50)
    response.on('close', () => clearInterval(timer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return createUpstream({ name: 'media', url, token: undefined })
}

describe('a download of a recording', () => {
  it('fails when the session of its user ends', async () => {
    const origin = await serveLiveViews({ media: await startEndlessRecording() })
    const download = async (viewer: SignedInUser) => {
      const headers = toHeaders(viewer)
      const { body } = await fetch(`${origin}/live/recordings/${STREAM}`, { headers })
      const reader = body!.getReader()
      onTestFinished(() => reader.cancel().catch(() => {}))
      await reader.read()
      return reader
    }
    const other = await download(await signInViewer())
    const viewer = await signInViewer()
    const reader = await download(viewer)
    await revokeSessions(viewer)
    const readAll = async () => {
      while (!(await reader.read()).done);
    }
    await expect(readAll()).rejects.toThrow('terminated')
    expect((await other.read()).done).toBe(false)
  })
})

describe('a WebRTC view', needs(webrtcWorkerRequirement), () => {
  const WHEP = `/streams/${STREAM}/whep`
  const offer = createOffer(videoSection)

  /** Starts media with a stream, and serves live views of it. */
  async function serveStream() {
    const media = await serveMedia()
    const file = join(media.folder, 'clip.mp4')
    makeVideo(file, { frames: 60 })
    const control = await media.connectControl()
    await control.apply(createDesiredSource({ id: STREAM, type: 'inf', url: file }))
    await control.waitForStatus(STREAM, ({ state }) => state === 'running')
    const origin = await serveLiveViews({
      media: createUpstream({ name: 'media', url: media.url, token: undefined }),
    })

    /** Opens a session, and returns its path at the media service and its entity tag. */
    async function open(url: string, viewer?: SignedInUser) {
      const { headers } = await fetch(url, {
        method: 'POST',
        headers: { ...toHeaders(viewer), 'content-type': 'application/sdp' },
        body: offer,
      })
      return { path: headers.get('location')!.replace('/live', ''), etag: headers.get('etag')! }
    }
    return {
      openAtMedia: (leaseS: number) => open(`${media.url}${WHEP}?lease_s=${leaseS}`),
      open: (viewer: SignedInUser) => open(`${origin}/live${WHEP}`, viewer),
      /** Asks whether a session exists, as the console does. */
      async patch({ path, etag }: Awaited<ReturnType<typeof open>>, viewer: SignedInUser) {
        const headers = {
          ...toHeaders(viewer),
          'content-type': 'application/trickle-ice-sdpfrag',
          'if-match': etag,
        }
        const body = /^a=ice-ufrag:.*$/m.exec(offer)![0]
        const request = { method: 'PATCH', headers, body }
        return (await fetch(`${origin}/live${path}`, request)).status
      },
      /** Returns the number of sessions at the media service. */
      async countViewers() {
        return mediaHealth.parse(await (await fetch(`${media.url}/health`)).json()).webrtc.viewers
      },
    }
  }

  it('ends at the media service when the session of its user ends', async () => {
    const { open, countViewers } = await serveStream()
    // Sessions end after some time without packets from their viewers, the oldest first.
    await open(await signInViewer())
    const viewer = await signInViewer()
    await open(viewer)
    expect(await countViewers()).toBe(2)
    await revokeSessions(viewer)
    await expect.poll(countViewers).toBe(1)
  })

  it('from before a restart of management ends unless its viewer is recognized again', async () => {
    const { openAtMedia, patch, countViewers } = await serveStream()
    // Management did not open these sessions, and does not know them.
    const LEASE_S = 8
    await openAtMedia(LEASE_S)
    const session = await openAtMedia(LEASE_S)
    const viewer = await signInViewer()
    expect(await patch(session, viewer)).toBe(204)
    await expect.poll(countViewers).toBe(1)
    expect(await patch(session, viewer)).toBe(204)

    await revokeSessions(viewer)
    await expect.poll(countViewers).toBe(0)
  })
})
