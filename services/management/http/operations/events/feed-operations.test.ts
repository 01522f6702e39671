import type { FeedEvent, FeedMessage } from '@eyrie/contract/management/feed'
import { feedMessage } from '@eyrie/contract/management/feed'
import { eq, sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  type FeedConnection,
  type FeedOptions,
  followFeedEvents,
  followFeedSocket,
  serveManagement,
} from '../../../../../test/fixtures/management/feed-client.ts'
import { insertRecords } from '../../../../../test/fixtures/management/records.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../../test/fixtures/management/shared-management.ts'
import { engineState, liveMessage, session, userCustomer } from '../../../db/schema/index.ts'
import { expireMessages } from '../../../feed/feed-log.ts'
import { publishMessages } from '../../../feed/publish-message.ts'

const management = sharedManagement()
const records = sharedRecords(management)

const publish = (channelId: string, number: number, kind: 'incident' | 'count' = 'incident') =>
  management.database.system('test', tx =>
    publishMessages(tx, [{ kind, channel_id: channelId, data: { number } }]),
  )
const numbersOf = (events: readonly FeedEvent[]) =>
  events.flatMap(event => ('data' in event ? [event.data.number] : []))
const hasNumber = (number: number) => (event: FeedEvent) =>
  'data' in event && event.data.number === number

type Follow = (url: string, options: FeedOptions) => Promise<FeedConnection>

