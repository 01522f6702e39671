import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLog, serviceEgress } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { useIngestDatabase } from '../../../../test/fixtures/management/ingest-database.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { notification, picture } from '../../db/schema/index.ts'
import { fetchSnapshots } from './notification-snapshots.ts'
import { createPictureSource } from './picture-source.ts'
import { createPictureStore } from './picture-store.ts'

const fixture = useIngestDatabase()
/** The engine has pictures of the last minute, so that the notification must be new. */
let firedMs: number
beforeEach(() => {
  firedMs = Date.now()
})

const insertNotification = (fields: Partial<typeof notification.$inferInsert> = {}) =>
  fixture.database.system('test', tx =>
    tx.insert(notification).values({
      notification_uuid: v7(),
      channel_id: fixture.channel_id,
      usecase_key: 'line-crossing',
      notification_time: new Date(firedMs),
      notification_data: {},
      ...{ alert_name: 'Quiet', condition: 'lt', threshold: '1', threshold_key: 'total', value: 0 },
      deliveries: [],
      next_snapshot: new Date(firedMs - 1000),
      ...fields,
    }),
  )

/** An HTTP server that answers all requests for snapshots like an engine. */
async function serveEngine(status: number, jpeg: Uint8Array, takenMs: number) {
  const paths: (string | undefined)[] = []
  const server = createServer(({ url }, response) => {
    paths.push(url)
    response.writeHead(status, { 'X-Time': new Date(takenMs).toISOString() }).end(jpeg)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { paths, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function fetchFrom(url: string) {
  const store = createPictureStore(createTemporaryFolder())
  const address = { url, token: '', timeoutMs: 5000 }
  const source = createPictureSource(async () => address, serviceEgress)
  const log = createLog('test', 'silent')
  const { signal } = new AbortController()
  await fetchSnapshots({ database: fixture.database, source, store, log, signal })
  return store
}

describe('snapshot of a notification', () => {
  it('is requested by time, stored, and attached with its distance from the notification', async () => {
    const jpeg = new Uint8Array(randomBytes(1000))
    const { url, paths } = await serveEngine(200, jpeg, firedMs - 120)
    await insertNotification()
    const store = await fetchFrom(url)
    const time = new Date(firedMs).toISOString()
    expect(paths).toEqual([`/api/v3/exports/channels/1/snapshot.jpg?time=${time}`])

    const [row] = await fixture.readNotifications()
    expect(row).toMatchObject({ picture_offset: -120, next_snapshot: null })
    expect(new Uint8Array((await store.read(row!.picture!))!)).toEqual(jpeg)
    const pictures = await fixture.database.system('test', tx =>
      tx.select().from(picture).where(eq(picture.sha256, row!.picture!)),
    )
    expect(pictures).toMatchObject([
      { engine_id: fixture.engine.engine_id, fetched_at: expect.any(Date), next_attempt: null },
    ])
  })

  it('is requested once for all notifications within a second', async () => {
    const { url, paths } = await serveEngine(200, new Uint8Array(randomBytes(1000)), firedMs)
    for (const offsetMs of [-900, 0, 900, 1500]) {
      await insertNotification({ notification_time: new Date(firedMs + offsetMs) })
    }
    await fetchFrom(url)
    // One of the burst, and one of the notification after it, for which the engine
    // returns the same picture.
    expect(paths).toHaveLength(2)
    const rows = await fixture.readNotifications()
    expect(rows.map(({ picture_offset }) => picture_offset)).toEqual([900, 0, -900, null])
    expect(rows.map(({ next_snapshot }) => next_snapshot)).toEqual([null, null, null, null])
  })

  it('is not requested again if the engine has no picture of this moment', async () => {
    const { url, paths } = await serveEngine(404, new Uint8Array(), firedMs)
    await insertNotification()
    await fetchFrom(url)
    await fetchFrom(url)
    expect(paths).toHaveLength(1)
    expect(await fixture.readNotifications()).toMatchObject([
      { picture: null, next_snapshot: null },
    ])
  })

  it('is requested again later if the engine fails, but not after a minute', async () => {
    const { url } = await serveEngine(503, new Uint8Array(), firedMs)
    await insertNotification()
    await insertNotification({ notification_time: new Date(firedMs - 61_000) })
    await fetchFrom(url)
    const [old, recent] = await fixture.readNotifications()
    expect(old).toMatchObject({ next_snapshot: null })
    expect(recent!.next_snapshot!.getTime()).toBeGreaterThan(firedMs)
  })
})
