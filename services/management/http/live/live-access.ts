import {
  EyrieError,
  exportsBody,
  type LiveChannel,
  type RecordedSource,
  type RecordingList,
} from '@eyrie/contract'
import type { Context, MiddlewareHandler } from 'hono'
import { includesRole } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import type { IdentifyCaller } from '../auth/identify-caller.ts'
import type { Upstream } from './upstream-client.ts'

export interface LiveAccessOptions {
  /** Whether this request may see all live views without sign-in. */
  isOpen(context: Context): boolean
  identify: IdentifyCaller
  /** Returns the ids, on the appliance's own engine, of the channels that a user may see. */
  findChannels(caller: Principal): Promise<ReadonlySet<number>>
  engine: Upstream
}

/** Restricts live views to the channels that the caller may see. A superadmin sees all, including unmanaged ones. */
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

    const [resource, item] = c.req.path.split('/').slice(2)
    if (resource === 'statistics') return next()
    const channels = await findChannels(caller)
    if (resource === 'channels')
      return filterAnswer(c, next, (all: LiveChannel[]) => all.filter(({ id }) => channels.has(id)))
    if (resource === 'output') return assertChannels(c, channels, next)

    const streams = await findStreams(engine, channels)
    if (resource === 'recordings' && !item)
      return filterAnswer(c, next, (all: RecordingList) => ({
        ...all,
        streams: all.streams.filter(({ stream }) => streams.has(stream)),
      }))
    if (resource === 'recordings' && item === 'sources')
      return filterAnswer(c, next, (all: RecordedSource[]) => all.filter(({ id }) => streams.has(id)))
    if (!item) throw new EyrieError('rights', 'choose a stream that you may see')
    if (!streams.has(Number(item))) throw new EyrieError('id', `there is no stream ${item}`)
    return next()
  }
}

function assertCanView({ role, scopes }: Principal) {
  if (!includesRole(role, 'viewer'))
    throw new EyrieError('rights', 'you have no role yet: ask an administrator to assign one')
  if (scopes && !scopes.includes('read'))
    throw new EyrieError('rights', 'live views require the scope read, which this API token lacks')
}

/** Replaces a successful answer with what `filter` returns for it. */
async function filterAnswer<Answer extends object>(
  c: Context,
  next: () => Promise<void>,
  filter: (answer: Answer) => Answer,
) {
  await next()
  if (!c.res.ok) return
  const text = await c.res.text()
  // Drop the headers of the original answer, such as its length.
  c.res = undefined
  c.res = text === '' ? c.body(null) : c.json<object>(filter(JSON.parse(text)))
}

function assertChannels(c: Context, channels: ReadonlySet<number>, next: () => Promise<void>) {
  const requested = (c.req.queries('channels') ?? []).flatMap(text => text.split(','))
  if (requested.length === 0 || !requested.every(id => channels.has(Number(id))))
    throw new EyrieError('id', 'channels: choose channels that you may see')
  return next()
}

/** Returns the streams that show these channels. */
export async function findStreams(
  engine: Upstream,
  channelIds: ReadonlySet<number>,
): Promise<ReadonlySet<number>> {
  const { channels = [] } = await engine.get('/api/v3/exports?filter=channels', exportsBody)
  const streams = new Set<number>()
  for (const { id, stream } of channels) if (channelIds.has(id) && stream) streams.add(stream.id)
  return streams
}
