import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  judgePicture,
  LEARNED_SAMPLES,
  type PictureReference,
} from '../../management/system-alerts/rules/picture-rules.ts'
import { DEFAULT_SETTINGS } from '../../management/system-alerts/system-alert-settings.ts'
import { Pipeline } from '../node-gst/index.ts'
import { systemClock } from '../runtime/clock.ts'
import { createPictureInspector } from './picture-inspector.ts'

const PICTURE = {
  codec: 'raw',
  width: 1280,
  height: 720,
  pixelAspect: { numerator: 1, denominator: 1 },
  fps: 25,
}

/** Examines the pictures of a live source. `source`: GStreamer's launch string. */
async function inspect(source: string) {
  const pipeline = new Pipeline(
    `${source} ! video/x-raw,format=I420,width=1280,height=720,framerate=25/1 ! tee name=frames allow-not-linked=true`,
    () => {},
  )
  const inspector = createPictureInspector(systemClock)
  onTestFinished(async () => {
    inspector.detach()
    await pipeline.dispose()
  })
  await inspector.attach(pipeline, 'frames', PICTURE)
  await pipeline.setState('playing')
  return { inspector, pipeline }
}

/** The default thresholds of management. */
const { thresholds } = DEFAULT_SETTINGS

const TEST_PICTURE = 'videotestsrc is-live=true pattern=smpte75'

describe('picture inspector', () => {
  it('recognizes a black picture', async () => {
    const { inspector } = await inspect('videotestsrc is-live=true pattern=black')
    const statistics = await vi.waitUntil(inspector.statistics)
    expect(statistics).toMatchObject({ brightness: 16, contrast: 0 })
  })

  it('measures for how long a picture is frozen', async () => {
    const { inspector } = await inspect(TEST_PICTURE)
    await vi.waitUntil(() => (inspector.statistics()?.still_s ?? 0) > 3)
  })

  it('does not take a noisy picture for frozen', async () => {
    const { inspector } = await inspect('videotestsrc is-live=true pattern=snow')
    const first = await vi.waitUntil(inspector.statistics)
    const later = await vi.waitUntil(() => {
      const statistics = inspector.statistics()
      return statistics?.edges === first.edges ? undefined : statistics
    })
    expect(later.still_s).toBeLessThan(2)
  })

  it('measures less sharpness in a blurred picture', async () => {
    const sharp = await inspect(TEST_PICTURE)
    const blurred = await inspect(
      `${TEST_PICTURE} ! video/x-raw,width=1280,height=720 ! videoscale ! video/x-raw,width=80,height=45 ! videoscale method=bilinear`,
    )
    const usual = await vi.waitUntil(sharp.inspector.statistics)
    const soft = await vi.waitUntil(blurred.inspector.statistics)
    expect(soft.sharpness).toBeLessThan(usual.sharpness * 0.4)
  })

  it('distinguishes a camera that has been turned from a change of light', async () => {
    const picture = `${TEST_PICTURE} ! video/x-raw,width=1280,height=720`
    const { inspector: usual } = await inspect(TEST_PICTURE)
    const darker = await inspect(`${picture} ! videobalance brightness=-0.2 contrast=0.8`)
    const turned = await inspect(`${picture} ! videobox left=300 right=-300 top=100 bottom=-100`)
    const learned = await vi.waitUntil(usual.statistics)
    let reference: PictureReference | undefined
    for (let n = 0; n < LEARNED_SAMPLES; n += 1) {
      reference = judgePicture(learned, reference, thresholds).reference
    }
    const judge = async ({ inspector }: typeof darker) =>
      judgePicture(await vi.waitUntil(inspector.statistics), reference, thresholds)
    expect(await judge(darker)).toMatchObject({ moved: 'absent' })
    expect(await judge(turned)).toMatchObject({ moved: 'present' })
  })

  it('ends with its branch, while the pipeline continues', async () => {
    const { inspector } = await inspect(TEST_PICTURE)
    await vi.waitUntil(inspector.statistics)
    await inspector.close()
    expect(inspector.statistics()).toBeUndefined()
  })
})
