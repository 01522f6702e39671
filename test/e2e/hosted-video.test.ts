// @module-tag long

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readAnnotatedPictures } from '../fixtures/media/annotated-picture.ts'
import { writeNumberedVideo } from '../fixtures/media/numbered-video.ts'
import { type EngineProcess, startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { type MediaProcess, startMediaProcess } from '../fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const TOKEN = 'of-the-first'
const POLL = { timeout: 60_000, interval: 500 }

interface Instance {
  media: MediaProcess
  engine: EngineProcess
}

/**
 * Starts media and engine of one instance. It can be restarted with the same ports and data folder.
 */
async function startInstance(
  data: string,
  token: string | undefined,
  ports = { media: '0', engine: '0' },
): Promise<Instance> {
  const variables = {
    EYRIE_MEDIA_ROOTS: data,
    EYRIE_OUTPUT_ROOTS: data,
    ...(token && { EYRIE_INTERNAL_TOKEN: token }),
  }
  const media = await startMediaProcess({ ...variables, EYRIE_MEDIA_PORT: ports.media })
  onTestFinished(media.stop)
  const engine = await startEngineProcess({
    data: join(data, 'engine'),
    media,
    variables: { ...variables, EYRIE_ENGINE_PORT: ports.engine },
  })
  onTestFinished(engine.stop)
  return { media, engine }
}

const readStatus = async ({ engine }: Instance) => (await engine.api.pipelineStatistics(1)).status

describe('hosted video', () => {
  it('is analysed by another instance, which reconnects after the first was killed and restarted', {
    timeout: 240_000,
  }, async () => {
    const [a, b] = [createTemporaryFolder(), createTemporaryFolder()]
    await writeNumberedVideo(join(a, 'numbered.mp4'), 100)
    const first = await startInstance(a, TOKEN)
    const second = await startInstance(b, undefined)
    await first.engine.api.deploy([
      {
        sources: [{ type: 'inf', address: pathToFileURL(join(a, 'numbered.mp4')).href }],
        sinks: [{ type: 'hosted_video', address: 'stream://door' }],
        elements: [{ name: 'read-number' }],
      },
    ])
    await second.engine.api.deploy([
      {
        sources: [
          {
            type: 'hosted_video',
            address: { url: `${first.media.url}/streams/door`, token: TOKEN },
          },
        ],
        sinks: [{ type: 'video', address: pathToFileURL(join(b, 'analysed.mp4')).href }],
        elements: [{ name: 'read-number' }],
      },
    ])
    await vi.waitUntil(async () => (await second.engine.api.pipelineStatistics(1)).fps > 0, POLL)
    await vi.waitFor(() => expect(countFrames(join(b, 'analysed.mp4'))).toBeGreaterThan(20), POLL)

    for (const { media, engine } of [first]) {
      await engine.kill()
      await media.kill()
    }
    await vi.waitUntil(async () => (await readStatus(second)) === 'degraded', POLL)
    await startInstance(a, TOKEN, { media: `${first.media.port}`, engine: `${first.engine.port}` })
    await vi.waitUntil(async () => (await readStatus(second)) === 'running', POLL)
    await vi.waitFor(() => {
      expect(countFrames(join(b, 'analysed.1.mp4'))).toBeGreaterThan(0)
      expect(countFrames(join(b, 'analysed.mp4'))).toBeGreaterThan(5)
    }, POLL)
    await second.engine.stop()

    for (const name of ['analysed.1.mp4', 'analysed.mp4']) {
      const frames = readAnnotatedPictures(join(b, name))
      expect(frames.map(({ boxes }) => boxes)).toEqual(
        frames.map(() => ({ own: true, before: false, after: false })),
      )
    }
  })
})

/**
 * Throws if there is no readable file, as between the rotation of a file and the
 * start of the next one.
 */
const countFrames = (path: string) => readAnnotatedPictures(path).length
