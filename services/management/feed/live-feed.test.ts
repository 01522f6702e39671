import type { FeedEvent } from '@eyrie/contract/management/feed'
import { describe, expect, it } from 'vitest'
import {
  followFeedEvents,
  followFeedSocket,
  serveManagement,
} from '../../../test/fixtures/management/feed-client.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../test/fixtures/management/shared-management.ts'
import { publishMessages } from './publish-message.ts'

const management = sharedManagement()
const records = sharedRecords(management)

/** Numbers that look random and are the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

const WRITERS = 6
const TRANSACTIONS_PER_WRITER = 25

/**
 * Transactions that publish and commit in different orders: each waits for others
 * between its messages.
 */
async function writeInParallel(random: () => number): Promise<number[]> {
  const { database } = management
  const published: number[] = []
  let next = 0

  async function write(): Promise<void> {
    for (let transaction = 0; transaction < TRANSACTIONS_PER_WRITER; transaction += 1) {
      const numbers = Array.from({ length: 1 + Math.floor(random() * 3) }, () => (next += 1))
      const isCommitted = random() < 0.9
      await database
        .system('test', async tx => {
          for (const number of numbers) {
            await publishMessages(tx, [
              { kind: 'incident', channel_id: records.channel_id, data: { number } },
            ])
            // Round trips let other transactions commit in between.
            for (let trips = Math.floor(random() * 12); trips > 0; trips -= 1) {
              await tx.execute('select 1')
            }
          }
          if (!isCommitted) throw new Error('rolled back')
        })
        .catch(error => expect(error).toMatchObject({ message: 'rolled back' }))
      if (isCommitted) published.push(...numbers)
    }
  }

  await Promise.all(Array.from({ length: WRITERS }, write))
  return published
}

describe('the live feed', () => {
  it.each([1, 2, 3, 4])(
    'sends each message once and in order to a client that reconnects at any time (seed %i)',
    async seed => {
      const url = await serveManagement(management)
      const random = createRandom(seed)
      const { token } = management.superadmin
      const received: FeedEvent[] = []
      let lastId: string | undefined
      let isWriting = true
      let connections = 0

      async function readUntil(isDone: () => boolean, count: number): Promise<void> {
        const follow = random() < 0.5 ? followFeedEvents : followFeedSocket
        const feed = await follow(url, { token, ...(lastId !== undefined && { lastId }) })
        connections += 1
        await feed.waitFor(() => feed.events.length > count || isDone())
        feed.close()
        await feed.ended
        expect(feed.events[0]).toMatchObject({ kind: 'ready' })
        received.push(...feed.events)
        lastId = (feed.events.at(-1) as { id: string }).id
      }

      const begin = await followFeedEvents(url, { token })
      lastId = ((await begin.waitFor(({ kind }) => kind === 'ready')) as { id: string }).id
      begin.close()
      const writing = writeInParallel(random).finally(() => {
        isWriting = false
      })
      while (isWriting) await readUntil(() => !isWriting, 1 + Math.floor(random() * 20))
      const published = await writing
      const countReceived = () => received.filter(event => 'data' in event).length
      while (countReceived() < published.length) {
        await readUntil(() => false, Math.min(20, published.length - countReceived()))
      }

      const messages = received.filter(event => 'data' in event)
      const numbers = messages.map(({ data }) => data.number as number)
      expect(numbers.toSorted((a, b) => a - b)).toEqual(published.toSorted((a, b) => a - b))
      const ids = messages.map(({ id }) => Number(id))
      expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
      expect(connections).toBeGreaterThan(3)
    },
  )
})
