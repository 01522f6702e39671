import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { numberedShape, writeNumberedVideo } from '../fixtures/media/numbered-video.ts'
import { decodeGreyPictures } from '../fixtures/media/test-video.ts'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const POLL = { timeout: 60_000, interval: 50 }

interface Track {
  codec_type: string
  nb_read_packets: string
}

function readTracks(path: string): Track[] {
  const args = [
    '-v',
    'error',
    '-count_packets',
    '-show_entries',
    'stream=codec_type,nb_read_packets',
    '-of',
    'json',
  ]
  return JSON.parse(execFileSync('ffprobe', [...args, path], { encoding: 'utf8' })).streams
}

describe('video sink', () => {
  it('keeps a file playable up to its last frame after the engine is killed, and starts a new one', {
    timeout: 180_000,
  }, async () => {
    const data = createTemporaryFolder()
    await writeNumberedVideo(join(data, 'numbered.mp4'), 100)
    const variables = { EYRIE_MEDIA_ROOTS: data, EYRIE_OUTPUT_ROOTS: data }
    const media = await startMediaProcess(variables)
    onTestFinished(media.stop)
    const start = async () => {
      const engine = await startEngineProcess({ data: join(data, 'engine'), media, variables })
      onTestFinished(engine.stop)
      return engine
    }
    const path = join(data, 'out', 'door.mp4')
    const killed = await start()
    await killed.api.deploy([
      {
        sources: [{ type: 'inf', address: pathToFileURL(join(data, 'numbered.mp4')).href }],
        sinks: [{ type: 'video', address: pathToFileURL(path).href }],
        elements: [{ name: 'read-number' }],
      },
    ])
    await vi.waitUntil(() => existsSync(path) && statSync(path).size > 40_000, POLL)
    await killed.kill()

    const [picture, metadata] = readTracks(path)
    expect([picture?.codec_type, metadata?.codec_type]).toEqual(['video', 'data'])
    expect(Number(metadata?.nb_read_packets)).toBeGreaterThan(10)
    // GStreamer decodes every frame, too.
    expect(await decodeGreyPictures(path, numberedShape)).toHaveLength(
      Number(picture?.nb_read_packets),
    )

    const size = statSync(path).size
    await start()
    await vi.waitUntil(() => existsSync(join(data, 'out', 'door.1.mp4')), POLL)
    expect(statSync(join(data, 'out', 'door.1.mp4')).size).toBe(size)
    await vi.waitUntil(() => existsSync(path) && statSync(path).size > 10_000, POLL)
    expect(readdirSync(join(data, 'out')).sort()).toEqual(['door.1.mp4', 'door.mp4'])
  })
})
