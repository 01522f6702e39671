import { z } from 'zod'

/**
 * A view: how the decoded frames of a source are scaled and converted for an element, which is one
 * step of a pipeline, such as a detector. Equal views of a source are rendered only once.
 *
 * With `width` and `height`, the picture has exactly that size. With only one of them, the other
 * one follows from the aspect ratio, rounded up to `multiple_of`. With neither, the picture has the
 * size of the source times `scale`.
 */
export const viewSpec = z.strictObject({
  width: z.int().positive().max(8192).optional(),
  height: z.int().positive().max(8192).optional(),
  scale: z.number().positive().max(4).optional(),
  multiple_of: z.int().positive().max(256).default(1),
  /**
   * Names of GStreamer formats. RGBP and BGRP are planar. JPEG pictures preserve the aspect ratio
   * and have no padding.
   */
  format: z.enum(['I420', 'GRAY8', 'RGB', 'BGR', 'RGBP', 'BGRP', 'JPEG']),
  /** JPEG quality, 85 by default. */
  quality: z.int().min(1).max(95).optional(),
  /**
   * Whether the aspect ratio is preserved and the remaining area filled. Otherwise the
   * picture is stretched.
   */
  letterbox: z.boolean().default(true),
  /** Value of every channel of a padding pixel. */
  fill: z.int().min(0).max(255).default(0),
})
export type ViewSpec = z.infer<typeof viewSpec>

/** The cheapest view, for pipelines that are notified of frames but read no pixels. */
export const MINIMAL_VIEW: ViewSpec = {
  width: 16,
  height: 16,
  multiple_of: 1,
  format: 'GRAY8',
  letterbox: false,
  fill: 0,
}
