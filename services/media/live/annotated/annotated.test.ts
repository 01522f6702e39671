// @module-tag long

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Drawing } from '@eyrie/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { readAnnotatedPictures } from '../../../../test/fixtures/media/annotated-picture.ts'
import {
  type ControlClient,
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import {
  failingEncoder,
  unavailableEncoder,
  workingEncoder,
} from '../../../../test/fixtures/media/encoders.ts'
import { getNumberBox, writeNumberedVideo } from '../../../../test/fixtures/media/numbered-video.ts'
import { type ServedMedia, serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import type { Encoder } from '../../transcode/encoders.ts'

const PATIENCE = { timeout: 60_000 }
const FRAMES = 250

let media: ServedMedia
let control: ControlClient
let drawn: number

const drawingOf = (n: number): Drawing => ({
  objects: [{ bbox: getNumberBox((n - 1) % FRAMES), label: 'a <b> & "c"', colour: 'person' }],
  shapes: [
    {
      name: 'door',
      type: 'line',
      points: [
        { x: 0.1, y: 0.9 },
        { x: 0.9, y: 0.9 },
      ],
    },
  ],
})

/** Draws into every second frame while the stream has viewers. */
async function analyse() {
  let watched = false
  for (;;) {
    const message = await control.waitForNextMessage('frame').catch(() => undefined)
    if (!message) return
    watched = control.messages.findLast(each => each.type === 'watched')?.watched ?? false
    if (!watched || message.n % 2 === 1) continue
    control.send({ type: 'draw', stream: 'door', n: message.n, drawing: drawingOf(message.n) })
    drawn++
  }
}

beforeEach(() => serve())

const tick = createViewSpec({ format: 'GRAY8', width: 16, height: 16, letterbox: false })

async function serve(encoders?: readonly Encoder[]) {
  drawn = 0
  media = await serveMedia(encoders && { encoders: async () => encoders })
  const path = join(media.folder, 'numbered.mp4')
  await writeNumberedVideo(path, FRAMES)
  control = await media.connectControl()
  const source = createDesiredSource({ id: 1, type: 'inf', url: path, views: { tick } })
  control.send({
    type: 'apply',
    revision: 1,
    sources: [source],
    hosted: [{ name: 'door', source: 1 }],
  })
  await control.message('applied')
  void analyse()
}

/** Reads this many bytes of the HTTP stream. */
async function receive(bytes: number): Promise<Buffer> {
  const leaving = new AbortController()
  const response = await fetch(`${media.url}/streams/door`, { signal: leaving.signal })
  expect(response.headers.get('Content-Type')).toMatch(/^video\/mp4; codecs="avc1\.[0-9a-f]{6}"$/)
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body!) {
    parts.push(part)
    length += part.length
    if (length >= bytes) break
  }
  leaving.abort()
  return Buffer.concat(parts)
}

describe('annotated stream', { timeout: 180_000 }, () => {
  it('plays pictures whose decoder pads its buffers', async () => {
    const source = createDesiredSource({ id: 2, type: 'inf', url: 'test://ball', views: { tick } })
    control.send({
      type: 'apply',
      revision: 2,
      sources: [source],
      hosted: [{ name: 'door', source: 2 }],
    })
    await control.message('applied', ({ revision }) => revision === 2)
    await receive(20_000)
  })

  it('shows only the analysed frames, each with its own box', async () => {
    const path = join(media.folder, 'received.mp4')
    writeFileSync(path, await receive(100_000))
    const pictures = readAnnotatedPictures(path)
    expect(pictures.length).toBeGreaterThan(10)
    expect(pictures.map(({ number }) => number % 2)).toEqual(pictures.map(() => 1))
    expect(pictures.map(({ boxes }) => boxes)).toEqual(
      pictures.map(() => ({ own: true, before: false, after: false })),
    )
  })

  it('is listed by name and is not produced without viewers', async () => {
    const streams = await (await fetch(`${media.url}/streams`)).json()
    expect(streams).toEqual([
      expect.objectContaining({ id: 1 }),
      { id: 'door', source: 1, state: expect.any(String), viewers: 0 },
    ])
    expect(control.messages.some(({ type }) => type === 'watched')).toBe(false)
    await receive(10_000)
    await control.message('watched', ({ watched }) => !watched)
    const before = drawn
    const { n } = await control.waitForNextMessage('frame')
    await control.message('frame', frame => frame.n > n + 10)
    expect(drawn).toBe(before)
  })

  it('provides snapshots', async () => {
    const answer = await fetch(`${media.url}/streams/door/snapshot.jpg`)
    expect(answer.headers.get('Content-Type')).toBe('image/jpeg')
    const jpeg = Buffer.from(await answer.arrayBuffer())
    writeFileSync(join(media.folder, 'picture.jpg'), jpeg)
    const [picture] = readAnnotatedPictures(join(media.folder, 'picture.jpg'))
    expect(picture?.boxes).toEqual({ own: true, before: false, after: false })
  })

  it('ends when it is removed from the configuration', async () => {
    const watching = fetch(`${media.url}/streams/door`).then(response => response.arrayBuffer())
    await control.message('watched')
    await expect.poll(() => drawn, PATIENCE).toBeGreaterThan(5)
    control.send({ type: 'apply', revision: 2, sources: [], hosted: [] })
    expect((await watching).byteLength).toBeGreaterThan(0)
    expect((await fetch(`${media.url}/streams/door`)).status).toBe(404)
  })
})

describe('encoders of an annotated stream', { timeout: 180_000 }, () => {
  it('are replaced by the next best encoder when they fail, without moving boxes', async () => {
    await serve([unavailableEncoder, failingEncoder, workingEncoder])
    const path = join(media.folder, 'received.mp4')
    writeFileSync(path, await receive(100_000))
    const pictures = readAnnotatedPictures(path)
    expect(pictures.length).toBeGreaterThan(10)
    expect(pictures.map(({ boxes }) => boxes)).toEqual(
      pictures.map(() => ({ own: true, before: false, after: false })),
    )
    expect(control.messages.filter(({ type }) => type === 'stream')).toEqual([])
  })

  it('are reported when all have failed and tried again for the next viewer', async () => {
    await serve([unavailableEncoder, failingEncoder])
    const watching = async () => (await fetch(`${media.url}/streams/door`)).arrayBuffer()
    expect((await watching()).byteLength).toBeGreaterThan(0)
    const { reason } = await control.message('stream')
    expect(reason).toMatch(/^the stream door cannot be produced: ./)
    const streams = await (await fetch(`${media.url}/streams`)).json()
    expect(streams).toContainEqual(expect.objectContaining({ id: 'door', reason }))
    const again = control.waitForNextMessage('stream', message => message.reason === undefined)
    const failed = control.waitForNextMessage('stream', message => message.reason !== undefined)
    expect((await watching()).byteLength).toBeGreaterThan(0)
    await Promise.all([again, failed])
  })
})
