import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createPlan, startTestRuntime } from '../../../../test/fixtures/engine/test-runtime.ts'
import { failingEncoder, workingEncoder } from '../../../../test/fixtures/media/encoders.ts'
import { writeNumberedVideo } from '../../../../test/fixtures/media/numbered-video.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import type { Encoder } from '../../../media/transcode/encoders.ts'

const CANNOT = /^the stream door cannot be produced: ./

it('reports its channels as degraded while the stream cannot be encoded', {
  timeout: 120_000,
}, async () => {
  let encoders: Encoder[] = [failingEncoder]
  const media = await serveMedia({ encoders: async () => encoders })
  const url = join(media.folder, 'numbered.mp4')
  await writeNumberedVideo(url, 100)
  const nowhere = join(media.folder, 'nothing')
  const test = await startTestRuntime({
    mediaUrl: media.url,
    plugins: nowhere,
    models: nowhere,
    ring: media.environment.ring,
  })
  onTestFinished(() => test.stop())
  const plan = createPlan({ url, type: 'inf', pacing: 'realtime' }, [{ name: 'read-number' }])
  await test.runtime.apply({
    ...plan,
    pipelines: plan.pipelines.map(pipeline => ({ ...pipeline, sinks: [1] })),
    sinks: [{ id: 1, type: 'hosted_video', address: 'stream://door', filter: [] }],
  })
  /** On a busy machine the channels may also be overloaded. */
  const isMade = (made: boolean) =>
    vi.waitUntil(() => {
      const { data } = test.getPublished('state', 1).at(-1) ?? {}
      const hasBegun = data?.state === 'running' || data?.state === 'degraded'
      return hasBegun && CANNOT.test(data.reason ?? '') !== made
    }, 180_000)
  await isMade(true)

  const watching = await fetch(`${media.url}/streams/door`)
  await watching.arrayBuffer()
  await isMade(false)
  expect(test.runtime.pipelineStatistics(1)).toMatchObject({
    status: 'degraded',
    reason: expect.stringMatching(CANNOT),
  })

  encoders = [workingEncoder]
  const leaving = new AbortController()
  await fetch(`${media.url}/streams/door`, { signal: leaving.signal })
  await isMade(true)
  leaving.abort()
})
