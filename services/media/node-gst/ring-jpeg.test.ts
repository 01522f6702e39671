import { describe, expect, it } from 'vitest'
import { launch } from './launch.fixture.ts'
import { createRing } from './ring.fixture.ts'

const caps = 'video/x-raw,format=I420,width=64,height=48,framerate=30/1'

describe('JPEG frame in a ring', () => {
  it('has its number and length', async () => {
    const shape = {
      format: 'JPEG',
      width: 64,
      height: 48,
      fill: [],
      slots: 8,
      payloadLimit: 64 * 48 * 2,
    }
    const { ring, view } = createRing(shape)
    const { pipeline, message } = launch(
      `videotestsrc pattern=snow num-buffers=6 ! ${caps} ! tee name=frames ` +
        'frames. ! queue ! jpegenc ! tee name=encoded encoded. ! queue ! appsink name=sink sync=false ' +
        'encoded. ! queue ! appsink name=ring sync=false',
    )
    pipeline.number('frames', 'sink', { start: 3 })
    const expected: Buffer[] = []
    pipeline.samples('sink', { queue: 2, full: 'block' }, sample => {
      expected.push(Buffer.from(sample.data))
      sample.release()
    })
    pipeline.toRing('ring', ring, () => {})
    await pipeline.setState('playing')
    await message('eos')
    expect(view.format()).toBe('JPEG')
    const written = [3, 4, 5, 6, 7, 8].map(n => view.payload(n).subarray(0, view.payloadBytes(n)))
    expect(written).toEqual(expected)
    expect(view.sequence(8)).toBe(16)
  })

  it('is dropped if it exceeds the slot', async () => {
    const { ring } = createRing({ format: 'JPEG', fill: [], payloadLimit: 100 })
    const { pipeline, message } = launch(
      `videotestsrc pattern=snow num-buffers=3 ! ${caps} ! identity name=numbered ! jpegenc ! appsink name=sink sync=false`,
    )
    pipeline.number('numbered', 'src')
    pipeline.toRing('sink', ring, () => {})
    await pipeline.setState('playing')
    const warning = await message('warning')
    expect(warning.error.message).toMatch(/it has \d+ bytes, more than the slot size of 100/)
    await message('eos')
    expect(ring.stats()).toMatchObject({ written: 0, dropped: 3 })
  })
})