describe.each<[string, Follow]>([
  ['server-sent events', followFeedEvents],
  ['a WebSocket', followFeedSocket],
])('the live feed by %s', (_, follow) => {
  it('sends what is published after the connection is ready', async () => {
    const url = await serveManagement(management)
    const feed = await follow(url, { token: management.superadmin.token })
    await feed.waitFor(({ kind }) => kind === 'ready')
    await publish(records.channel_id, 1)
    const message = feedMessage.parse(await feed.waitFor(hasNumber(1)))
    expect(message).toMatchObject({
      kind: 'incident',
      channel_id: records.channel_id,
      data: { number: 1 },
    })
  })

  it('resumes after the last id', async () => {
    const url = await serveManagement(management)
    const { token } = management.superadmin
    const first = await follow(url, { token })
    await first.waitFor(({ kind }) => kind === 'ready')
    await publish(records.channel_id, 1)
    const { id } = (await first.waitFor(hasNumber(1))) as FeedMessage
    first.close()
    await publish(records.channel_id, 2)
    await publish(records.channel_id, 3)
    const second = await follow(url, { token, lastId: id })
    await second.waitFor(hasNumber(3))
    expect(second.events[0]).toEqual({ kind: 'ready', id })
    expect(numbersOf(second.events)).toEqual([2, 3])
  })

  it('says that messages are missing after an id that is no longer stored', async () => {
    const url = await serveManagement(management)
    const { token } = management.superadmin
    await publish(records.channel_id, 1)
    for (const lastId of ['1', '9999999999999999']) {
      const feed = await follow(url, { token, lastId })
      expect(await feed.waitFor(() => true)).toMatchObject({ kind: 'reset' })
      feed.close()
    }
  })

  it('contains only the selected channel, site and kinds', async () => {
    const url = await serveManagement(management)
    const other = await insertRecords(management.database)
    const { token } = management.superadmin
    const byChannel = await follow(url, { token, query: { channel_id: records.channel_id } })
    const bySite = await follow(url, { token, query: { site_id: other.site_id } })
    const byKind = await follow(url, { token, query: { feed_kinds: 'count,picture' } })
    for (const feed of [byChannel, bySite, byKind]) {
      await feed.waitFor(({ kind }) => kind === 'ready')
    }
    await publish(other.channel_id, 1)
    await publish(records.channel_id, 2)
    await publish(records.channel_id, 3, 'count')
    await publish(other.channel_id, 4)
    await byChannel.waitFor(hasNumber(3))
    await bySite.waitFor(hasNumber(4))
    await byKind.waitFor(hasNumber(3))
    expect(numbersOf(byChannel.events)).toEqual([2, 3])
    expect(numbersOf(bySite.events)).toEqual([1, 4])
    expect(numbersOf(byKind.events)).toEqual([3])
  })

  it('contains only records that the caller may see', async () => {
    const url = await serveManagement(management)
    const other = await insertRecords(management.database)
    const { database, superadmin } = management
    const viewer = await management.signIn('viewer', { customers: [records.customer_id] })
    const all = await follow(url, { token: superadmin.token })
    const limited = await follow(url, { token: viewer.token })
    for (const feed of [all, limited]) await feed.waitFor(({ kind }) => kind === 'ready')
    await publish(other.channel_id, 1)
    await database.system('test', async tx => {
      // About the appliance itself.
      await tx.execute(sql`select publish_live_message('system_alert', null, null, null, '{}')`)
      await tx.insert(engineState).values({ engine_id: other.engine_id }).onConflictDoNothing()
      const isOther = eq(engineState.engine_id, other.engine_id)
      await tx.update(engineState).set({ engine_status: 2, reason: 'refused' }).where(isOther)
    })
    await publish(records.channel_id, 2)
    await all.waitFor(hasNumber(2))
    await limited.waitFor(hasNumber(2))
    expect(all.events).toContainEqual(
      expect.objectContaining({
        kind: 'engine_state',
        engine_id: other.engine_id,
        data: { engine_status: 2, engine_reason: 'refused' },
      }),
    )
    expect(all.events).toContainEqual(
      expect.objectContaining({ kind: 'system_alert', engine_id: null }),
    )
    expect(limited.events.filter(event => 'data' in event)).toHaveLength(1)
  })

  it('stops sending records when the rights are revoked', async () => {
    const url = await serveManagement(management)
    const { database } = management
    const viewer = await management.signIn('viewer', { customers: [records.customer_id] })
    const feed = await follow(url, { token: viewer.token })
    const all = await follow(url, { token: management.superadmin.token })
    for (const connection of [feed, all]) await connection.waitFor(({ kind }) => kind === 'ready')
    await publish(records.channel_id, 1)
    await feed.waitFor(hasNumber(1))
    await database.system('test', tx =>
      tx.delete(userCustomer).where(eq(userCustomer.user_id, viewer.user_id)),
    )
    const revokedAtMs = Date.now()
    let number = 2
    // Each message makes the connection check the rights.
    while (Date.now() - revokedAtMs < 4000) {
      await publish(records.channel_id, number)
      await all.waitFor(hasNumber(number))
      number += 1
    }
    const lateNumbers = numbersOf(feed.events).length
    await publish(records.channel_id, number)
    await all.waitFor(hasNumber(number))
    expect(numbersOf(feed.events)).toHaveLength(lateNumbers)
    expect(lateNumbers).toBeLessThan(number - 1)
  })

  it('ends when the session has ended', async () => {
    const url = await serveManagement(management)
    const viewer = await management.signIn('viewer', { customers: [records.customer_id] })
    const feed = await follow(url, { token: viewer.token })
    await feed.waitFor(({ kind }) => kind === 'ready')
    await management.database.system('test', tx =>
      tx.delete(session).where(eq(session.user_id, viewer.user_id)),
    )
    const timer = setInterval(() => void publish(records.channel_id, 0), 200)
    await feed.ended
    clearInterval(timer)
    expect(feed.events.at(-1)).toMatchObject({
      kind: 'end',
      code: 'auth',
      reason: expect.stringContaining('sign in'),
    })
  })

  it('is refused without a role, with an invalid token and for a foreign channel', async () => {
    const url = await serveManagement(management)
    const other = await insertRecords(management.database)
    const viewer = await management.signIn('viewer', { customers: [records.customer_id] })
    await expect(follow(url, { token: 'invalid' })).rejects.toThrow('401')
    const query = { channel_id: other.channel_id }
    await expect(follow(url, { token: viewer.token, query })).rejects.toThrow('404')
    await expect(
      follow(url, { token: viewer.token, query: { feed_kinds: 'secrets' } }),
    ).rejects.toThrow('400')
  })
})

describe('stored messages of the live feed', () => {
  it('expire after the window, except the newest', async () => {
    await publish(records.channel_id, 1)
    await publish(records.channel_id, 2)
    await management.database.system('test', tx =>
      tx.update(liveMessage).set({ created_at: new Date(Date.now() - 16 * 60_000) }),
    )
    await expireMessages(management.database)
    const rows = await management.database.system('test', tx => tx.select().from(liveMessage))
    expect(rows).toMatchObject([{ data: { number: 2 } }])
  })
})
