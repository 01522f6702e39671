import {
  EyrieError,
  exportsBody,
  type LiveChannel,
  type RecordedSource,
  type RecordingList,
} from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { Context, MiddlewareHandler, Next } from 'hono'
import { assertRole, assertScope } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import type { IdentifyCaller } from '../auth/identify-caller.ts'
import type { Upstream } from './upstream-client.ts'
import { setAccessCheck } from './view-access.ts'
import { getVisibleChannels, setVisibleChannels } from './visible-channels.ts'

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
  log: Pick<Log, 'error'>
}

/**
 * Middleware that restricts live views and recordings to the channels that the caller may see. A
 * stream is the video of a source. One or more channels analyse the source, and a stream is visible
 * if one of its channels is. The recordings of a stream contain events and metadata of its
 * channels. Of these, only events and metadata of visible channels are returned.
 *
 * A superadmin, and a client that needs no sign-in, see all channels, including channels that
 * exist only on the engine.
 */
export function createLiveAccess({
  mayViewWithoutSignIn,
  identify,
  findChannels,
  engine,
  log,
}: LiveAccessOptions): MiddlewareHandler {
  /** Ignores invalid credentials, such as an expired session, where sign-in is not required. */
  const identifyUnlessOpen = (c: Context) =>
    identify(c).catch(error => {
      const isAuthError = error instanceof EyrieError && error.code === 'auth'
      if (isAuthError && mayViewWithoutSignIn(c)) return undefined
      throw error
    })

  /**
   * Returns the caller, or undefined for a client that needs no sign-in. Throws `EyrieError`
   * (`auth`, `rights`) if the client may not see live views.
   */
  async function identifyViewer(c: Context): Promise<Principal | undefined> {
    const caller = await identifyUnlessOpen(c)
    if (caller) assertCanView(caller)
    else if (!mayViewWithoutSignIn(c)) throw new EyrieError('auth', 'sign in to see live views')
    return caller
  }

  /**
   * Throws `EyrieError` if the client of an open view may see less than when it was opened. Asks
   * only the database: a view of the media service continues while the engine is unreachable.
   */
  async function checkAgain(c: Context): Promise<void> {
    const caller = await identifyViewer(c)
    if (!isRestricted(caller)) return
    const visibleChannels = await findChannels(caller)
    // Undefined if the client could see all channels when it opened the view.
    const openedChannels = getVisibleChannels(c)
    if (!openedChannels?.every(id => visibleChannels.has(id))) {
      throw new EyrieError('rights', 'you may see fewer channels now: open the view again')
    }
  }

  return async (c, next) => {
    const caller = await identifyViewer(c)
    setAccessCheck(c, () => checkAgain(c).catch(error => logInternalError(error, log)))
    if (!isRestricted(caller)) return next()

    // The first segments of the path are empty and `live`.
    const [resource = '', item = ''] = c.req.path.split('/').slice(2)
    const restrict = selectRestriction(resource, item)
    if (!restrict) return next()
    const visibleChannels = await findChannels(caller)
    const findStreams = () => findVisibleStreams(engine, visibleChannels)
    return restrict({ c, next, caller, resource, item, visibleChannels, findStreams })
  }
}

/** Returns whether the client may see only some channels. */
const isRestricted = (caller: Principal | undefined): caller is Principal =>
  caller !== undefined && caller.role !== 'superadmin'

/** Logs an error unless it is an answer to the client, and throws it again. */
function logInternalError(error: unknown, log: Pick<Log, 'error'>): never {
  if (!(error instanceof EyrieError)) {
    log.error({ err: error }, 'failed to check access to an open live view')
  }
  throw error
}

/** A request of a caller who may see only some channels. Its path is `/live/{resource}/{item}`. */
interface RestrictedRequest {
  c: Context
  next: Next
  caller: Principal
  resource: string
  /** Empty for a path without an item. */
  item: string
  visibleChannels: ReadonlySet<number>
  /** Resolves to the streams that show visible channels. */
  findStreams(): Promise<VisibleStreams>
}

/** Handles the request if the caller may make it, and removes what the caller may not see. */
type Restriction = (request: RestrictedRequest) => Promise<void>

/** Returns the restriction of `/live/{resource}/{item}`; undefined if there is none. */
function selectRestriction(resource: string, item: string): Restriction | undefined {
  switch (resource) {
    case 'statistics':
      return undefined
    case 'channels':
      return filterChannels
    case 'output':
      return requireVisibleChannels
    case 'recordings':
      if (item === '') return filterRecordings
      return item === 'sources' ? filterRecordedSources : requireStream
    default:
      return requireStream
  }
}

function filterChannels({ c, next, visibleChannels }: RestrictedRequest): Promise<void> {
  return filterResponse(c, next, (channels: LiveChannel[]) => filterById(channels, visibleChannels))
}

async function filterRecordings({ c, next, findStreams }: RestrictedRequest): Promise<void> {
  const visibleStreams = await findStreams()
  await filterResponse(c, next, (list: RecordingList) => ({
    ...list,
    streams: list.streams.filter(({ stream }) => visibleStreams.has(stream)),
  }))
}

async function filterRecordedSources({ c, next, findStreams }: RestrictedRequest): Promise<void> {
  // A stream has the same id as its source.
  const visibleStreams = await findStreams()
  await filterResponse(c, next, (sources: RecordedSource[]) => filterById(sources, visibleStreams))
}

/**
 * Throws `EyrieError` (`id`) unless the request names channels, and the caller may see all of them.
 */
async function requireVisibleChannels({
  c,
  next,
  visibleChannels,
}: RestrictedRequest): Promise<void> {
  const requested = (c.req.queries('channels') ?? []).flatMap(text => text.split(',')).map(Number)
  const areVisible = requested.every(id => visibleChannels.has(id))
  if (requested.length === 0 || !areVisible) {
    throw new EyrieError('id', 'channels: choose channels that you may see')
  }
  setVisibleChannels(c, requested)
  await next()
}

/**
 * Throws `EyrieError` unless the path names a stream that the caller may see: `rights` if it names
 * none, `id` if the stream does not exist or is invisible.
 */
async function requireStream(request: RestrictedRequest): Promise<void> {
  const { c, next, caller, resource, item, findStreams } = request
  if (item === '') throw createMissingStreamError(resource, caller)

  const visibleStreams = await findStreams()
  const streamChannels = visibleStreams.get(Number(item))
  if (!streamChannels) throw new EyrieError('id', `stream ${item} does not exist`)
  setVisibleChannels(c, streamChannels)
  await next()
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

/** Throws `EyrieError` (`rights`) if the role or the API token does not permit live views. */
function assertCanView(caller: Principal): void {
  assertRole('live views require', 'viewer', caller)
  if (caller.scopes) assertScope('live views require', 'read', caller.scopes)
}

/** Handles the request and filters the body of a successful response. */
async function filterResponse<Body extends object>(
  c: Context,
  next: Next,
  filter: (body: Body) => Body,
): Promise<void> {
  await next()
  if (!c.res.ok) return

  const text = await c.res.text()
  // Discards the headers of the original response, such as its length.
  c.res = undefined
  c.res = text === '' ? c.body(null) : c.json<object>(filter(JSON.parse(text)))
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
