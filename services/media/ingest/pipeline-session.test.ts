import { createLog } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../runtime/clock.ts'
import { openPattern } from './pattern/pattern-origin.ts'
import { createPipelineSession } from './pipeline-session.ts'

describe('pipeline session', () => {
  it('ends as lost, with the reason, when a packet cannot be processed', async () => {
    const session = createPipelineSession({
      origin: openPattern('test://ball?width=64&height=64'),
      codec: 'h264',
      unpaced: true,
      ptsOffset: 0,
      clock: systemClock,
      log: createLog('media', 'silent'),
      onSample() {
        throw new RangeError('the width is out of range')
      },
      onAuxiliaryFailure: () => {},
      onClock: () => {},
      onLoss: () => {},
    })
    const outcome = await session.play(new AbortController().signal)
    await session.pipeline.dispose()
    expect(outcome).toMatchObject({ end: 'lost', fault: { transient: true } })
    expect(outcome.end === 'lost' && outcome.fault.message).toBe(
      'test://ball?width=64&height=64 stopped: its data cannot be processed: the width is out of range',
    )
  })
})
