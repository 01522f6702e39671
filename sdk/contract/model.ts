import { z } from 'zod'

/** How a model's output becomes boxes; each head is a decoder of the engine's inference workers. */
export const modelHead = z.enum(['yolox', 'decoded', 'nms'])

/** One number for all colours, or one each. */
const perColour = z
  .array(z.number())
  .refine(({ length }) => length === 1 || length === 3, 'one number or three')

/**
 * `model.json` in the model store.
 *
 * Heads, each with float32 outputs in input pixels:
 * - `yolox`: raw [1,N,5+C] at strides 8, 16, 32: offsets, log sizes, objectness and class scores after the sigmoid
 * - `decoded`: [1,N,5+C]: cx, cy, w, h, objectness, class scores; suppression still to be done
 * - `nms`: [N,6] or [1,N,6]: x0, y0, x1, y1, score, class; suppression done in the graph
 */
export const modelCard = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
    task: z.enum(['detect', 'classify', 'embed', 'segment', 'pose']),
    head: modelHead,
    labels: z.array(z.string().min(1)).min(1),
    input: z.strictObject({
      name: z.string(),
      layout: z.enum(['nchw', 'nhwc']),
      color: z.enum(['rgb', 'bgr']),
      /** With `uint8` the graph casts and normalises; with `float32` it is handed normalised values. */
      dtype: z.enum(['uint8', 'float32']),
      /** Pixels become (value · scale − mean) / std; without these they stay as they are. */
      scale: z.number().optional(),
      mean: perColour.optional(),
      std: perColour.optional(),
      width: z.int().positive(),
      height: z.int().positive(),
      /** Whether the graph takes any size that is a multiple of `multiple_of`. */
      dynamic: z.boolean().default(false),
      multiple_of: z.int().positive().default(32),
      /** Value of the padding around a picture of another shape. */
      fill: z.int().min(0).max(255).default(114),
    }),
    /** Classes that suppress one another, such as car, truck and bus. */
    suppress_together: z.array(z.array(z.string())).default([]),
    license: z.string().min(1),
    source: z.string().optional(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .meta({ id: 'ModelCard' })
export type ModelCard = z.infer<typeof modelCard>
