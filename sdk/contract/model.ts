import { z } from 'zod'

/** The output format of a model. Inference workers have one decoder for each head. */
export const modelHead = z.enum(['yolox', 'decoded', 'nms'])

/** One number for all colour channels, or one for each. */
const perColour = z
  .array(z.number())
  .refine(({ length }) => length === 1 || length === 3, 'must have one or three numbers')

/**
 * The model card, `model.json` in the model store.
 *
 * Heads, with float32 outputs in pixels of the model input:
 * - `yolox`: raw [1,N,5+C] at strides 8, 16 and 32: offsets, log sizes, objectness and class scores after the sigmoid
 * - `decoded`: [1,N,5+C]: cx, cy, w, h, objectness, class scores; before non-maximum suppression
 * - `nms`: [N,6] or [1,N,6]: x0, y0, x1, y1, score, class; after non-maximum suppression in the graph
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
      /** `uint8`: the graph converts and normalises pixels; `float32`: the graph expects normalised values. */
      dtype: z.enum(['uint8', 'float32']),
      /** Pixels are normalised to (value · scale − mean) / std. The defaults leave them unchanged. */
      scale: z.number().optional(),
      mean: perColour.optional(),
      std: perColour.optional(),
      width: z.int().positive(),
      height: z.int().positive(),
      /** Whether the graph accepts any size that is a multiple of `multiple_of`. */
      dynamic: z.boolean().default(false),
      multiple_of: z.int().positive().default(32),
      /** Pixel value of the padding around frames of another aspect ratio. */
      fill: z.int().min(0).max(255).default(114),
    }),
    /** Groups of classes among which overlapping boxes suppress each other, such as car, truck and bus. */
    suppress_together: z.array(z.array(z.string())).default([]),
    license: z.string().min(1),
    source: z.string().optional(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .meta({ id: 'ModelCard' })
export type ModelCard = z.infer<typeof modelCard>
