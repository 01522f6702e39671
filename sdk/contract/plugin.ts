import { z } from 'zod'
import { pluginName, pluginVersion } from './manifest.ts'

/** One version of a plugin, as it lies on the engine's disk. */
export const installedVersion = z
  .strictObject({
    version: pluginVersion,
    origin: z.enum(['built-in', 'folder', 'uploaded']).meta({
      description:
        'built-in: comes with Eyrie; folder: lies where EYRIE_PLUGINS says; uploaded: may be deleted',
    }),
    license: z.string(),
    elements: z.array(z.string()).meta({ description: 'Names of the elements that it brings' }),
  })
  .meta({ id: 'PluginVersion' })
export type InstalledVersion = z.infer<typeof installedVersion>

/** A plugin with all its versions; pipelines run the active one. */
export const plugin = z
  .strictObject({ name: pluginName, active: pluginVersion, versions: z.array(installedVersion).min(1) })
  .meta({ id: 'Plugin' })
export type Plugin = z.infer<typeof plugin>

export const pluginSwitch = z.strictObject({ version: pluginVersion }).meta({ id: 'PluginSwitch' })
export type PluginSwitch = z.infer<typeof pluginSwitch>
