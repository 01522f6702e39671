import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { startEngineProcess } from '../../../../test/fixtures/processes/engine-process.ts'
import { listLiveChannels, toSourceName } from './live-channels.ts'
import { createUpstream } from './upstream-client.ts'

it.each([
  ['/data/media/town square.mp4', 'town square.mp4'],
  ['file:///data/media/town%20square.mp4', 'town square.mp4'],
  ['rtsp://admin:secret@10.0.0.7:554/cam/1?channel=2', '10.0.0.7:554/cam/1'],
  ['test://ball', 'ball'],
])('names a source at %s "%s"', (address, name) => {
  expect(toSourceName(address)).toBe(name)
  expect(toSourceName({ url: address })).toBe(name)
})

it('reports connection attempts and the seconds to the next one for an unreachable camera', {
  timeout: 120_000,
}, async () => {
  const media = await serveMedia()
  const engine = await startEngineProcess({ data: join(media.folder, 'engine'), media })
  onTestFinished(engine.stop)
  await engine.api.deploy([
    {
      // Nothing listens on the discard port.
      sources: [{ type: 'video', address: 'rtsp://127.0.0.1:9/stream' }],
      elements: [{ name: 'motion' }],
    },
  ])
  const upstreams = [
    createUpstream({ name: 'engine', url: engine.url, token: undefined }),
    createUpstream({ name: 'media', url: media.url, token: undefined }),
  ] as const
  // On a busy machine, a service may not answer within the time limit.
  await vi.waitFor(async () => {
    const [channel] = await listLiveChannels(...upstreams)
    expect(channel).toMatchObject({
      source: {
        id: 1,
        name: '127.0.0.1:9/stream',
        next_try_s: expect.any(Number),
        never_connected: true,
      },
      reason: expect.stringContaining('rtsp://127.0.0.1:9/stream'),
    })
    const { attempts, next_try_s: nextTryS } = channel!.source
    expect(attempts).toBeGreaterThanOrEqual(2)
    expect(nextTryS).toBeLessThanOrEqual(30)
  }, 180_000)
})
