import { defineElement, definePlugin, z } from '@eyrie/element'

/** Reports an event when the picture becomes dark, and when it is bright again. */
const exampleElement = defineElement({
  args: z.strictObject({
    limit: z
      .number()
      .min(0)
      .max(1)
      .default(0.1)
      .meta({ description: 'Mean brightness below which it is dark' }),
  }),
  events: {
    dark: z.object({ brightness: z.number() }),
    bright: z.object({ brightness: z.number() }),
  },
  // The smallest picture that is sufficient costs the least. The manifest declares
  // its format and size.
  view: { format: 'GRAY8', width: 64, height: 36, multiple_of: 1, letterbox: false, fill: 0 },
  state: () => ({ isDark: false }),

  process(_, { args, state, picture, metrics }) {
    const pixels = picture!.data
    const brightness = pixels.reduce((sum, pixel) => sum + pixel, 0) / pixels.length / 255
    metrics.set('brightness', brightness)
    const wasDark = state.isDark
    state.isDark = brightness < args.limit
    return state.isDark === wasDark
      ? {}
      : { events: [{ type: state.isDark ? 'dark' : 'bright', brightness }] }
  },
})

export default definePlugin({ 'example-element': exampleElement })
