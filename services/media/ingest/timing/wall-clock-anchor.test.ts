import { expect, it } from 'vitest'
import { blockThread } from '../../../../test/fixtures/processes/block-thread.ts'
import { launch, until } from '../../node-gst/launch.fixture.ts'
import { systemClock } from '../../runtime/clock.ts'
import { createWallClockAnchor } from './wall-clock-anchor.ts'

it('pictures that arrive before the start of the pipeline is noticed have correct times', async () => {
  const { pipeline } = launch(
    'videotestsrc is-live=true ! video/x-raw,framerate=50/1 ! appsink name=sink sync=false',
  )
  const origin = { isLive: false, timeline: undefined, usesRtp: false }
  const anchor = createWallClockAnchor({ pipeline, origin, clock: systemClock })
  const timesUs: number[] = []
  pipeline.samples('sink', { queue: 4, full: 'drop-oldest' }, sample => {
    anchor.addPacket(sample)
    timesUs.push(sample.timeUs!)
    sample.release()
  })
  // The start of the pipeline takes long.
  blockThread(300)
  const playedAtUs = Date.now() * 1000
  await pipeline.setState('playing')
  await until(() => timesUs.length >= 5, 'five pictures arrive')
  anchor.start()
  const countBefore = timesUs.length
  await until(() => timesUs.length >= countBefore + 5, 'five more pictures arrive')
  for (const [index, timeUs] of timesUs.entries()) {
    expect(timeUs).toBeGreaterThan(playedAtUs + index * 20_000 - 2_000)
  }
})
