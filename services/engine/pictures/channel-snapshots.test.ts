import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DetectedObject } from '@eyrie/contract'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createChannelSnapshots } from './channel-snapshots.ts'
import { createFrameHistory } from './frame-history.ts'
import { findHiddenRegions } from './hidden-regions.ts'

const object = (name: string, y = 0.2): DetectedObject => ({
  class: name,
  score: 0.9,
  bbox: { x: 0.1, y, w: 0.2, h: 0.6 },
})
const found = [object('person'), object('face', 0.7), object('car')]

describe('hidden regions', () => {
  test('are empty unless requested', () => {
    expect(findHiddenRegions(found, new Set())).toEqual([])
  })

  test('of persons are all persons and all detected faces', () => {
    expect(findHiddenRegions(found, new Set(['persons']))).toEqual([found[0]!.bbox, found[1]!.bbox])
  })

  test('of faces are all detected faces and the upper third of each person', () => {
    const [head, face] = findHiddenRegions(found, new Set(['faces']))
    expect(head).toEqual({ x: 0.1, y: 0.2, w: 0.2, h: expect.closeTo(0.2) })
    expect(face).toEqual(found[1]!.bbox)
  })
})

const START_MS = Date.parse('2026-01-01T00:00:00Z')

/** Analysed frames at these moments, and a media that keeps pictures at these. */
async function snapshotsWith(
  analysed: number[],
  kept: number[],
  { now, lostMs = 0 }: { now?: () => number; lostMs?: number } = {},
) {
  const asked: unknown[] = []
  const media = createServer(async (request, response) => {
    const body = JSON.parse(String(Buffer.concat(await request.toArray())))
    asked.push(body)
    const nearest = kept.reduce((a, b) => (Math.abs(b - body.pts) < Math.abs(a - body.pts) ? b : a))
    response.setHeader('X-Pts', nearest)
    response.end('jpeg')
  })
  await new Promise<void>(resolve => media.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void media.close())
  const frameHistory = createFrameHistory(() => true)
  const place = { channel: 3, source: 1, pipeline: 1, epoch: 1, time: '2026-01-01T00:00:00Z' }
  for (const [n, pts] of analysed.entries()) {
    frameHistory.add({
      ...place,
      // The camera was lost before the last frame: time has passed, and stream time has not.
      time: new Date(START_MS + pts / 90 + (n === analysed.length - 1 ? lostMs : 0)).toISOString(),
      pts,
      kind: 'frame',
      data: { n: n + 1, objects: found, counters: {}, latency: 1 },
    })
  }
  const url = `http://127.0.0.1:${(media.address() as AddressInfo).port}`
  const snapshots = createChannelSnapshots({
    media: { url, token: undefined },
    frameHistory,
    channelShapes: () => [],
    ...(now && { now }),
  })
  return {
    asked,
    take: (wish = {}) =>
      snapshots.capture({ id: 3, source: 1 }, { boxes: false, blur: [], ...wish }),
  }
}

