import { z } from 'zod'

/**
 * A scaled form of a source's decoded picture.
 *
 * Both of `width` and `height`: exactly that size. One: the other follows the picture's shape, rounded up to
 * `multiple_of`. None: the source's size times `scale`. With `letterbox` the picture keeps its shape and the rest is
 * filled with `fill`; without it the picture is stretched. Equal views of a source are made once.
 */
export const viewSpec = z.strictObject({
  width: z.int().positive().max(8192).optional(),
  height: z.int().positive().max(8192).optional(),
  scale: z.number().positive().max(4).optional(),
  multiple_of: z.int().positive().max(256).default(1),
  /** GStreamer's names; RGBP and BGRP are planar. JPEG pictures keep their shape and are not padded. */
  format: z.enum(['I420', 'GRAY8', 'RGB', 'BGR', 'RGBP', 'BGRP', 'JPEG']),
  /** Of JPEG; 85 by default. */
  quality: z.int().min(1).max(95).optional(),
  letterbox: z.boolean().default(true),
  fill: z.int().min(0).max(255).default(0),
})
export type ViewSpec = z.infer<typeof viewSpec>

/** The cheapest way to learn that there is a new frame, for who reads no picture. Nobody looks at what is in it. */
export const minimalView: ViewSpec = {
  width: 16,
  height: 16,
  multiple_of: 1,
  format: 'GRAY8',
  letterbox: false,
  fill: 0,
}
