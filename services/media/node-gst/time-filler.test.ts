import { TICKS_PER_SECOND } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { launch } from './launch.fixture.ts'

const MS = 1e6

/** Returns the timestamps in ns of buffers with these timestamps, after they were filled. */
async function fill(timesNs: (number | undefined)[]): Promise<(number | null)[]> {
  const { pipeline, message } = launch(
    'appsrc name=source format=time ! identity name=filled ! appsink name=sink sync=false async=false',
  )
  pipeline.fillTimes('filled', 'sink')
  const filled: (number | null)[] = []
  pipeline.samples('sink', { queue: 8, full: 'block' }, sample => {
    filled.push(sample.bufferPtsNs)
    sample.release()
  })
  await pipeline.setState('playing')
  for (const ptsNs of timesNs) {
    pipeline.push('source', Uint8Array.of(0), ptsNs === undefined ? {} : { ptsNs })
  }
  pipeline.endOfStream('source')
  await message('eos')
  return filled
}

const toTicks = (ns: number | null) => Math.round((ns! * TICKS_PER_SECOND) / 1e9)

describe('filled times', () => {
  it('remain if they increase', async () => {
    expect(await fill([0, 40 * MS, 80 * MS])).toEqual([0, 40 * MS, 80 * MS])
  })

  it('increase by a tick for each buffer without a time', async () => {
    const filled = await fill([40 * MS, undefined, undefined, 80 * MS, undefined])
    expect(filled.map(toTicks)).toEqual([3600, 3601, 3602, 7200, 7201])
  })

  it('increase after a time that is not later than the previous one', async () => {
    expect((await fill([40 * MS, 40 * MS, 0, 80 * MS])).map(toTicks)).toEqual([
      3600, 3601, 3602, 7200,
    ])
  })

  it('are missing before the first time', async () => {
    expect(await fill([undefined, 40 * MS])).toEqual([null, 40 * MS])
  })
})
