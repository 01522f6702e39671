import { defineElement, definePlugin, z } from '@eyrie/element'

/**
 * A score or an overlap, from 0 to 1. Without it, the card of the model decides: 0.3, unless the
 * card has another value.
 */
const threshold = z.number().min(0).max(1).optional().meta({ default: 0.3, defaultFrom: 'model' })

/**
 * A pipeline element that detects objects in each frame with a neural network from the model store.
 */
const infer = defineElement({
  args: z.strictObject({
    model: z.string().min(1).max(200).meta({ description: 'Name of the model' }),
    hw: z
      .enum(['auto', 'cpu', 'igpu', 'gpu'])
      .default('auto')
      .meta({ description: 'Device to run it on' }),
    mode: z
      .enum(['a', 's'])
      .default('a')
      .meta({ description: 'a: high throughput, s: low latency' }),
    score_threshold: threshold.meta({
      description: 'Objects inferred with lower confidence are filtered out',
    }),
    iou_threshold: threshold.meta({
      description: 'Intersection-over-Union ratio used to filter out overlapping bounding boxes',
    }),
  }),

  async open({ args: { model, hw, mode, ...thresholds }, size, inference }) {
    if (!inference) throw new Error('infer runs a model: add "inference" to `needs` in plugin.json')
    const detector = await inference.open({ model, hw, mode, size })
    return {
      get view() {
        return detector.view
      },
      async process(frame) {
        const { objects, lowScoreObjects } = await detector.detect(frame, thresholds)
        return {
          objects: [...frame.objects, ...objects],
          lowScoreObjects: [...frame.lowScoreObjects, ...lowScoreObjects],
        }
      },
      close: () => detector.close(),
    }
  },
})

export default definePlugin({ infer })
