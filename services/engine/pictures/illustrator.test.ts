import { createHash } from 'node:crypto'
import { createLog } from '@eyrie/kit/log'
import { describe, expect, test } from 'vitest'
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

const bytesOf = (pts: number) => Uint8Array.of(pts)
const pictureOf = (pts: number) => createHash('sha256').update(bytesOf(pts)).digest('hex')

/** An illustrator whose pictures are taken when the test says so; each holds nothing but its pts. */
async function illustrating({ fails = false } = {}) {
  const store = createPictureStore(temporaryFolder(), 1000)
  await store.open()
  const clock = { now: 0 }
  const published: unknown[] = []
  const asked: { pts: number; take(): void }[] = []
  const illustrator = createIllustrator({
    publisher: { publish: ({ kind, data }) => published.push(kind === 'event' ? data : kind) },
    snapshot: (_, pts) =>
      new Promise((resolve, reject) => {
        const take = () => (fails ? reject(new Error('gone')) : resolve(bytesOf(pts)))
        asked.push({ pts, take })
      }),
    store,
    intervalMs: 1000,
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
