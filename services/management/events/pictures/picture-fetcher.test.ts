import { createHash, randomBytes } from 'node:crypto'
import { createLog } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { type HeardEngine, insertChannel, insertEngine } from '../../../../test/fixtures/heard-channel.ts'
import { useHeardDatabase } from '../../../../test/fixtures/heard-database.ts'
import type { TestDatabase } from '../../../../test/fixtures/management-database.ts'
import { temporaryFolder } from '../../../../test/fixtures/temporary.ts'
import { channel, device, engine, picture, pipeline, source } from '../../db/schema/index.ts'
import { fetchPictures, type PictureSource, removeOldPictures } from './picture-fetcher.ts'
import { createPictureStore } from './picture-store.ts'
import { requestPicture } from './request-picture.ts'

const now = Date.parse('2026-03-04T12:00:00Z')
const day = 86_400_000

let its: TestDatabase
let heard: HeardEngine
let channel_id: string
useHeardDatabase(here => {
  ;({ its, heard, channel_id } = here)
})

const log = createLog('test', 'silent')
const sha256Of = (jpeg: Uint8Array) => createHash('sha256').update(jpeg).digest('hex')
const want = (sha256: string, is_storage = true, at = now) =>
  its.database.system('test', tx => requestPicture(tx, sha256, { channel_id, is_storage }, at))
const known = async (sha256: string) =>
  (await its.database.system('test', tx => tx.select().from(picture).where(eq(picture.sha256, sha256))))[0]
const { signal } = new AbortController()
const fetchFrom = (source: PictureSource, store = createPictureStore(temporaryFolder())) =>
  fetchPictures({ database: its.database, source, store, log, signal })

describe('a picture that a notification needs', () => {
  it('is fetched from its engine and kept as a file', async () => {
    const store = createPictureStore(temporaryFolder())
    const jpeg = new Uint8Array(randomBytes(1000))
    const sha256 = sha256Of(jpeg)
    await want(sha256)
    const asked: string[] = []
    const source: PictureSource = {
      fetch: async (engine_id, wanted) => {
        asked.push(`${engine_id} ${wanted}`)
        return jpeg
      },
    }
    await fetchFrom(source, store)
    await fetchFrom(source, store)
    expect(asked).toEqual([`${heard.engine_id} ${sha256}`])
    expect(new Uint8Array((await store.read(sha256))!)).toEqual(jpeg)
    expect(await known(sha256)).toMatchObject({ next_attempt: null, attempts: 1 })
  })

  it.each<[string, PictureSource['fetch']]>([
    ['cannot be asked', () => Promise.reject(new Error('away'))],
    ['sends another', async () => new Uint8Array(5)],
  ])('is tried again, later, when the engine %s', async (_, fetch) => {
    const sha256 = sha256Of(randomBytes(10))
    await want(sha256)
    await fetchFrom({ fetch })
    const row = await known(sha256)
    expect(row).toMatchObject({ attempts: 1, fetched_at: null })
    expect(row!.next_attempt!.getTime()).toBeGreaterThan(Date.now())
  })

  it('is given up when the engine no longer has it', async () => {
    const sha256 = sha256Of(randomBytes(10))
    await want(sha256)
    await fetchFrom({ fetch: async () => undefined })
    expect(await known(sha256)).toMatchObject({ fetched_at: null, next_attempt: null })
  })

  it('goes when it is old: after a day where its channel stores none, else with the events', async () => {
    const store = createPictureStore(temporaryFolder())
    const [stored, brief] = [randomBytes(10), randomBytes(11)].map(bytes => new Uint8Array(bytes)) as [
      Uint8Array,
      Uint8Array,
    ]
    await want(sha256Of(stored), true)
    await want(sha256Of(brief), false)
    await fetchFrom(
      { fetch: async (_, sha256) => [stored, brief].find(jpeg => sha256Of(jpeg) === sha256) },
      store,
    )
    const left = async (at: number) => {
      await removeOldPictures(its.database, store, at, 90 * day)
      return Promise.all([stored, brief].map(async jpeg => (await store.read(sha256Of(jpeg))) !== undefined))
    }
    expect(await left(now + day)).toEqual([true, true])
    expect(await left(now + day + 1)).toEqual([true, false])
    expect(await left(now + 90 * day)).toEqual([true, false])
    expect(await left(now + 90 * day + 1)).toEqual([false, false])
    expect(await known(sha256Of(stored))).toBeUndefined()
  })

  it('goes when it is old, though its engine is managed no longer', async () => {
    const { database } = its
    const away = await insertEngine(database)
    const channel_id = await insertChannel(database, away, 'line-crossing')
    const store = createPictureStore(temporaryFolder())
    const jpeg = new Uint8Array(randomBytes(10))
    const sha256 = sha256Of(jpeg)
    await database.system('test', tx => requestPicture(tx, sha256, { channel_id, is_storage: true }, now))
    await fetchFrom({ fetch: async () => jpeg }, store)
    await database.system('test', async tx => {
      for (const table of [channel, pipeline, source, device, engine])
        await tx.delete(table).where(eq(table.engine_id, away.engine_id))
    })
    await removeOldPictures(database, store, now + 90 * day, 90 * day)
    expect(await store.read(sha256)).toBeDefined()
    await removeOldPictures(database, store, now + 90 * day + 1, 90 * day)
    expect(await store.read(sha256)).toBeUndefined()
  })
})
