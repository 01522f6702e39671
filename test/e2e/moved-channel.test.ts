// @module-tag long

import { managementRoutes } from '@eyrie/contract/management/index'
import { and, asc, eq, sql } from 'drizzle-orm'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  channel,
  event,
  formerChannel,
  source,
  statisticMinute,
} from '../../services/management/db/schema/index.ts'
import { readDurableMessages } from '../fixtures/engine/engine-client.ts'
import { writePlugin } from '../fixtures/engine/test-plugin.ts'
import { type Fleet, startFleet, startManagedEngine } from '../fixtures/management/fleet.ts'
import { serveMedia } from '../fixtures/media/served-media.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { startStallingProxy } from '../fixtures/network/stalling-proxy.ts'
import type { EngineProcess } from '../fixtures/processes/engine-process.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const LONG_MS = 600_000
const WAIT = { timeout: 180_000, interval: 500 }
const { placement } = managementRoutes

/** Sends an event with every frame. */
const eventful = `
  let n = 0
  return {
    process() {
      n += 1
      return { events: [{ type: 'line-crossing', name: 'door', direction: 'up', track: n }] }
    },
  }`

/** Starts an engine with a media service of its own, behind a proxy that can cut it off. */
async function startEngine(plugins: string) {
  const media = await serveMedia()
  const engine = await startManagedEngine({ media, plugins })
  const proxy = await startStallingProxy(engine.url)
  return { engine, proxy, port: Number(new URL(proxy.url).port) }
}

/** The stored events of a channel that an engine has sent, in order. */
const readEvents = ({ database }: Fleet, channelId: string, engineId: string) =>
  database.system('test', tx =>
    tx
      .select({ seq: event.seq, time: event.time, kind: event.kind })
      .from(event)
      .where(and(eq(event.channel_id, channelId), eq(event.engine_id, engineId)))
      .orderBy(asc(event.seq)),
  )

/** The messages of the only channel in the log of an engine, without pictures. */
async function readLog({ api }: EngineProcess, channelSid: number) {
  const messages = await readDurableMessages(api)
  return messages.filter(message => message.channel === channelSid && message.kind !== 'picture')
}

