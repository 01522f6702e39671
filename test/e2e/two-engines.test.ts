import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type EngineProcess, startEngineProcess } from '../fixtures/engine-process.ts'
import { freePort } from '../fixtures/free-ports.ts'
import { type Media, startMedia } from '../fixtures/media.ts'
import { numbered, writeNumberedVideo } from '../fixtures/numbered-video.ts'

const PATIENCE = { timeout: 60_000, interval: 50 }

interface Seen {
  pipeline: number
  pts: number
  time: string
  epoch: number
  data: { objects: { bbox: { x: number }; track?: number }[] }
}

let folder: string
let running: { engine: EngineProcess; media: Media }[]
let sockets: WebSocket[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-two-'))
  running = []
  sockets = []
  await writeNumberedVideo(join(folder, 'numbered.mp4'), numbered.fps * 8)
})
afterEach(async () => {
  for (const socket of sockets) socket.close()
  for (const { engine, media } of running) {
    await engine.stop()
    await media.stop()
  }
  rmSync(folder, { recursive: true })
})

/** An engine with its media, each in a process of its own. */
async function start(name: string) {
  const media = await startMedia({ EYRIE_MEDIA_ROOTS: folder })
  const variables = { EYRIE_RING: media.environment.ring, EYRIE_MEDIA_ROOTS: folder }
  const engine = await startEngineProcess({ data: join(folder, name), mediaUrl: media.url, variables })
  const pair = { engine, media }
  running.push(pair)
  return pair
}

/** Frames that the engine has analysed since now. */
function watch({ url }: EngineProcess): Seen[] {
  const seen: Seen[] = []
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v3/output?kinds=frame`)
  socket.on('message', data => {
    const message = JSON.parse(String(data))
    if (message.kind === 'frame') seen.push(message)
  })
  socket.on('error', () => {})
  sockets.push(socket)
  return seen
}

const placesIn = (seen: Seen[]) => new Map(seen.map(({ time, data }) => [time, data.objects[0]?.bbox.x]))

it('one engine finds, another goes on with it, and again when the first was killed and has come back', {
  timeout: 300_000,
}, async () => {
  const endpoint = `tcp://127.0.0.1:${await freePort()}`
  const finder = await start('finder')
  await finder.engine.api.deploy([
    {
      sources: [{ type: 'inf', address: join(folder, 'numbered.mp4') }],
      sinks: [{ type: 'zmq', address: `${endpoint}?topic=street/` }],
      elements: [{ name: 'read-number' }],
    },
  ])
  const follower = await start('follower')
  const source = { type: 'zmq' as const, address: `${endpoint}?topic=street/` }
  await follower.engine.api.deploy([
    { sources: [source], elements: [{ name: 'object-tracking' }] },
    { sources: [source], elements: [{ name: 'read-number' }] },
  ])

  const found = watch(finder.engine)
  const followed = watch(follower.engine)
  const tracked = () => followed.filter(({ pipeline }) => pipeline === 1)
  const read = () => followed.filter(({ pipeline }) => pipeline === 2)
  await vi.waitUntil(() => tracked().length >= 10 && read().length >= 10, PATIENCE)

  // What was read off the pictures that came is what the sender had found in the same ones.
  const sent = placesIn(found)
  const compared = [...placesIn(read())].filter(([time]) => sent.has(time))
  expect(compared.length).toBeGreaterThan(0)
  for (const [time, place] of compared) expect(place).toBe(sent.get(time))
  const objects = tracked().flatMap(({ data }) => data.objects)
  expect(objects.some(({ track }) => track !== undefined)).toBe(true)

  await finder.engine.kill()
  const before = tracked().at(-1)!
  const count = tracked().length
  const variables = { EYRIE_RING: finder.media.environment.ring, EYRIE_MEDIA_ROOTS: folder }
  finder.engine = await startEngineProcess({
    data: join(folder, 'finder'),
    mediaUrl: finder.media.url,
    variables,
  })
  await vi.waitUntil(() => tracked().length >= count + 10, PATIENCE)
  const after = tracked().at(-1)!
  expect(after.pts).toBeGreaterThan(before.pts)
  expect(after.epoch).toBe(before.epoch)
})
