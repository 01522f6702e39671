import {
  DEFAULT_REGION_RATIO,
  defineElement,
  definePlugin,
  detectedObject,
  point,
  region,
  z,
} from '@eyrie/element'
import { OcTracker } from './oc-tracker.ts'

const args = z.strictObject({
  max_age: z.int().min(1).default(30).meta({
    description: 'Number of analysed frames after which a track without a match is deleted',
  }),
  history: z
    .int()
    .min(0)
    .default(50)
    .meta({ description: 'Maximum number of positions in the trail of a track' }),
  min_hits: z
    .int()
    .min(1)
    .default(3)
    .meta({ description: 'Number of matches after which a track is confirmed' }),
  region: region.default('bottom').meta({
    description: 'Part of the box that represents the object; the trail follows its center',
  }),
  ratio: z
    .number()
    .gt(0)
    .max(1)
    .default(DEFAULT_REGION_RATIO)
    .meta({
      description:
        'Share of the box that the region covers: of its height for top and bottom, ' +
        'of its width for left and right, of both for center',
    }),
  moving_average: z
    .int()
    .min(1)
    .default(5)
    .meta({ description: 'Number of positions averaged to smooth the trail' }),
})

/**
 * A pipeline element that follows detected objects from frame to frame, and gives each a
 * track number. OH means occlusion handling: an object keeps its number while others hide it.
 */
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

  open({ args: { max_age, min_hits, moving_average, ...trail } }) {
    const tracker = new OcTracker({
      ...trail,
      maxAge: max_age,
      minHits: min_hits,
      movingAverage: moving_average,
    })
    return { process: frame => ({ objects: tracker.update(frame), lowScoreObjects: [] }) }
  },
})

export default definePlugin({ 'object-tracking-OH': objectTrackingOH })
