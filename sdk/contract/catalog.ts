import { z } from 'zod'
import { isolationLevel } from './health.ts'

/**
 * The catalog: everything from which the pipelines of an engine can be built. Elements are
 * processing steps; some of them run a model, a neural network, on a device.
 */

const jsonSchema = z.record(z.string(), z.unknown()).nullable()

/**
 * An element, with JSON schemas of its arguments, its configuration, and the frame metadata that
 * it reads and writes.
 */
export const catalogElement = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    title: z.string(),
    description: z.string(),
    passthrough: z
      .boolean()
      .meta({ description: 'Whether the element forwards all objects of its input' }),
    params_schema: jsonSchema.meta({
      description: 'Schema of the arguments; null if any are valid',
    }),
    params_mapping: z.record(z.string(), z.record(z.string(), z.string())).meta({
      description:
        'Arguments that refer to the catalog: {"models": {"name": "model"}} if the argument model is the name of a model',
    }),
    config_schema: jsonSchema.meta({
      description: 'Schema of the configuration; null if any is valid',
    }),
    input_schema: jsonSchema.meta({
      description: 'Schema of the frame metadata that the element reads',
    }),
    output_schema: jsonSchema.meta({
      description: 'Schema of the frame metadata that the element adds',
    }),
  })
  .meta({ id: 'CatalogElement' })
export type CatalogElement = z.infer<typeof catalogElement>

/** A model on a device, and the arguments with which elements run it. */
export const catalogModel = z
  .strictObject({
    name: z.string(),
    hw: z.string().meta({ description: 'Type of the device' }),
    args: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .meta({ description: 'Arguments by the name of the element, such as `infer`' }),
  })
  .meta({ id: 'CatalogModel' })
export type CatalogModel = z.infer<typeof catalogModel>

/** A device that runs models, and the number of models that it runs and can run. */
export const catalogDevice = z
  .strictObject({
    type: z.string(),
    current_models: z.int().min(0),
    max_models: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'Absent if there is no fixed limit' }),
    isolation: isolationLevel.meta({
      description:
        'How completely models on this device are separated from the rest of the machine; /health reports what is missing',
    }),
  })
  .meta({ id: 'CatalogDevice' })
export type CatalogDevice = z.infer<typeof catalogDevice>

/** The whole catalog, or the parts that the request selects. */
export const catalog = z
  .strictObject({
    elements: z.array(catalogElement),
    models: z.array(catalogModel),
    devices: z.array(catalogDevice),
  })
  .partial()
  .meta({ id: 'Catalog' })
export type Catalog = z.infer<typeof catalog>
