import { defaultRatio, defineElement, definePlugin, detectedObject, point, region, z } from '@eyrie/element'
import { Tracker } from './tracker.ts'

const args = z.strictObject({
  max_age: z
    .int()
    .min(1)
    .default(30)
    .meta({ description: 'Analysed frames that a track lives without a match' }),
  history: z
    .int()
    .min(0)
    .default(50)
    .meta({ description: 'Past positions kept with each track (its trail)' }),
  min_hits: z.int().min(1).default(3).meta({ description: 'Matches before a track is shown' }),
  region: region
    .default('bottom')
    .meta({ description: 'Part of the box that stands for the object; the trail follows its centre' }),
  ratio: z.number().gt(0).max(1).default(defaultRatio).meta({
    description: "Share of the box's height (left, right: width; center: both) that the part covers",
  }),
  moving_average: z.int().min(1).default(5).meta({ description: 'Positions averaged to smooth the path' }),
})

const objectTrackingOH = defineElement({
  args,
  input: z.object({ objects: z.array(detectedObject) }),
  output: z.object({
    objects: z.array(
      detectedObject
        .required({ track: true })
        .extend({ attributes: z.looseObject({ trail: z.array(point).min(1) }).optional() }),
    ),
  }),

  open({ args: { max_age: maxAge, min_hits: minHits, moving_average: movingAverage, ...rest } }) {
    const tracker = new Tracker({ maxAge, minHits, movingAverage, ...rest })
    return { process: frame => ({ objects: tracker.next(frame) }) }
  },
})

export default definePlugin({ 'object-tracking-OH': objectTrackingOH })
