import { createHash } from 'node:crypto'
import { createLog } from '@eyrie/kit/log'
import { describe, expect, test, vi } from 'vitest'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import type { Draft } from '../ports.ts'
import { createIllustrator } from './illustrator.ts'
import { createPictureStore } from './store.ts'

const place = { source: 1, pipeline: 1, epoch: 1, time: '2026-01-01T00:00:00.000Z' }
const event = (pts: number, type: string, channel = 1): Draft => ({
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

/** An illustrator whose pictures are taken when the test says so; each holds nothing but its pts. */
async function illustrating({ fails = false, waitMs = 60_000 } = {}) {
  const store = createPictureStore(temporaryFolder(), 1000)
  await store.open()
  const clock = { now: 0 }
  const published: unknown[] = []
  const asked: { pts: number; take(): void }[] = []
  const illustrator = createIllustrator({
    publisher: { publish: ({ kind, pts, data }) => published.push(shown(kind, pts, data)) },
    snapshot: (_, pts) =>
      new Promise((resolve, reject) => {
        const take = () => (fails ? reject(new Error('gone')) : resolve(bytesOf(pts)))
        asked.push({ pts, take })
      }),
    store,
    intervalMs: 1000,
    waitMs,
    now: () => clock.now,
    log: createLog('test', 'silent'),
  })
  return { clock, published, asked, illustrator }
}

describe('an event', () => {
  test('is published with the picture of its frame', async () => {
    const { illustrator, asked, published } = await illustrating()
    illustrator.publish(event(7, 'fire'))
    expect(published).toEqual([])
    asked[0]!.take()
    await illustrator.settled()
    expect(published).toEqual([{ type: 'fire', picture: pictureOf(7) }])
  })

  test('shares its picture with others of its frame', async () => {
    const { illustrator, asked, published } = await illustrating()
    illustrator.publish(event(7, 'fire'))
    illustrator.publish(event(7, 'smoke'))
    expect(asked).toHaveLength(1)
    asked[0]!.take()
    await illustrator.settled()
    expect(published).toEqual([
      { type: 'fire', picture: pictureOf(7) },
      { type: 'smoke', picture: pictureOf(7) },
    ])
  })

  test('that comes too soon after one with a picture goes without, but not before that one', async () => {
    const { illustrator, asked, published, clock } = await illustrating()
    illustrator.publish(event(1, 'first'))
    illustrator.publish(event(2, 'second'))
    illustrator.publish(event(3, 'elsewhere', 2))
    expect(published).toEqual([])
    for (const { take } of asked) take()
    await illustrator.settled()
    clock.now = 1000
    illustrator.publish(event(4, 'later'))
    asked[2]!.take()
    await illustrator.settled()
    expect(asked.map(({ pts }) => pts)).toEqual([1, 3, 4])
    const inFirst = published.filter(data => (data as { type: string }).type !== 'elsewhere')
    expect(inFirst).toEqual([
      { type: 'first', picture: pictureOf(1) },
      { type: 'second' },
      { type: 'later', picture: pictureOf(4) },
    ])
  })

  test('whose picture takes long goes without, and the picture follows once for all of its frame', async () => {
    const { illustrator, asked, published } = await illustrating({ waitMs: 5 })
    illustrator.publish(event(7, 'fire'))
    illustrator.publish(event(7, 'smoke'))
    illustrator.publish(event(8, 'later'))
    await vi.waitFor(() =>
      expect(published).toEqual([{ type: 'fire' }, { type: 'smoke' }, { type: 'later' }]),
    )
    asked[0]!.take()
    await illustrator.settled()
    expect(published.slice(3)).toEqual([{ kind: 'picture', pts: 7, picture: pictureOf(7) }])
  })

  test('whose picture takes long and cannot be had is not told of again', async () => {
    const { illustrator, asked, published } = await illustrating({ waitMs: 5, fails: true })
    illustrator.publish(event(7, 'fire'))
    await vi.waitFor(() => expect(published).toEqual([{ type: 'fire' }]))
    asked[0]!.take()
    await illustrator.settled()
    expect(published).toHaveLength(1)
  })

  test('whose picture cannot be had goes without', async () => {
    const { illustrator, asked, published } = await illustrating({ fails: true })
    illustrator.publish(event(1, 'fire'))
    asked[0]!.take()
    await illustrator.settled()
    expect(published).toEqual([{ type: 'fire' }])
  })

  test('of no source has no picture, and other messages do not wait', async () => {
    const { illustrator, published } = await illustrating()
    illustrator.publish(event(1, 'fire'))
    illustrator.publish({ ...event(1, 'box'), source: null })
    illustrator.publish({ kind: 'count', channel: 1, ...place, pts: 1, data: {} })
    expect(published).toEqual([{ type: 'box' }, 'count'])
  })
})
