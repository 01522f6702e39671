import { createHash } from 'node:crypto'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { createLog } from '@eyrie/kit/log'
import { describe, expect, test, vi } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import type { MessageDraft } from '../output/message-draft.ts'
import { createPublishPipeline } from '../publish/publish-pipeline.ts'
import { createEventPictures } from './event-pictures.ts'
import { createPictureStore } from './picture-store.ts'

const place = { source: 1, pipeline: 1, epoch: 1, time: '2026-01-01T00:00:00.000Z' }
const event = (pts: number, type: string, channel = 1): MessageDraft => ({
  kind: 'event',
  channel,
  ...place,
  pts,
  data: { type },
})

/** An event's data; of a picture what it says and of which frame; of other messages the kind. */
const shown = (kind: string, pts: number | null, data: object) => {
  if (kind === 'picture') return { kind, pts, ...data }
  return kind === 'event' ? data : kind
}

const bytesOf = (pts: number) => Uint8Array.of(pts)
const pictureOf = (pts: number) => createHash('sha256').update(bytesOf(pts)).digest('hex')

/**
 * A publish pipeline with event pictures that load when the test calls `load`; each contains
 * nothing but its pts. The media service returns a frame that is `lead` ticks later than requested.
 */
async function startPipeline({ fails = false, waitMs = 60_000, lead = 0 } = {}) {
  const store = createPictureStore(createTemporaryFolder(), 1000)
  await store.open()
  const log = createLog('test', 'silent')
  const published: unknown[] = []
  const requested: { pts: number; load(): void }[] = []
  const eventPictures = createEventPictures({
    loadPicture: (_, pts) =>
      new Promise((resolve, reject) => {
        const load = () =>
          fails
            ? reject(new Error('overwritten'))
            : resolve({ jpeg: bytesOf(pts), pts: pts + lead })
        requested.push({ pts, load })
      }),
    store,
    intervalMs: 1000,
    waitMs,
    log,
  })
  const pipeline = createPublishPipeline({
    recordings: { annotate: () => {} },
    eventPictures,
    output: { publish: ({ kind, pts, data }) => published.push(shown(kind, pts, data)) },
    log,
  })
  return { published, requested, pipeline, drain: eventPictures.drain }
}

describe('event', () => {
  test('is published with the picture of its frame', async () => {
    const { pipeline, drain, requested, published } = await startPipeline()
    pipeline.publish(event(7, 'fire'))
    expect(published).toEqual([])
    requested[0]!.load()
    await drain()
    expect(published).toEqual([{ type: 'fire', picture: pictureOf(7) }])
  })

  test('shares its picture with other events of its frame', async () => {
    const { pipeline, drain, requested, published } = await startPipeline()
    pipeline.publish(event(7, 'fire'))
    pipeline.publish(event(7, 'smoke'))
    expect(requested).toHaveLength(1)
    requested[0]!.load()
    await drain()
    expect(published).toEqual([
      { type: 'fire', picture: pictureOf(7) },
      { type: 'smoke', picture: pictureOf(7) },
    ])
  })

  test('shares the previous picture if it was requested recently, and reports how much older it is', async () => {
    const { pipeline, drain, requested, published } = await startPipeline()
    const later = 1 + TICKS_PER_SECOND
    pipeline.publish(event(1, 'first'))
    pipeline.publish(event(1 + 0.5 * TICKS_PER_SECOND, 'second'))
    pipeline.publish(event(3, 'elsewhere', 2))
    expect(published).toEqual([])
    for (const { load } of requested) load()
    await drain()
    pipeline.publish(event(later, 'later'))
    requested[2]!.load()
    await drain()
    expect(requested.map(({ pts }) => pts)).toEqual([1, 3, later])
    const inFirst = published.filter(data => (data as { type: string }).type !== 'elsewhere')
    expect(inFirst).toEqual([
      { type: 'first', picture: pictureOf(1) },
      { type: 'second', picture: pictureOf(1), picture_offset: -500 },
      { type: 'later', picture: pictureOf(later) },
    ])
  })

  test('has a picture of its own in another second or another run of media, even if analysed in the same moment', async () => {
    const { pipeline, drain, requested, published } = await startPipeline()
    const distant = 2 + TICKS_PER_SECOND
    pipeline.publish(event(1, 'first'))
    pipeline.publish(event(distant, 'distant'))
    pipeline.publish({ ...event(2, 'restarted'), epoch: 2 })
    for (const { load } of requested) load()
    await drain()
    expect(published).toEqual([
      { type: 'first', picture: pictureOf(1) },
      { type: 'distant', picture: pictureOf(distant) },
      { type: 'restarted', picture: pictureOf(2) },
    ])
  })

  test('is published with the nearest frame that media has, and with its offset', async () => {
    const { pipeline, drain, requested, published } = await startPipeline({ lead: 900 })
    pipeline.publish(event(7, 'fire'))
    requested[0]!.load()
    await drain()
    expect(published).toEqual([{ type: 'fire', picture: pictureOf(7), picture_offset: 10 }])
  })

  test('is published without a slow picture, which follows once for each frame that shares it', async () => {
    const { pipeline, drain, requested, published } = await startPipeline({ waitMs: 5 })
    pipeline.publish(event(7, 'fire'))
    pipeline.publish(event(7, 'smoke'))
    pipeline.publish(event(7 + 0.1 * TICKS_PER_SECOND, 'later'))
    await vi.waitFor(() =>
      expect(published).toEqual([{ type: 'fire' }, { type: 'smoke' }, { type: 'later' }]),
    )
    requested[0]!.load()
    await drain()
    expect(published.slice(3)).toEqual([
      { kind: 'picture', pts: 7, picture: pictureOf(7) },
      { kind: 'picture', pts: 9007, picture: pictureOf(7), picture_offset: -100 },
    ])
  })

  test('is not followed by a message if its slow picture fails', async () => {
    const { pipeline, drain, requested, published } = await startPipeline({
      waitMs: 5,
      fails: true,
    })
    pipeline.publish(event(7, 'fire'))
    await vi.waitFor(() => expect(published).toEqual([{ type: 'fire' }]))
    requested[0]!.load()
    await drain()
    expect(published).toHaveLength(1)
  })

  test('is published without a picture that cannot be loaded', async () => {
    const { pipeline, drain, requested, published } = await startPipeline({ fails: true })
    pipeline.publish(event(1, 'fire'))
    requested[0]!.load()
    await drain()
    expect(published).toEqual([{ type: 'fire' }])
  })

  test('has no picture without a source, and frames and other channels do not wait', async () => {
    const { pipeline, published } = await startPipeline()
    const frame: MessageDraft = {
      ...{ kind: 'frame', channel: 1, ...place, pts: 1 },
      data: { n: 1, objects: [], counters: {}, latency: 1 },
    }
    pipeline.publish(event(1, 'fire'))
    pipeline.publish({ ...event(1, 'box'), source: null })
    pipeline.publish(frame)
    pipeline.publish({ kind: 'count', channel: 2, ...place, pts: 1, data: {} })
    expect(published).toEqual([{ type: 'box' }, 'frame', 'count'])
  })

  test('precedes the count that it has changed', async () => {
    const { pipeline, drain, requested, published } = await startPipeline()
    pipeline.publish(event(1, 'fire'))
    pipeline.publish({ kind: 'count', channel: 1, ...place, pts: 1, data: {} })
    pipeline.publish(event(2, 'smoke'))
    requested[0]!.load()
    await drain()
    expect(published).toEqual([
      { type: 'fire', picture: pictureOf(1) },
      'count',
      { type: 'smoke', picture: pictureOf(1) },
    ])
  })
})
