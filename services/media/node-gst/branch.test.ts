import { describe, expect, it } from 'vitest'
import type { Pipeline, Sample } from './index.ts'
import { launch, until } from './launch.fixture.ts'
import { createRing } from './ring.fixture.ts'

const camera = (more = '') =>
  `videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=100/1 ! tee name=frames ${more}`
const small = (name: string) =>
  `queue ! videoscale ! video/x-raw,width=32,height=24 ! appsink name=${name} sync=false`

/** Records the frame numbers that an appsink receives. */
function numbersAt(pipeline: Pipeline, sink: string): number[] {
  const numbers: number[] = []
  pipeline.samples(sink, { queue: 16, full: 'block' }, sample => {
    numbers.push(sample.offset!)
    sample.release()
  })
  return numbers
}

const consecutive = (numbers: number[]) =>
  numbers.every((n, i) => i === 0 || n === numbers[i - 1]! + 1)

describe('branch', () => {
  it('is added and removed fifty times without affecting frames or caps of another branch', async () => {
    const { pipeline, messages } = launch(
      camera('allow-not-linked=true frames. ! queue ! appsink name=main'),
    )
    pipeline.number('frames', 'sink')
    const main: number[] = []
    let capsChanges = 0
    pipeline.samples('main', { queue: 16, full: 'block' }, sample => {
      main.push(sample.offset!)
      if (sample.caps) capsChanges++
      sample.release()
    })
    await pipeline.setState('playing')
    const quiet = messages.length
    for (let round = 0; round < 50; round++) {
      const branch = pipeline.add(small(`sink${round}`), 'frames')
      const numbers = numbersAt(pipeline, `sink${round}`)
      await branch.start()
      await until(() => numbers.length >= 2, 'the branch carries frames')
      await branch.remove()
      expect(consecutive(numbers)).toBe(true)
    }
    await until(() => main.length > 100, 'the main branch has frames')
    expect(consecutive(main)).toBe(true)
    expect(capsChanges).toBe(1)
    expect(messages.slice(quiet).filter(({ type }) => type === 'state-changed')).toEqual([])
  })

  it('receives every frame if it starts before the pipeline', async () => {
    const { pipeline } = launch(camera())
    pipeline.number('frames', 'sink')
    const branch = pipeline.add(small('sink'), 'frames')
    const numbers = numbersAt(pipeline, 'sink')
    await branch.start()
    await pipeline.setState('playing')
    await until(() => numbers.length > 3, 'frames arrive')
    expect(numbers[0]).toBe(1)
  })

  it('takes part in the preroll of a pipeline that has not started', async () => {
    const { pipeline, message } = launch('videotestsrc ! tee name=frames')
    await pipeline.add('queue ! fakesink name=end', 'frames').start()
    await pipeline.setState('paused')
    await message('async-done')
    expect(pipeline.caps('end', 'sink')).not.toBeNull()
  })

  it('ends with the stream, even if it is added when the end has passed the tee', async () => {
    const { ring } = createRing({ width: 32, height: 24, pacing: 'all' })
    const { pipeline, message } = launch(
      `videotestsrc num-buffers=9 ! video/x-raw,format=I420,width=32,height=24 ! tee name=frames
       frames. ! queue ! appsink name=waiting sync=false async=false frames. ! queue ! appsink name=main sync=false async=false`,
    )
    pipeline.number('frames', 'sink')
    pipeline.toRing('waiting', ring, () => {})
    const numbers = numbersAt(pipeline, 'main')
    await pipeline.setState('playing')
    await until(() => numbers.length === 9, 'the tee has passed all frames')
    await pipeline.add('queue ! fakesink async=false', 'frames').start()
    ring.grant(Number.MAX_SAFE_INTEGER)
    await message('eos')
  })

  it('leaves the source playing when the last branch is removed', async () => {
    const { pipeline } = launch(camera())
    const first = pipeline.add(small('first'), 'frames')
    await first.start()
    await pipeline.setState('playing')
    await first.remove()
    const second = pipeline.add(small('second'), 'frames')
    const numbers = numbersAt(pipeline, 'second')
    await second.start()
    await until(() => numbers.length > 2, 'frames arrive')
  })

  it('is removed while its samples are held', async () => {
    const { pipeline } = launch(camera('frames. ! queue ! appsink name=main'))
    pipeline.number('frames', 'sink')
    const main = numbersAt(pipeline, 'main')
    const branch = pipeline.add('queue max-size-buffers=1 ! appsink name=sink sync=false', 'frames')
    const held: Sample[] = []
    pipeline.samples('sink', { queue: 1, full: 'block' }, sample => held.push(sample))
    await pipeline.setState('playing')
    await branch.start()
    await until(() => held.length === 1 && main.length > 0, 'the sample is held')
    await branch.remove()
    const before = main.length
    await until(() => main.length > before + 10, 'the main branch continues')
    expect(consecutive(main)).toBe(true)
    for (const sample of held) sample.release()
  })

  it('is removed while its ring waits for a grant', async () => {
    const { ring } = createRing({ width: 32, height: 24, pacing: 'all' })
    const { pipeline } = launch(camera())
    const numbering = pipeline.number('frames', 'sink')
    const branch = pipeline.add(small('sink'), 'frames')
    pipeline.toRing('sink', ring, () => {})
    await branch.start()
    await pipeline.setState('playing')
    await until(() => numbering.next > 3, 'frames wait')
    await branch.remove()
    const { next } = numbering
    await until(() => numbering.next > next + 3, 'the source continues')
    expect(ring.stats().written).toBe(0)
  })

  it('may be nested, and is removed with the outer branch', async () => {
    const { pipeline } = launch(camera('frames. ! queue ! appsink name=main'))
    const main = numbersAt(pipeline, 'main')
    const outer = pipeline.add('queue ! tee name=inner', 'frames')
    const inner = pipeline.add(small('leaf'), 'inner')
    const leaf = numbersAt(pipeline, 'leaf')
    await inner.start()
    await outer.start()
    await pipeline.setState('playing')
    await until(() => leaf.length > 2, 'the leaf carries frames')
    await outer.remove()
    await inner.remove()
    const [before, leafBefore] = [main.length, leaf.length]
    await until(() => main.length > before + 5, 'the main branch continues')
    expect(leaf.length).toBe(leafBefore)
  })

  it('may be removed in any state, twice, and after its pipeline was disposed of', async () => {
    const { pipeline } = launch(camera())
    const never = pipeline.add(small('never'), 'frames')
    await never.remove()
    await expect(never.start()).rejects.toMatchObject({
      name: 'GstError',
      message: /has been removed/,
    })
    const still = pipeline.add(small('still'), 'frames')
    await still.start()
    await Promise.all([still.remove(), still.remove()])
    const paused = pipeline.add(small('paused'), 'frames')
    await paused.start()
    await pipeline.setState('paused')
    await paused.remove()
    const late = pipeline.add(small('late'), 'frames')
    await late.start()
    await pipeline.dispose()
    await late.remove()
    expect(() => late.start()).toThrow(/disposed/)
  })

  it('is rejected if its launch string is invalid', () => {
    const { pipeline } = launch(camera('frames. ! fakesink name=end'))
    expect(() => pipeline.add('queue ! nosuchelement', 'frames')).toThrow(/nosuchelement/)
    expect(() => pipeline.add('fakesrc ! fakesink', 'frames')).toThrow(
      /no unlinked sink pad.*fakesrc/,
    )
    expect(() => pipeline.add('queue ! fakesink', 'tea')).toThrow(/no element "tea"/)
  })

  it('fails to start if the element is not a tee', async () => {
    const { pipeline } = launch(camera('frames. ! fakesink name=end'))
    await expect(pipeline.add('queue ! fakesink', 'end').start()).rejects.toThrow(
      /end is not a tee/,
    )
  })
})
