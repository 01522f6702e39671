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

export interface LiveAccessOptions {
  /** Returns whether a request may see all live views without sign-in. */
  isOpen(context: Context): boolean
  identify: IdentifyCaller
  /** Returns the ids that the appliance's own engine has assigned to the channels that a user may see. */
  findChannels(caller: Principal): Promise<ReadonlySet<number>>
  engine: Upstream
}

/**
 * Middleware that restricts live views and recordings to the channels that the caller may see. A superadmin sees
 * all channels, including channels that exist only on the engine.
 */
export function createLiveAccess({
  isOpen,
  identify,
  findChannels,
  engine,
}: LiveAccessOptions): MiddlewareHandler {
  return async (c, next) => {
    if (isOpen(c)) return next()
    const caller = await identify(c)
    if (!caller) throw new EyrieError('auth', 'sign in to see live views')
    assertCanView(caller)
    if (caller.role === 'superadmin') return next()

    // The path is /live/{resource}/{item}.
    const [resource, item] = c.req.path.split('/').slice(2)
    if (resource === 'statistics') return next()

    const visibleChannels = await findChannels(caller)
    if (resource === 'channels')
      return filterResponse(c, next, (channels: LiveChannel[]) => filterById(channels, visibleChannels))
    if (resource === 'output') {
      assertVisibleChannels(c, visibleChannels)
      return next()
    }

    // All other paths name a stream, or list the recordings of streams.
    const visibleStreams = await findVisibleStreams(engine, visibleChannels)
    if (resource === 'recordings' && !item)
      return filterResponse(c, next, (list: RecordingList) => filterRecordings(list, visibleStreams))
    if (resource === 'recordings' && item === 'sources')
      return filterResponse(c, next, (sources: RecordedSource[]) => filterById(sources, visibleStreams))
    if (!item)
      throw new EyrieError(
        'rights',
        `/live/${resource} without a stream requires the role superadmin, and your role is ${caller.role}: add a stream that you may see, such as /live/${resource}/1`,
      )
    if (!visibleStreams.has(Number(item))) throw new EyrieError('id', `stream ${item} does not exist`)
    return next()
  }
}

const filterById = <Item extends { id: number }>(items: Item[], visibleIds: ReadonlySet<number>) =>
  items.filter(({ id }) => visibleIds.has(id))

const filterRecordings = (list: RecordingList, visibleStreams: ReadonlySet<number>): RecordingList => ({
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

/** Throws `EyrieError` (`id`) unless the request names channels, and the caller may see all of them. */
function assertVisibleChannels(c: Context, visibleChannels: ReadonlySet<number>): void {
  const requested = (c.req.queries('channels') ?? []).flatMap(text => text.split(','))
  const areVisible = requested.every(id => visibleChannels.has(Number(id)))
  if (requested.length === 0 || !areVisible)
    throw new EyrieError('id', 'channels: choose channels that you may see')
}

/** Returns the ids of the streams that show these channels. */
export async function findVisibleStreams(
  engine: Upstream,
  channelIds: ReadonlySet<number>,
): Promise<ReadonlySet<number>> {
  const { channels = [] } = await engine.get('/api/v3/exports?filter=channels', exportsBody)
  const streams = new Set<number>()
  for (const { id, stream } of channels) if (channelIds.has(id) && stream) streams.add(stream.id)
  return streams
}
