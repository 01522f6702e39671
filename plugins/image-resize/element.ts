import { defineElement, definePlugin, z } from '@eyrie/element'

/** Length of a side of the picture, in pixels. */
const side = z.int().min(1).max(8192)

/**
 * A pipeline element that sets the size of the pictures for the following elements,
 * either in pixels or relative to the source. The engine scales the pictures, so there is
 * nothing to process here.
 */
const imageResize = defineElement({
  args: z.xor([
    z.strictObject({ width: side, height: side }),
    z.strictObject({ scale: z.number().positive().max(4) }),
  ]),

  open: ({ args }) => ({ size: args, process: () => ({}) }),
})

export default definePlugin({ 'image-resize': imageResize })
