import { registerHooks } from 'node:module'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ElementDefinition, PluginDefinition } from '@eyrie/element'

/** Imports the module `entry` of a plugin and returns the definition of the element `name`. */
export async function loadElement(entry: string, name: string): Promise<ElementDefinition> {
  const module: { default?: PluginDefinition } = await import(pathToFileURL(entry).href)
  const plugin = module.default ?? {}
  const definition = Object.hasOwn(plugin, name) ? plugin[name] : undefined
  if (!definition) {
    throw new Error(`the default export of ${basename(entry)} has no element "${name}"`)
  }
  return definition
}

/**
 * Makes imports of `@eyrie/element` in plugins resolve to the copy of the engine,
 * regardless of where a plugin is installed. Must be called once per thread or process
 * before the first `loadElement`.
 */
export function resolveSdk(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      /^@eyrie\/element(\/|$)/.test(specifier)
        ? next(specifier, { ...context, parentURL: import.meta.url })
        : next(specifier, context),
  })
}
