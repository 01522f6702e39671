import { defineElement, definePlugin, z } from '@eyrie/element'
import { MotionDetector } from './motion-detector.ts'

/**
 * A pipeline element that detects moving objects of any kind, by comparing each picture with a
 * model of the background.
 */
const motion = defineElement({
  args: z.strictObject({
    min_area: z.number().min(0).max(1).default(0.002).meta({
      description: 'Minimum share of the picture that the moving pixels of an object cover',
    }),
    history: z
      .int()
      .min(1)
      .default(300)
      .meta({ description: 'Number of frames that make up the background model' }),
    threshold: z.number().positive().default(16).meta({
      description:
        'Squared distance from the background, in variances, above which a pixel is moving',
    }),
  }),

  open({ args: { min_area: minArea, history, threshold }, size = { width: 640 } }) {
    let detector: MotionDetector | undefined

    return {
      view: { ...size, multiple_of: 1, format: 'GRAY8', letterbox: false, fill: 0 },

      process(frame, picture) {
        if (!picture) throw new Error('motion reads pixels: add "pixels" to `needs` in plugin.json')

        // The size of the pictures changes when the source reconnects with another resolution.
        if (detector?.width !== picture.width || detector.height !== picture.height) {
          detector?.close()
          detector = new MotionDetector(picture, { minArea, history, threshold })
        }
        if (frame.discontinuity) detector.reset()
        return { objects: [...frame.objects, ...detector.detect(picture)] }
      },

      close: () => detector?.close(),
    }
  },
})

export default definePlugin({ motion })
