import { defineElement, definePlugin, z } from '@eyrie/element'
import { Tracker } from './tracker.ts'

/**
 * The pipeline element `object-tracking`. It follows the detected objects from frame to frame, and
 * replaces them with objects that have a track id and a trail of their past positions.
 */
const objectTracking = defineElement({
  args: z.strictObject({
    max_age: z.int().min(1).default(30).meta({
      description: 'Number of analysed frames after which a track without a match is deleted',
    }),
    history: z
      .int()
      .min(0)
      .default(50)
      .meta({ description: 'Maximum number of positions in the trail of a track' }),
    sampling_frequency: z.int().min(1).default(1).meta({
      description:
        'Detections are associated on every n-th frame; positions in between are predicted',
    }),
  }),

  open({ args }) {
    const tracker = new Tracker({
      maxAge: args.max_age,
      history: args.history,
      samplingFrequency: args.sampling_frequency,
    })
    return { process: frame => ({ objects: tracker.update(frame), lowScoreObjects: [] }) }
  },
})

export default definePlugin({ 'object-tracking': objectTracking })
