import { defineElement, definePlugin, z } from '@eyrie/element'
import { Tracker } from './tracker.ts'

const objectTracking = defineElement({
  args: z.strictObject({
    max_age: z
      .int()
      .min(1)
      .default(30)
      .meta({ description: 'Number of analysed frames after which a track without a match is deleted' }),
    history: z
      .int()
      .min(0)
      .default(50)
      .meta({ description: 'Maximum number of positions in the trail of a track' }),
    sampling_frequency: z.int().min(1).default(1).meta({
      description: 'Detections are associated on every n-th frame; positions in between are predicted',
    }),
  }),

  open({ args: { max_age: maxAge, history, sampling_frequency: samplingFrequency } }) {
    const tracker = new Tracker({ maxAge, history, samplingFrequency })
    return { process: frame => ({ objects: tracker.update(frame) }) }
  },
})

export default definePlugin({ 'object-tracking': objectTracking })
