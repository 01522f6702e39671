import { defineElement, definePlugin, z } from '@eyrie/element'

const side = z.int().min(1).max(8192)

const imageResize = defineElement({
  args: z.xor([
    z.strictObject({ width: side, height: side }),
    z.strictObject({ scale: z.number().positive().max(4) }),
  ]),

  open: ({ args }) => ({ size: args, process: () => ({}) }),
})

export default definePlugin({ 'image-resize': imageResize })
