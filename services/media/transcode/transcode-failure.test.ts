// @module-tag long

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DesiredSource } from '@eyrie/contract'
import { describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createAdjustableClock } from '../../../test/fixtures/manual-clock.ts'
import { createDesiredSource, createViewSpec } from '../../../test/fixtures/media/control-client.ts'
import {
  failingEncoder,
  unavailableEncoder,
  workingEncoder,
} from '../../../test/fixtures/media/encoders.ts'
import { countFrames } from '../../../test/fixtures/media/live-view.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { launch } from '../node-gst/launch.fixture.ts'
import type { Clock } from '../runtime/clock.ts'
import { createEncoders, type Encoder } from './encoders.ts'
import { createTranscoder } from './transcoder.ts'

const picture = {
  ...{ codec: 'raw', width: 320, height: 240, fps: 100 },
  pixelAspect: { numerator: 1, denominator: 1 },
}

it('reports the failure of an encoder without losing pictures for other readers', async () => {
  const source =
    'videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=100/1'
  const { pipeline, message } = launch(
    `${source} ! tee name=pictures pictures. ! queue ! appsink name=main`,
  )
  pipeline.number('pictures', 'sink')
  const numbers: number[] = []
  pipeline.samples('main', { queue: 64, full: 'block' }, sample => {
    numbers.push(sample.offset!)
    sample.release()
  })
  await pipeline.setState('playing')
  const units: number[] = []
  const failures: string[] = []
  const transcoder = createTranscoder(failingEncoder, {
    onTrack: () => {},
    onUnit: ({ pts }) => units.push(pts),
    onInterrupt: () => {},
    onFailure: reason => failures.push(reason),
  })
  await transcoder.attach(pipeline, 'pictures', picture)
  const { error } = await message('error')
  transcoder.onAuxiliaryFailure?.(error)
  expect(failures).toEqual([error.message])
  expect(units.length).toBeGreaterThan(0)
  const before = numbers.length
  await vi.waitUntil(() => numbers.length > before + 50)
  await transcoder.close()
  const after = numbers.length
  await vi.waitUntil(() => numbers.length > after + 50)
  expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i))
})

it('excludes encoders whose device is missing', async () => {
  expect(await createEncoders([unavailableEncoder, workingEncoder])()).toEqual([workingEncoder])
  await expect(createEncoders([unavailableEncoder])()).rejects.toThrow(
    /no H.264 encoder works: run apt-get/,
  )
})

const TICKS = 3_000

describe('ranked encoders', { timeout: 180_000 }, () => {
  /** A looped JPEG clip, transcoded by these encoders. */
  async function serve(
    encoders: readonly Encoder[],
    { clock, recording }: { clock?: Clock } & Pick<DesiredSource, 'recording'> = {},
  ) {
    const media = await serveMedia({ encoders: async () => encoders, ...(clock && { clock }) })
    const path = join(media.folder, 'clip.avi')
    const pictures =
      'videotestsrc num-buffers=90 ! video/x-raw,format=I420,width=320,height=240,framerate=30/1'
    const clip = `${pictures} ! jpegenc ! avimux ! filesink location=${path}`
    execFileSync('gst-launch-1.0', ['-q', ...clip.split(' ')])
    const control = await media.connectControl()
    const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
    await control.apply(
      createDesiredSource({ id: 1, type: 'inf', url: path, decoder: 'gst', views, recording }),
    )
    await control.waitForNextMessage('frame')
    return { media, control, received: join(media.folder, 'received.mp4') }
  }

  /**
   * Watches until the stream ends or a run has this many fragments. A run begins
   * with an init segment.
   */
  function watchRuns(
    media: ServedMedia,
    fragments: number,
  ): Promise<{ runs: Buffer[][]; reason: string }> {
    const runs: Buffer[][] = []
    const socket = new WebSocket(`${media.url.replace('http', 'ws')}/streams/1/ws`)
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) runs.push([])
      else if (runs.at(-1)!.push(data) > fragments) socket.close()
    })
    return new Promise((resolve, reject) => {
      socket.on('close', (_, reason) => resolve({ runs, reason: String(reason) }))
      socket.on('error', reject)
    })
  }

  it('are replaced by the next best when they fail, without disconnecting viewers', async () => {
    const { media, control, received } = await serve([
      unavailableEncoder,
      failingEncoder,
      workingEncoder,
    ])
    const { runs } = await watchRuns(media, 40)
    expect(runs).toHaveLength(2)
    for (const run of runs) {
      writeFileSync(received, Buffer.concat(run))
      expect(countFrames(received)).toBe(run.length - 1)
    }
    // Frame numbers match times: no frame was lost for the analysis.
    const frames = control.messages.flatMap(each => (each.type === 'frame' ? [each] : []))
    const [first] = frames
    expect(frames.filter(({ n, pts }) => pts - first!.pts !== (n - first!.n) * TICKS)).toEqual([])
  })

  it('are not tried again after a failure while others work', async () => {
    const { media } = await serve([failingEncoder, workingEncoder])
    expect((await watchRuns(media, 40)).runs).toHaveLength(2)
    const transcoding = () => media.readMetric('eyrie_media_transcoding', '{source="1"}')
    await vi.waitUntil(async () => (await transcoding()) === 0, 20_000)
    expect((await watchRuns(media, 40)).runs).toHaveLength(1)
  })

  it('report over HTTP why the stream is unavailable', async () => {
    const { media } = await serve([unavailableEncoder])
    const answer = await fetch(`${media.url}/streams/1`)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({
      reason: expect.stringMatching(/^the picture cannot be transcoded: ./),
    })
  })

  it('truncate the reason to the limit of a WebSocket close frame', async () => {
    const name = `no-such-encoder-${'x'.repeat(100)}`
    const { media } = await serve([{ ...unavailableEncoder, name, launch: () => name }])
    const { reason } = await watchRuns(media, 40)
    expect(reason).toMatch(/^the picture cannot be transcoded: no element "no-such-encoder-x+$/)
    expect(reason).toHaveLength(123)
  })

  it('are tried again for a recording half a minute after all have failed', async () => {
    const encoders = [failingEncoder]
    const clock = createAdjustableClock()
    const { media } = await serve(encoders, {
      clock,
      recording: { mode: 'continuous', before_s: 5, after_s: 10, sound: false },
    })
    await watchRuns(media, 40)
    encoders[0] = workingEncoder
    const readBytes = () => media.readMetric('eyrie_media_recorded_bytes_total', '{source="1"}')
    const bytesBefore = await readBytes()
    clock.advance(30_000)
    await vi.waitUntil(async () => (await readBytes()) > bytesBefore + 10_000, 60_000)
  })

  it('are all tried again for the next viewer after all have failed', async () => {
    const { media } = await serve([unavailableEncoder, failingEncoder])
    for (const viewer of ['first', 'second']) {
      const { runs, reason } = await watchRuns(media, 40)
      expect([viewer, reason]).toEqual([
        viewer,
        expect.stringContaining('the picture cannot be transcoded: '),
      ])
      expect(runs.map(run => run.length > 1)).toEqual([true])
    }
  })
})