it('moves the channels of an engine that is cut off for 15 s, and stores what both engines deliver once', {
  timeout: LONG_MS,
}, async () => {
  const plugins = createTemporaryFolder()
  writePlugin(plugins, { name: 'eventful', open: eventful })
  const [first, second] = [await startEngine(plugins), await startEngine(plugins)]
  const fleet = await startFleet()
  const { database } = fleet
  onTestFinished(() => fleet.backgroundJobs.stop())
  fleet.backgroundJobs.start(database)
  const fields = { engine_timeout: '2s' }
  const from = await fleet.registerEngine({
    ...fields,
    engine_name: 'first',
    engine_port: first.port,
  })
  const to = await fleet.registerEngine({
    ...fields,
    engine_name: 'second',
    engine_port: second.port,
  })
  await fleet.untilStatus(from, 1)
  await fleet.untilStatus(to, 1)

  const { source_id: sourceId, device_id } = await fleet.addSource(from, { fps: { output: 5 } })
  const pinned = await fleet.addSource(from, { fps: { output: 5 } }, 'pinned')
  await database.system('test', tx => tx.update(source).set({ source_address: SMALL_PICTURE }))
  const pipelineId = await fleet.addPipeline(from, [{ name: 'eventful' }])
  const channelId = await fleet.addChannel(sourceId, pipelineId)
  const pinnedId = await fleet.addChannel(pinned.source_id, pipelineId)
  const { site_id } = fleet
  await fleet.call(placement.updateSite, { site_id, site_placement: 'automatic' })
  await fleet.call(placement.updateSource, {
    source_id: pinned.source_id,
    source_placement: 'pinned',
  })
  const { channel_sid: channelSid } = await fleet.untilVerified(channelId)
  const { channel_sid: pinnedSid } = await fleet.untilVerified(pinnedId)

  // A setting that only the engine has goes with the source.
  const [row] = await database.system('test', tx =>
    tx.select().from(source).where(eq(source.source_id, sourceId)),
  )
  await first.engine.api.source.modify(row!.source_sid!, { decoder: 'ffmpeg' })
  await vi.waitFor(async () => {
    const [changed] = await database.system('test', tx =>
      tx.select().from(source).where(eq(source.source_id, sourceId)),
    )
    expect(changed!.source_settings).toEqual({ decoder: 'ffmpeg' })
  }, WAIT)
  await vi.waitFor(
    async () => expect((await readEvents(fleet, channelId, from)).length).toBeGreaterThan(10),
    WAIT,
  )

  // The engine is cut off: its channel goes on there, and soon on the other engine.
  first.proxy.stall()
  await vi.waitFor(
    async () =>
      expect(await fleet.getChannel(channelId)).toMatchObject({ engine_id: to, is_active: true }),
    WAIT,
  )
  await vi.waitFor(
    async () => expect((await readEvents(fleet, channelId, to)).length).toBeGreaterThan(10),
    WAIT,
  )
  expect(await fleet.getChannel(pinnedId)).toMatchObject({ engine_id: from, is_active: false })
  expect((await fleet.call(managementRoutes.device.get, { device_id })).response.engine_id).toBe(to)
  expect(await second.engine.api.source.list()).toMatchObject([{ decoder: 'ffmpeg' }])
  expect(await first.engine.api.source.list()).toHaveLength(2)

  // Both analyse the channel now.
  const readFormer = async () => {
    const [former] = await database.system('test', tx =>
      tx.select().from(formerChannel).where(eq(formerChannel.channel_id, channelId)),
    )
    return former!
  }
  await vi.waitFor(async () => {
    const newest = (await readLog(first.engine, Number(channelSid))).at(-1)!
    expect(Date.parse(newest.time)).toBeGreaterThan((await readFormer()).succeeded_at!.getTime())
  }, WAIT)

  // It returns: it gives the channel up, and delivers what it has seen alone.
  first.proxy.resume()
  await vi.waitFor(async () => expect(await first.engine.api.source.list()).toHaveLength(1), WAIT)
  const own = await readLog(first.engine, Number(channelSid))
  const pinnedLog = await readLog(first.engine, Number(pinnedSid))
  await vi.waitFor(async () => {
    const stored = await readEvents(fleet, pinnedId, from)
    expect(stored.at(-1)!.seq).toBeGreaterThanOrEqual(pinnedLog.at(-1)!.seq)
  }, WAIT)
  const former = await readFormer()
  expect(former).toMatchObject({ engine_id: from, channel_sid: Number(channelSid) })
  const succeededAt = former.succeeded_at!.getTime()
  expect(succeededAt).toBeGreaterThan(former.moved_at.getTime())

  // Exactly the messages of the first engine before the first one of the second, and all of the
  // second.
  const accepted = own.filter(({ time }) => Date.parse(time) < succeededAt)
  expect(own.length).toBeGreaterThan(accepted.length)
  expect((await readEvents(fleet, channelId, from)).map(({ seq }) => seq)).toEqual(
    accepted.map(({ seq }) => seq),
  )
  const { channel_sid: secondSid } = await fleet.getChannel(channelId)
  const ofSecond = await readEvents(fleet, channelId, to)
  const secondLog = await readLog(second.engine, Number(secondSid))
  expect(ofSecond.map(({ seq }) => seq)).toEqual(
    secondLog.filter(({ seq }) => seq <= ofSecond.at(-1)!.seq).map(({ seq }) => seq),
  )
  const storedPinned = await readEvents(fleet, pinnedId, from)
  expect(
    storedPinned.filter(({ seq }) => seq <= pinnedLog.at(-1)!.seq).map(({ seq }) => seq),
  ).toEqual(pinnedLog.map(({ seq }) => seq))

  // The counts are those of the stored events.
  await vi.waitFor(async () => {
    const counted = await database.system('test', tx =>
      tx
        .select({
          up: sql<number>`(select sum(${statisticMinute.sum})::int from ${statisticMinute}
            where ${statisticMinute.channel_id} = ${channel.channel_id} and ${statisticMinute.key} = 'up')`,
          events: sql<number>`(select count(*)::int from ${event}
            where ${event.channel_id} = ${channel.channel_id} and ${event.kind} = 'event')`,
        })
        .from(channel)
        .where(eq(channel.channel_id, channelId)),
    )
    expect(counted[0]!.up).toBe(counted[0]!.events)
  }, WAIT)
})
