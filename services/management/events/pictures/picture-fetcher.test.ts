import { createHash, randomBytes } from 'node:crypto'
import { createLog } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  insertChannel,
  insertEngine,
} from '../../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../../test/fixtures/management/ingest-database.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { channel, device, engine, picture, pipeline, source } from '../../db/schema/index.ts'
import { schedulePictureFetches } from './picture-fetch.ts'
import { fetchPictures, removeExpiredPictures } from './picture-fetcher.ts'
import type { PictureSource } from './picture-source.ts'
import { createPictureStore, type PictureStore } from './picture-store.ts'

const now = Date.parse('2026-03-04T12:00:00Z')
const DAY_MS = 86_400_000

const fixture = useIngestDatabase()

const log = createLog('test', 'silent')
const sha256Of = (jpeg: Uint8Array) => createHash('sha256').update(jpeg).digest('hex')
const request = (sha256: string, isStorage = true) =>
  fixture.database.system('test', tx =>
    schedulePictureFetches(tx, [
      { sha256, channel_id: fixture.channel_id, is_storage: isStorage, timeMs: now },
    ]),
  )
const readPicture = async (sha256: string) =>
  (
    await fixture.database.system('test', tx =>
      tx.select().from(picture).where(eq(picture.sha256, sha256)),
    )
  )[0]
const { signal } = new AbortController()
const fetchFrom = (source: PictureSource, store = createPictureStore(createTemporaryFolder())) =>
  fetchPictures({ database: fixture.database, source, store, log, signal })
const removeExpired = (store: PictureStore, moment: number) =>
  removeExpiredPictures({
    database: fixture.database,
    store,
    now: moment,
    retentionMs: 90 * DAY_MS,
    signal,
  })

describe('picture of a notification', () => {
  it('is fetched from its engine and stored as a file', async () => {
    const store = createPictureStore(createTemporaryFolder())
    const jpeg = new Uint8Array(randomBytes(1000))
    const sha256 = sha256Of(jpeg)
    await request(sha256)
    const requests: string[] = []
    const source: PictureSource = {
      fetch: async (engineId, hash) => {
        requests.push(`${engineId} ${hash}`)
        return jpeg
      },
    }
    await fetchFrom(source, store)
    await fetchFrom(source, store)
    expect(requests).toEqual([`${fixture.engine.engine_id} ${sha256}`])
    expect(new Uint8Array((await store.read(sha256))!)).toEqual(jpeg)
    expect(await readPicture(sha256)).toMatchObject({ next_attempt: null, attempts: 1 })
  })

  it.each<[string, PictureSource['fetch']]>([
    ['is unreachable', () => Promise.reject(new Error('unreachable'))],
    ['sends different content', async () => new Uint8Array(5)],
  ])('is retried later when the engine %s', async (_, fetch) => {
    const sha256 = sha256Of(randomBytes(10))
    await request(sha256)
    const requestedAt = (await readPicture(sha256))!.next_attempt!
    await fetchFrom({ fetch })
    const row = await readPicture(sha256)
    expect(row).toMatchObject({ attempts: 1, fetched_at: null })
    expect(row!.next_attempt!.getTime()).toBeGreaterThan(requestedAt.getTime())
  })

  it('is not retried when the engine no longer has it', async () => {
    const sha256 = sha256Of(randomBytes(10))
    await request(sha256)
    await fetchFrom({ fetch: async () => undefined })
    expect(await readPicture(sha256)).toMatchObject({ fetched_at: null, next_attempt: null })
  })

  it('is removed with the events, or after a day if its channel stores no pictures', async () => {
    const store = createPictureStore(createTemporaryFolder())
    const [stored, brief] = [randomBytes(10), randomBytes(11)].map(
      bytes => new Uint8Array(bytes),
    ) as [Uint8Array, Uint8Array]
    await request(sha256Of(stored), true)
    await request(sha256Of(brief), false)
    await fetchFrom(
      { fetch: async (_, sha256) => [stored, brief].find(jpeg => sha256Of(jpeg) === sha256) },
      store,
    )
    const removeAndCheck = async (time: number) => {
      await removeExpired(store, time)
      return Promise.all(
        [stored, brief].map(async jpeg => (await store.read(sha256Of(jpeg))) !== undefined),
      )
    }
    expect(await removeAndCheck(now + DAY_MS)).toEqual([true, true])
    expect(await removeAndCheck(now + DAY_MS + 1)).toEqual([true, false])
    expect(await removeAndCheck(now + 90 * DAY_MS)).toEqual([true, false])
    expect(await removeAndCheck(now + 90 * DAY_MS + 1)).toEqual([false, false])
    expect(await readPicture(sha256Of(stored))).toBeUndefined()
  })

  it('is removed after the retention even if its engine was deleted', async () => {
    const { database } = fixture
    const deletedEngine = await insertEngine(database)
    const channelId = await insertChannel(database, deletedEngine, 'line-crossing')
    const store = createPictureStore(createTemporaryFolder())
    const jpeg = new Uint8Array(randomBytes(10))
    const sha256 = sha256Of(jpeg)
    await database.system('test', tx =>
      schedulePictureFetches(tx, [
        { sha256, channel_id: channelId, is_storage: true, timeMs: now },
      ]),
    )
    await fetchFrom({ fetch: async () => jpeg }, store)
    await database.system('test', async tx => {
      for (const table of [channel, pipeline, source, device, engine]) {
        await tx.delete(table).where(eq(table.engine_id, deletedEngine.engine_id))
      }
    })
    await removeExpired(store, now + 90 * DAY_MS)
    expect(await store.read(sha256)).toBeDefined()
    await removeExpired(store, now + 90 * DAY_MS + 1)
    expect(await store.read(sha256)).toBeUndefined()
  })
})
