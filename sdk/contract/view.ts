import { z } from 'zod'

/**
 * How the decoded frames of a source are scaled and converted for an element.
 *
 * With both `width` and `height` the result has exactly that size. With one of them the other follows from the aspect
 * ratio, rounded up to `multiple_of`. With neither the result has the size of the source times `scale`. `letterbox`
 * preserves the aspect ratio and pads with `fill`; without it the frame is stretched. Equal views of a source are
 * rendered once.
 */
export const viewSpec = z.strictObject({
  width: z.int().positive().max(8192).optional(),
  height: z.int().positive().max(8192).optional(),
  scale: z.number().positive().max(4).optional(),
  multiple_of: z.int().positive().max(256).default(1),
  /** GStreamer format names. RGBP and BGRP are planar. JPEG frames keep their aspect ratio and are not padded. */
  format: z.enum(['I420', 'GRAY8', 'RGB', 'BGR', 'RGBP', 'BGRP', 'JPEG']),
  /** JPEG quality, 85 by default. */
  quality: z.int().min(1).max(95).optional(),
  letterbox: z.boolean().default(true),
  fill: z.int().min(0).max(255).default(0),
})
export type ViewSpec = z.infer<typeof viewSpec>

/** The cheapest view, for pipelines that need to know about new frames but read no pixels. */
export const minimalView: ViewSpec = {
  width: 16,
  height: 16,
  multiple_of: 1,
  format: 'GRAY8',
  letterbox: false,
  fill: 0,
}
