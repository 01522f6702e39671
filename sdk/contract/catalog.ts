import { z } from 'zod'
import { isolationLevel } from './health.ts'

/**
 * The catalog: everything from which the pipelines of an engine can be built. Elements are processing steps; some of them run
 * a model, a neural network, on a device.
 */

const jsonSchema = z.record(z.string(), z.unknown()).nullable()

/** An element, with JSON schemas of its arguments, its configuration, and the frame metadata that it reads and writes. */
export const catalogElement = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    title: z.string(),
    description: z.string(),
    passthrough: z.boolean().meta({ description: 'Whether the element forwards all objects of its input' }),
    params_schema: jsonSchema,
    /** Arguments that refer to the catalog: `{ models: { name: 'model' } }` if `model` is the name of a model. */
    params_mapping: z.record(z.string(), z.record(z.string(), z.string())),
    config_schema: jsonSchema,
    input_schema: jsonSchema,
    output_schema: jsonSchema,
  })
  .meta({ id: 'CatalogElement' })
export type CatalogElement = z.infer<typeof catalogElement>

/** A model on a device, and the arguments with which elements run it, by element. */
export const catalogModel = z
  .strictObject({
    name: z.string(),
    /** Type of the device. */
    hw: z.string(),
    args: z.record(z.string(), z.record(z.string(), z.unknown())),
  })
  .meta({ id: 'CatalogModel' })
export type CatalogModel = z.infer<typeof catalogModel>

/** A device that runs models, and the number of models that it runs and can run. */
export const catalogDevice = z
  .strictObject({
    type: z.string(),
    current_models: z.int().min(0),
    max_models: z.int().min(1).optional(),
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
