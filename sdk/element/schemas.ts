import { z } from 'zod'
import type { ElementDefinition } from './define.ts'

/** JSON Schemas (draft 2020-12) of what an element takes and adds, as its plugin.json publishes them. */
export function schemasOf({ args, config, input, output }: ElementDefinition) {
  return {
    params_schema: jsonSchema(args),
    config_schema: config ? jsonSchema(config) : null,
    ...(input && { input_schema: jsonSchema(input) }),
    ...(output && { output_schema: jsonSchema(output) }),
  }
}

/** The form that is sent: what has a default may be left out. */
function jsonSchema(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    override({ jsonSchema }) {
      // zod bounds every integer by what a double holds exactly; that says nothing about an argument.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  })
}
