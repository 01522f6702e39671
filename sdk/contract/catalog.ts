import { z } from 'zod'

const jsonSchema = z.record(z.string(), z.unknown()).nullable()

export const catalogElement = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    title: z.string(),
    description: z.string(),
    passthrough: z.boolean().meta({ description: 'Whether the element forwards all objects of its input' }),
    params_schema: jsonSchema,
    params_mapping: z.record(z.string(), z.record(z.string(), z.string())),
    config_schema: jsonSchema,
    input_schema: jsonSchema,
    output_schema: jsonSchema,
  })
  .meta({ id: 'CatalogElement' })
export type CatalogElement = z.infer<typeof catalogElement>

export const catalogModel = z
  .strictObject({
    name: z.string(),
    hw: z.string(),
    args: z.record(z.string(), z.record(z.string(), z.unknown())),
  })
  .meta({ id: 'CatalogModel' })
export type CatalogModel = z.infer<typeof catalogModel>

export const catalogDevice = z
  .strictObject({ type: z.string(), current_models: z.int().min(0), max_models: z.int().min(1).optional() })
  .meta({ id: 'CatalogDevice' })
export type CatalogDevice = z.infer<typeof catalogDevice>

export const catalog = z
  .strictObject({
    elements: z.array(catalogElement),
    models: z.array(catalogModel),
    devices: z.array(catalogDevice),
  })
  .partial()
  .meta({ id: 'Catalog' })
export type Catalog = z.infer<typeof catalog>
