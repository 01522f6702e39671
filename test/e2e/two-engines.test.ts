// @module-tag long

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { numberedShape, writeNumberedVideo } from '../fixtures/media/numbered-video.ts'
import { findFreePort } from '../fixtures/network/free-ports.ts'
import { type EngineProcess, startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { type MediaProcess, startMediaProcess } from '../fixtures/processes/media-process.ts'

const POLL = { timeout: 60_000, interval: 50 }

interface FrameMessage {
  pipeline: number
  pts: number
  time: string
  epoch: number
  data: { objects: { bbox: { x: number }; track?: number }[] }
}

let folder: string
let running: { engine: EngineProcess; media: MediaProcess }[]
let sockets: WebSocket[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-two-'))
  running = []
  sockets = []
  await writeNumberedVideo(join(folder, 'numbered.mp4'), numberedShape.fps * 8)
})
afterEach(async () => {
  for (const socket of sockets) socket.close()
  for (const { engine, media } of running) {
    await engine.stop()
    await media.stop()
  }
  rmSync(folder, { recursive: true })
})

/** Starts an engine and its media as processes. */
async function start(name: string) {
  const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
  const variables = { EYRIE_MEDIA_ROOTS: folder }
  const engine = await startEngineProcess({ data: join(folder, name), media, variables })
  const pair = { engine, media }
  running.push(pair)
  return pair
}

/** Returns an array to which the frames are added that the engine analyses from now on. */
function collectFrames({ url }: EngineProcess): FrameMessage[] {
  const frames: FrameMessage[] = []
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v3/output?kinds=frame`)
  socket.on('message', data => {
    const message = JSON.parse(String(data))
    if (message.kind === 'frame') frames.push(message)
  })
  socket.on('error', () => {})
  sockets.push(socket)
  return frames
}

const mapPositions = (frames: FrameMessage[]) =>
  new Map(frames.map(({ time, data }) => [time, data.objects[0]?.bbox.x]))

describe('engine with a ZeroMQ source', () => {
  it('processes the detections of another engine, also after that was killed and restarted', {
    timeout: 300_000,
  }, async () => {
    const endpoint = `tcp://127.0.0.1:${await findFreePort()}`
    const sender = await start('sender')
    await sender.engine.api.deploy([
      {
        sources: [{ type: 'inf', address: join(folder, 'numbered.mp4') }],
        sinks: [{ type: 'zmq', address: `${endpoint}?topic=street/` }],
        elements: [{ name: 'read-number' }],
      },
    ])
    const receiver = await start('receiver')
    const source = { type: 'zmq' as const, address: `${endpoint}?topic=street/` }
    await receiver.engine.api.deploy([
      { sources: [source], elements: [{ name: 'object-tracking' }] },
      { sources: [source], elements: [{ name: 'read-number' }] },
    ])

    const sent = collectFrames(sender.engine)
    const received = collectFrames(receiver.engine)
    const tracked = () => received.filter(({ pipeline }) => pipeline === 1)
    const read = () => received.filter(({ pipeline }) => pipeline === 2)
    await vi.waitUntil(() => tracked().length >= 10 && read().length >= 10, POLL)

    // Both engines read the same number from the same frame.
    const sentPositions = mapPositions(sent)
    const compared = [...mapPositions(read())].filter(([time]) => sentPositions.has(time))
    expect(compared.length).toBeGreaterThan(0)
    for (const [time, position] of compared) expect(position).toBe(sentPositions.get(time))
    const objects = tracked().flatMap(({ data }) => data.objects)
    expect(objects.some(({ track }) => track !== undefined)).toBe(true)

    await sender.engine.kill()
    const before = tracked().at(-1)!
    const count = tracked().length
    const variables = { EYRIE_MEDIA_ROOTS: folder }
    sender.engine = await startEngineProcess({
      data: join(folder, 'sender'),
      media: sender.media,
      variables,
    })
    await vi.waitUntil(() => tracked().length >= count + 10, POLL)
    const after = tracked().at(-1)!
    expect(after.pts).toBeGreaterThan(before.pts)
    expect(after.epoch).toBe(before.epoch)
  })
})
