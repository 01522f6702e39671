import {
  EyrieError,
  exportsBody,
  type LiveChannel,
  type RecordedSource,
  type RecordingList,
} from '@eyrie/contract'
import type { Context, MiddlewareHandler } from 'hono'
import { assertRole, assertScope } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import type { IdentifyCaller } from '../auth/identify-caller.ts'
import type { Upstream } from './upstream-client.ts'
import { setVisibleChannels } from './visible-channels.ts'

export interface LiveAccessOptions {
  /** Returns whether a request may see all live views without sign-in. */
  mayViewWithoutSignIn(context: Context): boolean
  identify: IdentifyCaller
  /**
   * Returns the ids that the appliance's own engine has assigned to the channels
   * that a user may see.
   */
  findChannels(caller: Principal): Promise<ReadonlySet<number>>
  engine: Upstream
}

/**
 * Middleware that restricts live views and recordings to the channels that the caller may see. A
 * stream is the video of a source, which one or more channels analyse. It is visible if one of its
 * channels is. Events and metadata in its recordings are restricted to the visible channels.
 *
 * A superadmin, and a client that needs no sign-in, see all channels, including channels that
 * exist only on the engine.
 */
export function createLiveAccess({
  mayViewWithoutSignIn,
  identify,
  findChannels,
  engine,
}: LiveAccessOptions): MiddlewareHandler {
  /** Ignores invalid credentials, such as an expired session, where sign-in is not required. */
  const identifyUnlessOpen = (c: Context) =>
    identify(c).catch(error => {
      const isAuthError = error instanceof EyrieError && error.code === 'auth'
      if (isAuthError && mayViewWithoutSignIn(c)) return undefined
      throw error
    })

  return async (c, next) => {
    const caller = await identifyUnlessOpen(c)
    if (!caller && mayViewWithoutSignIn(c)) return next()
    if (!caller) throw new EyrieError('auth', 'sign in to see live views')
    assertCanView(caller)
    if (caller.role === 'superadmin') return next()

    // The path is `/live/{resource}/{item}`. `item` is a stream, or `sources` below `recordings`.
    const [resource = '', item = ''] = c.req.path.split('/').slice(2)
    if (resource === 'statistics') return next()
    const visibleChannels = await findChannels(caller)
    if (resource === 'channels') {
      const filter = (channels: LiveChannel[]) => filterById(channels, visibleChannels)
      return filterResponse(c, next, filter)
    }
    if (resource === 'output') {
      assertVisibleChannels(c, visibleChannels)
      return next()
    }

    // All other paths name a stream, or list the recordings of streams.
    const visibleStreams = await findVisibleStreams(engine, visibleChannels)
    if (resource === 'recordings' && item === '') {
      const filter = (list: RecordingList) => filterRecordings(list, visibleStreams)
      return filterResponse(c, next, filter)
    }
    if (resource === 'recordings' && item === 'sources') {
      const filter = (sources: RecordedSource[]) => filterById(sources, visibleStreams)
      return filterResponse(c, next, filter)
    }
    if (item === '') throw createMissingStreamError(resource, caller)

    const streamChannels = visibleStreams.get(Number(item))
    if (!streamChannels) throw new EyrieError('id', `stream ${item} does not exist`)
    setVisibleChannels(c, streamChannels)
    return next()
  }
}

const createMissingStreamError = (resource: string, { role }: Principal) =>
  new EyrieError(
    'rights',
    `/live/${resource} without a stream requires the role superadmin, and your role is ${role}: ` +
      `add a stream that you may see, such as /live/${resource}/1`,
  )

/** Channels that the caller may see, by the id of the stream that shows them. */
type VisibleStreams = ReadonlyMap<number, readonly number[]>

const filterById = <Item extends { id: number }>(
  items: Item[],
  visibleIds: Pick<ReadonlySet<number>, 'has'>,
) => items.filter(({ id }) => visibleIds.has(id))

const filterRecordings = (list: RecordingList, visibleStreams: VisibleStreams): RecordingList => ({
  ...list,
  streams: list.streams.filter(({ stream }) => visibleStreams.has(stream)),
})

/** Throws `EyrieError` (`rights`) if the role or the API token does not permit live views. */
function assertCanView(caller: Principal) {
  assertRole('live views require', 'viewer', caller)
  if (caller.scopes) assertScope('live views require', 'read', caller.scopes)
}

/** Handles the request and filters the body of a successful response. */
async function filterResponse<Body extends object>(
  c: Context,
  next: () => Promise<void>,
  filter: (body: Body) => Body,
) {
  await next()
  if (!c.res.ok) return

  const text = await c.res.text()
  // Discards the headers of the original response, such as its length.
  c.res = undefined
  c.res = text === '' ? c.body(null) : c.json<object>(filter(JSON.parse(text)))
}

/**
 * Throws `EyrieError` (`id`) unless the request names channels, and the caller may see all of them.
 */
function assertVisibleChannels(c: Context, visibleChannels: ReadonlySet<number>): void {
  const requested = (c.req.queries('channels') ?? []).flatMap(text => text.split(','))
  const areVisible = requested.every(id => visibleChannels.has(Number(id)))
  if (requested.length === 0 || !areVisible) {
    throw new EyrieError('id', 'channels: choose channels that you may see')
  }
}

/** Returns the streams that show these channels. */
export async function findVisibleStreams(
  engine: Upstream,
  channelIds: ReadonlySet<number>,
): Promise<VisibleStreams> {
  const { channels = [] } = await engine.get('/api/v3/exports?filter=channels', exportsBody)
  const streams = new Map<number, number[]>()
  for (const { id, stream } of channels) {
    if (!stream || !channelIds.has(id)) continue
    streams.set(stream.id, [...(streams.get(stream.id) ?? []), id])
  }
  return streams
}
