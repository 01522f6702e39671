import { EyrieError } from '@eyrie/contract/errors'
import { feedRoutes } from '@eyrie/contract/management/feed'
import type { Log } from '@eyrie/kit'
import type { Context } from 'hono'
import type { Database } from '../../../db/database.ts'
import type { LiveFeed } from '../../../feed/live-feed.ts'
import { authorize } from '../../../rights/access.ts'
import type { Principal } from '../../../rights/principal.ts'
import { defineMultiStepOperation } from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'
import type { IdentifyCaller } from '../../auth/identify-caller.ts'
import { createFeedAccess } from '../../feed/feed-access.ts'
import { serveFeedEvents } from '../../feed/feed-events.ts'
import { serveFeedWebSocket } from '../../feed/feed-web-socket.ts'
import { followFeed, toEndEvent } from '../../feed/follow-feed.ts'

/**
 * Stands for the position of an id that this server has not assigned. No message has it, so that
 * the feed starts with `reset`, and the client reads the current state again.
 */
const UNKNOWN_POSITION = -1

const route = feedRoutes.stream

export interface FeedOperationsOptions {
  feed: LiveFeed
  identify: IdentifyCaller
  database(): Database
  log: Log
}

/**
 * The API operation that sends the live feed: events of the records that the caller may see, as
 * long as the client is connected. It sends them over a WebSocket if the client asks for one,
 * otherwise as server-sent events.
 */
export const feedOperations = ({ feed, identify, database, log }: FeedOperationsOptions) => [
  defineMultiStepOperation(route, async ({ input, caller, context }) => {
    await database().as(caller, route.path, tx => assertReferencesExist(tx, route, input))

    const { last_id, ...filter } = input
    const lastId = last_id ?? context.req.header('Last-Event-ID')
    const after = lastId === undefined ? undefined : toPosition(lastId)
    const access = createFeedAccess(() => identifyAgain(context, identify), database)
    const source = {
      follow: (signal: AbortSignal) =>
        followFeed({ feed, database, after, filter, access, signal }),
      toEndEvent: (error: unknown) => toEndEvent(error, log),
    }

    const isUpgrade = context.req.header('Upgrade')?.toLowerCase() === 'websocket'
    return isUpgrade ? serveFeedWebSocket(context, source) : serveFeedEvents(context, source)
  }),
]

/**
 * Checks the credentials of an open connection again, because the session or the rights of the
 * caller may have ended.
 */
async function identifyAgain(context: Context, identify: IdentifyCaller): Promise<Principal> {
  const caller = await identify(context, route)
  authorize(route, caller)
  if (!caller) throw new EyrieError('auth', 'sign in again')
  return caller
}

/**
 * Returns the position of the message with an id. The ids of this server are numbers of at most 16
 * digits. The header may contain any text, such as an id that another server has assigned.
 */
const toPosition = (id: string) => (/^\d{1,16}$/.test(id) ? Number(id) : UNKNOWN_POSITION)
