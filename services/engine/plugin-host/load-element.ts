import { registerHooks } from 'node:module'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ElementDefinition, PluginDefinition } from '@eyrie/element'

/** The element `name` of the plugin whose module is `entry`. */
export async function loadElement(entry: string, name: string): Promise<ElementDefinition> {
  const module: { default?: PluginDefinition } = await import(pathToFileURL(entry).href)
  const plugin = module.default ?? {}
  const definition = Object.hasOwn(plugin, name) ? plugin[name] : undefined
  if (!definition) throw new Error(`the default export of ${basename(entry)} has no element "${name}"`)
  return definition
}

/**
 * Makes every plugin use the `@eyrie/element` of the engine, wherever the plugin is installed. Call it in a thread or
 * process before the first `loadElement`.
 */
export function resolveSdk(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      /^@eyrie\/element(\/|$)/.test(specifier)
        ? next(specifier, { ...context, parentURL: import.meta.url })
        : next(specifier, context),
  })
}
