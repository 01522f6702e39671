import { z } from 'zod'

/** The name of a model, and of its folder. */
export const modelName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/)

/** The head of a model: the format of its output. `modelCard` describes each head. */
export const modelHead = z.enum(['yolox', 'decoded', 'nms'])

/** One number for all colour channels, or one number for each channel. */
const perColour = z
  .array(z.number())
  .refine(({ length }) => length === 1 || length === 3, 'must have one or three numbers')

/** The score and overlap thresholds of models whose card has no others. */
export const DEFAULT_THRESHOLD = 0.3

/** A score or an overlap. */
const share = z.number().min(0).max(1)

/**
 * The card of a model: the properties that its ONNX graph does not contain. The model store has the
 * card of each model in `model.json`.
 *
 * Outputs are float32, in pixels of the model input. Their shape and columns depend on the head; N
 * is the number of rows, C the number of classes:
 * - `yolox`: [1,N,5+C] at strides 8, 16 and 32: offsets, log sizes, objectness and class
 *   scores after the sigmoid
 * - `decoded`: [1,N,5+C]: center x, center y, width, height, objectness, class scores; before
 *   non-maximum suppression
 * - `nms`: [N,6] or [1,N,6]: x0, y0, x1, y1, score, class; after non-maximum
 *   suppression in the graph
 */
export const modelCard = z
  .strictObject({
    name: modelName,
    task: z.enum(['detect', 'classify', 'embed', 'segment', 'pose']),
    head: modelHead,
    labels: z.array(z.string().min(1)).min(1),
    input: z.strictObject({
      name: z.string(),
      layout: z.enum(['nchw', 'nhwc']),
      color: z.enum(['rgb', 'bgr']),
      /**
       * `uint8`: the graph converts and normalizes pixels; `float32`: the graph
       * expects normalized values.
       */
      dtype: z.enum(['uint8', 'float32']),
      /**
       * Pixels are normalized to (value · scale − mean) / std. The defaults leave them unchanged.
       */
      scale: z.number().optional(),
      mean: perColour.optional(),
      std: perColour.optional(),
      width: z.int().positive(),
      height: z.int().positive(),
      /** Whether the graph accepts every size that is a multiple of `multiple_of`. */
      dynamic: z.boolean().default(false),
      multiple_of: z.int().positive().default(32),
      /**
       * Value of the padding pixels around frames that have another aspect ratio than the input.
       */
      fill: z.int().min(0).max(255).default(114),
    }),
    /**
     * Groups of classes that are easily confused, such as car, truck and bus: overlapping boxes
     * suppress each other.
     */
    suppress_together: z.array(z.array(z.string())).default([]),
    /**
     * Objects with a lower score are not reported, unless a pipeline specifies another threshold.
     */
    score_threshold: share.default(DEFAULT_THRESHOLD),
    /**
     * Of two objects that overlap by more than this intersection over union, only the one with the
     * higher score is reported.
     */
    iou_threshold: share.default(DEFAULT_THRESHOLD),
    /** Score thresholds of classes that the model often reports by mistake, by label. */
    class_score_thresholds: z.record(z.string(), share).default({}),
    license: z.string().min(1),
    source: z.string().optional(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .meta({ id: 'ModelCard' })
export type ModelCard = z.infer<typeof modelCard>
