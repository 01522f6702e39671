import { z } from 'zod'
import { modelCard } from './model.ts'

/**
 * Models that elements of plugins run: models of the machine, and models that a plugin contains.
 */

/** Limits of `width`, the width of the pictures from which regions are cut. */
const MIN_WIDTH = 16
const MAX_WIDTH = 3840
const DEFAULT_WIDTH = 1280
const MAX_MODELS = 16

const { name, head, license, source, sha256, score_threshold, iou_threshold, input } =
  modelCard.shape

/** A model that is part of a plugin. Its fields are those of a model card. */
export const ownModel = z
  .strictObject({
    name: name.meta({ description: 'The name with which the element runs the model' }),
    file: z
      .string()
      .max(200)
      .regex(
        /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*\.onnx$/,
        'must be the path of an .onnx file in the package',
      )
      .meta({ description: 'Path of the ONNX file in the package' }),
    sha256: sha256.meta({ description: 'SHA-256 of the file in hexadecimal digits' }),
    license: license.meta({ description: 'Licence of the model, as an SPDX identifier' }),
    source: source.meta({ description: 'Where the model comes from' }),
    input: input
      .omit({ dynamic: true, multiple_of: true })
      .extend({
        fit: z.enum(['letterbox', 'stretch']).default('letterbox').meta({
          description:
            'How a region with another aspect ratio is adapted to the input. letterbox: padded with fill; stretch: distorted',
        }),
      })
      .meta({ description: 'The pictures that the model reads, in pixels' }),
    head: head.optional().meta({
      description:
        'For models that detect objects: the format of the output. Other models return their outputs',
    }),
    labels: z
      .array(z.string().min(1))
      .default([])
      .meta({ description: 'Classes of a detection model' }),
    score_threshold,
    iou_threshold,
  })
  .refine(({ head, labels }) => head === undefined || labels.length > 0, {
    path: ['labels'],
    message: 'must name the classes, because the model has a head',
  })
  .meta({ id: 'PluginModel' })
export type OwnModel = z.infer<typeof ownModel>

/** The models that an element runs on parts of pictures. */
export const inferenceCapability = z
  .strictObject({
    models: z
      .array(name)
      .max(MAX_MODELS)
      .default([])
      .meta({ description: 'Names of models of the catalog' }),
    own: z
      .array(ownModel)
      .max(MAX_MODELS)
      .default([])
      .meta({ description: 'Models in the package' }),
    width: z.int().min(MIN_WIDTH).max(MAX_WIDTH).default(DEFAULT_WIDTH).meta({
      description: 'Width in pixels of the pictures from which the engine cuts regions',
    }),
  })
  .refine(({ models, own }) => models.length + own.length > 0, 'must name at least one model')
  .refine(({ models, own }) => {
    const names = [...models, ...own.map(({ name }) => name)]
    return new Set(names).size === names.length
  }, 'must not name a model twice')
  .meta({ id: 'PluginInference' })
export type InferenceCapability = z.infer<typeof inferenceCapability>
