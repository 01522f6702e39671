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

/**
 * Serves a feed as server-sent events (HTML standard, section 9.2). Disconnects a client that does
 * not receive them in time.
 */
export function serveFeedEvents(
  context: Context,
  { follow, toEndEvent, stallMs = STALL_MS }: FeedSource,
): Response {
  // `env` is undefined in tests that call the app without a server.
  const { outgoing } = (context.env ?? {}) as Partial<HttpBindings>
  const ending = new AbortController()
  const events = follow(ending.signal)
  let stallTimer: NodeJS.Timeout | undefined

  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stallTimer)
        const { batch, isLast } = await nextBatch(events, toEndEvent)
        if (ending.signal.aborted) return
        if (batch.length > 0) controller.enqueue(Buffer.from(batch.map(formatEvent).join('')))
        if (isLast) {
          controller.close()
          return
        }
        // `pull` is called again as soon as the client has received this batch.
        stallTimer = setTimeout(() => outgoing?.destroy(), stallMs)
        stallTimer.unref()
      },
      cancel() {
        clearTimeout(stallTimer)
        ending.abort()
      },
    },
    // Nothing is read ahead of the client.
    { highWaterMark: 0 },
  )
  return new Response(stream, { headers: HEADERS })
}

/**
 * Returns the events to send next. If the feed fails, the last batch is a single
 * event with the reason.
 */
async function nextBatch(
  events: AsyncGenerator<FeedEvent[]>,
  toEndEvent: FeedSource['toEndEvent'],
): Promise<{ batch: FeedEvent[]; isLast: boolean }> {
  try {
    const { value, done = false } = await events.next()
    return { batch: value ?? [], isLast: done }
  } catch (error) {
    return { batch: [toEndEvent(error)], isLast: true }
  }
}

function formatEvent(event: FeedEvent): string {
  const id = 'id' in event ? `id: ${event.id}\n` : ''
  return `${id}event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`
}
