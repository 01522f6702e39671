import type { FeedEvent } from '@eyrie/contract/management/feed'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { type FeedSource, STALL_MS } from './feed-source.ts'

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Makes nginx pass on each event at once.
  'X-Accel-Buffering': 'no',
}

/** Serves a feed as server-sent events (HTML standard, section 9.2). */
export function serveFeedEvents(
  context: Context,
  { follow, toEnd, stallMs = STALL_MS }: FeedSource,
): Response {
  // Undefined without a server.
  const { outgoing } = (context.env ?? {}) as Partial<HttpBindings>
  const ending = new AbortController()
  const events = follow(ending.signal)
  let stallTimer: NodeJS.Timeout | undefined

  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stallTimer)
        const { batch, isLast } = await nextBatch(events, toEnd)
        if (ending.signal.aborted) return
        if (batch.length > 0) controller.enqueue(Buffer.from(batch.map(formatEvent).join('')))
        if (isLast) {
          controller.close()
          return
        }
        // The server asks for more as soon as the client has received this.
        stallTimer = setTimeout(() => outgoing?.destroy(), stallMs)
        stallTimer.unref()
      },
      cancel() {
        clearTimeout(stallTimer)
        ending.abort()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { headers: HEADERS })
}

/** Returns what to send next. An error that ends the feed is the last thing to send. */
async function nextBatch(
  events: AsyncGenerator<FeedEvent[]>,
  toEnd: FeedSource['toEnd'],
): Promise<{ batch: FeedEvent[]; isLast: boolean }> {
  try {
    const { value, done = false } = await events.next()
    return { batch: value ?? [], isLast: done }
  } catch (error) {
    return { batch: [toEnd(error)], isLast: true }
  }
}

function formatEvent(event: FeedEvent): string {
  const id = 'id' in event ? `id: ${event.id}\n` : ''
  return `${id}event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`
}