describe('channel snapshot', () => {
  test('shows the nearest analysed frame with its own objects', async () => {
    const { asked, take } = await snapshotsWith([9000, 18_000, 27_000], [9000, 18_000, 27_000])
    expect(
      await take({ position: { pts: 17_000 }, width: 320, boxes: true, blur: ['persons'] }),
    ).toMatchObject({
      pts: 18_000,
    })
    expect(asked).toEqual([
      {
        pts: 18_000,
        width: 320,
        hidden: [found[0]!.bbox, found[1]!.bbox],
        drawing: {
          shapes: [],
          objects: found.map(({ class: name, bbox }) => ({ bbox, label: name, colour: name })),
        },
      },
    ])
    expect((await take()).pts).toBe(27_000)
  })

  test('is rejected if media returns another frame', async () => {
    const { take } = await snapshotsWith([9000], [12_000])
    await expect(take({ position: { pts: 9000 }, blur: ['faces'] })).rejects.toMatchObject({
      code: 'id',
      status: 404,
    })
    await expect(take({ blur: ['faces'] })).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('shows the analysed frame nearest to a time, or the nearest picture of media without boxes and blur', async () => {
    const { asked, take } = await snapshotsWith([9000, 18_000], [9000, 18_900])
    expect(await take({ position: { timeMs: START_MS + 190 } })).toMatchObject({
      pts: 18_900,
      timeMs: START_MS + 210,
    })
    expect(asked).toMatchObject([{ pts: 18_000 }])
  })

  test('shows the picture of media at a time near which no frame was analysed, unless boxes or blur are requested', async () => {
    const { asked, take } = await snapshotsWith([9000], [9000, 450_000])
    const position = { timeMs: START_MS + 5100 }
    expect(await take({ position })).toMatchObject({ pts: 450_000, timeMs: START_MS + 5000 })
    expect(asked).toMatchObject([{ pts: 459_000, hidden: [] }])
    const nearest = { code: 'id', value: { nearest: '2026-01-01T00:00:00.100Z' } }
    await expect(take({ position, blur: ['faces'] })).rejects.toMatchObject(nearest)
    // Media has no picture of this moment.
    await expect(take({ position: { timeMs: START_MS + 2100 } })).rejects.toMatchObject({
      code: 'id',
    })
    // Too far from the only frame whose stream time is known.
    await expect(take({ position: { timeMs: START_MS + 10_101 } })).rejects.toMatchObject(nearest)
  })

  test('is unavailable at a recent time of which no frame was analysed yet', async () => {
    const asked = START_MS + 5000
    const takeAt = async (nowMs: number) =>
      (await snapshotsWith([9000], [9000], { now: () => nowMs })).take({
        position: { timeMs: asked },
      })
    for (const nowMs of [asked, asked + 59_999]) {
      await expect(takeAt(nowMs)).rejects.toMatchObject({ code: 'unavailable' })
    }
    // No frame is going to follow: the camera was disconnected. A time in the future is an error.
    for (const nowMs of [asked + 60_000, asked - 1]) {
      await expect(takeAt(nowMs)).rejects.toMatchObject({ code: 'id' })
    }
  })

  test('is rejected for a time at which the camera was lost', async () => {
    const { take } = await snapshotsWith([9000, 18_000], [9000, 18_000], { lostMs: 4000 })
    await expect(take({ position: { timeMs: START_MS + 2700 } })).rejects.toMatchObject({
      code: 'id',
    })
    expect(await take({ position: { timeMs: START_MS + 3500 } })).toMatchObject({
      timeMs: START_MS + 4200,
    })
  })

  test('is rejected for a position without analysed frames, with the nearest position', async () => {
    const { take } = await snapshotsWith([9000], [9000])
    await expect(take({ position: { pts: 900_000 } })).rejects.toMatchObject({
      code: 'id',
      value: { nearest: 9000 },
    })
  })

  test('is unavailable before the first frame', async () => {
    const { take } = await snapshotsWith([], [9000])
    await expect(take()).rejects.toMatchObject({ code: 'unavailable' })
  })
})

test('frame history drops deleted channels when another channel is added', () => {
  const there = new Set([1, 2])
  const frameHistory = createFrameHistory(channel => there.has(channel))
  const place = { source: 1, pipeline: 1, pts: 0, epoch: 1, time: '2026-01-01T00:00:00Z' }
  const data = { n: 1, objects: found, counters: {}, latency: 1 }
  const known = (channels: number[]) => channels.filter(channel => frameHistory.find(channel))
  for (const channel of there) frameHistory.add({ ...place, channel, kind: 'frame', data })
  there.delete(1)
  there.add(3)
  expect(known([1, 2, 3])).toEqual([1, 2])
  frameHistory.add({ ...place, channel: 3, kind: 'frame', data })
  expect(known([1, 2, 3])).toEqual([2, 3])
})
