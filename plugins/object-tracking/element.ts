import { defineElement, definePlugin, z } from '@eyrie/element'
import { Tracker } from './tracker.ts'

const objectTracking = defineElement({
  args: z.strictObject({
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
    sampling_frequency: z.int().min(1).default(1).meta({
      description: 'Detections are associated on every n-th frame, positions between are predicted',
    }),
  }),

  open({ args: { max_age: maxAge, history, sampling_frequency: samplingFrequency } }) {
    const tracker = new Tracker({ maxAge, history, samplingFrequency })
    return { process: frame => ({ objects: tracker.next(frame) }) }
  },
})

export default definePlugin({ 'object-tracking': objectTracking })
