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
  /** Whether everything is shown to this request without signing in. */
  isOpen(context: Context): boolean
  identify: IdentifyCaller
  /** Ids on this box's engine of the channels that a user sees. */
  channelsOf(caller: Principal): Promise<ReadonlySet<number>>
  engine: Upstream
}

/** Lets to the live views who may see the channel; a superadmin sees all, also what nobody manages. */
export function liveAccess({ isOpen, identify, channelsOf, engine }: LiveAccessOptions): MiddlewareHandler {
  return async (c, next) => {
    if (isOpen(c)) return next()
    const caller = await identify(c)
    if (!caller) throw new EyrieError('auth', 'sign in to see live views')
    requireReader(caller)
    if (caller.role === 'superadmin') return next()
    const place = c.req.path.split('/').slice(2)
    const channels = await channelsOf(caller)
    if (place[0] === 'channels')
      return showing(c, next, (all: LiveChannel[]) => all.filter(({ id }) => channels.has(id)))
    if (place[0] === 'output') return requireChannels(c, channels, next)
    if (place[0] === 'statistics') return next()
    const streams = await streamsOf(engine, channels)
    if (place[0] === 'recordings' && !place[1])
      return showing(c, next, (all: RecordingList) => ({
        ...all,
        streams: all.streams.filter(({ stream }) => streams.has(stream)),
      }))
    if (place[0] === 'recordings' && place[1] === 'sources')
      return showing(c, next, (all: RecordedSource[]) => all.filter(({ id }) => streams.has(id)))
    if (!place[1]) throw new EyrieError('rights', 'name a stream that you may see')
    if (!streams.has(Number(place[1]))) throw new EyrieError('id', `there is no stream ${place[1]}`)
    return next()
  }
}

function requireReader({ role, scopes }: Principal) {
  if (!includesRole(role, 'viewer'))
    throw new EyrieError('rights', 'an administrator has to give you a role first')
  if (scopes && !scopes.includes('read'))
    throw new EyrieError('rights', 'this API token does not reach live views: they take the scope read')
}

/** Answers what `shown` leaves of the whole answer. */
async function showing<Answer extends object>(
  c: Context,
  next: () => Promise<void>,
  shown: (whole: Answer) => Answer,
) {
  await next()
  if (!c.res.ok) return
  const text = await c.res.text()
  // Headers of the whole, such as its length, are none of the part's.
  c.res = undefined
  c.res = text === '' ? c.body(null) : c.json<object>(shown(JSON.parse(text)))
}

function requireChannels(c: Context, channels: ReadonlySet<number>, next: () => Promise<void>) {
  const wanted = (c.req.queries('channels') ?? []).flatMap(text => text.split(','))
  if (wanted.length === 0 || !wanted.every(id => channels.has(Number(id))))
    throw new EyrieError('id', 'channels: name those that you may see')
  return next()
}

/** Streams in which these channels are seen. */
export async function streamsOf(engine: Upstream, seen: ReadonlySet<number>): Promise<ReadonlySet<number>> {
  const { channels = [] } = await engine.get('/api/v3/exports?filter=channels', exportsBody)
  return new Set(channels.flatMap(({ id, stream }) => (seen.has(id) && stream ? [stream.id] : [])))
}
