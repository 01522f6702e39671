import { parseAs } from '@eyrie/contract/parse'
import type { ElementContext, ElementDefinition } from './define.ts'

type Setup = Pick<ElementContext<unknown, unknown>, 'args' | 'config'>

/**
 * Returns arguments and configuration as the schemas of an element describe them. The JSON Schemas
 * in the manifest, by which the engine has checked them, contain no refinements, formats and
 * transformations. Throws an `Error` that names the first invalid field.
 */
export function parseSetup(definition: ElementDefinition, setup: Setup): Setup {
  // Elements in JavaScript may have no schemas.
  const { args, config }: Partial<ElementDefinition> = definition
  return {
    args: args ? parseAs(args, setup.args, '/args') : setup.args,
    config:
      config && setup.config !== undefined
        ? parseAs(config, setup.config, '/config')
        : setup.config,
  }
}
