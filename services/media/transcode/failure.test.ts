import { expect, test, vi } from 'vitest'
import { launch } from '../node-gst/launch.fixture.ts'
import { createTranscoder } from './transcoder.ts'

const picture = {
  ...{ codec: 'raw', width: 320, height: 240, fps: 100 },
  pixelAspect: { numerator: 1, denominator: 1 },
}

test('an encoder that fails is told of, and those who read the same pictures miss none', async () => {
  const source = 'videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=100/1'
  const { pipeline, message } = launch(`${source} ! tee name=pictures pictures. ! queue ! appsink name=main`)
  pipeline.number('pictures', 'sink')
  const numbers: number[] = []
  pipeline.samples('main', { queue: 64, full: 'block' }, sample => {
    numbers.push(sample.offset!)
    sample.release()
  })
  await pipeline.setState('playing')
  const [units, failures]: [number[], string[]] = [[], []]
  const encoder = {
    most: { width: 1280, height: 960 },
    launch: () => 'openh264enc ! video/x-h264,profile=(string)baseline ! identity error-after=10',
  }
  const transcoder = createTranscoder(encoder, {
    track: () => {},
    unit: ({ pts }) => units.push(pts),
    interrupted: () => {},
    failed: reason => failures.push(reason),
  })
  await transcoder.join(pipeline, 'pictures', picture)
  const { error } = await message('error')
  transcoder.failed?.(error)
  expect(failures).toEqual([error.message])
  expect(units.length).toBeGreaterThan(0)
  const before = numbers.length
  await vi.waitUntil(() => numbers.length > before + 50)
  await transcoder.close()
  const after = numbers.length
  await vi.waitUntil(() => numbers.length > after + 50)
  expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i))
})
