import { defineElement, definePlugin, z } from '@eyrie/element'

/** Reports an event when more objects of a class are visible than the limit. */
const exampleElement = defineElement({
  args: z.strictObject({
    class: z.string().default('person').meta({ description: 'Class of the objects' }),
    limit: z
      .int()
      .min(0)
      .default(10)
      .meta({ description: 'Number of objects that is not reported yet' }),
  }),
  events: {
    crowd: z.object({ count: z.int() }),
  },
  state: () => ({ isCrowded: false }),

  process({ objects }, { args, state }) {
    const count = objects.filter(object => object.class === args.class).length
    const wasCrowded = state.isCrowded
    state.isCrowded = count > args.limit
    return state.isCrowded && !wasCrowded ? { events: [{ type: 'crowd', count }] } : {}
  },
})

export default definePlugin({ 'example-element': exampleElement })
