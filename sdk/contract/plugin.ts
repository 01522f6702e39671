import { z } from 'zod'

const jsonSchema = z.record(z.string(), z.unknown()).nullable().default(null)

/** An element that a plugin provides. */
export const manifestElement = z.strictObject({
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/),
  title: z.string().min(1),
  description: z.string().min(1),
  passthrough: z.boolean(),
  /** `inline`: runs on the engine's main thread, without pixels; `worker`: runs in a worker thread. */
  runs: z.enum(['inline', 'worker']),
  /** The element has no state between frames, so several frames may be processed in parallel. */
  stateless: z.boolean().default(false),
  /** What the element needs in addition to the metadata of a frame. */
  needs: z.array(z.enum(['pixels', 'inference'])).default([]),
  params_schema: jsonSchema,
  params_mapping: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  config_schema: jsonSchema,
  input_schema: jsonSchema,
  output_schema: jsonSchema,
})
export type ManifestElement = z.infer<typeof manifestElement>

export const pluginName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/)

const number = '(?:0|[1-9]\\d*)'
const word = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)'

/** A semantic version (semver.org 2.0) without build metadata. */
export const pluginVersion = z
  .string()
  .max(64)
  .regex(
    new RegExp(`^${number}\\.${number}\\.${number}(?:-${word}(?:\\.${word})*)?$`),
    'must be a semantic version such as 1.4.0 or 1.4.0-beta.1',
  )

/** Major version of the element SDK. */
export const SDK_VERSION = 1

/** The plugin manifest, `plugin.json`: everything the engine needs to know before it runs code of the plugin. */
export const manifest = z
  .strictObject({
    name: pluginName,
    version: pluginVersion,
    license: z.string().min(1),
    sdk: z.literal(SDK_VERSION).meta({ description: 'Major version of the element SDK' }),
    entry: z.string().regex(/^[A-Za-z0-9_-]+\.(ts|js|mjs)$/),
    elements: z.array(manifestElement).min(1),
  })
  .meta({ id: 'PluginManifest' })
export type Manifest = z.infer<typeof manifest>

/** A version of a plugin that is installed on the engine. */
export const installedVersion = z
  .strictObject({
    version: pluginVersion,
    origin: z.enum(['built-in', 'folder', 'uploaded']).meta({
      description:
        'built-in: part of Eyrie; folder: in a folder of EYRIE_PLUGINS; uploaded: uploaded through the API, can be deleted',
    }),
    license: z.string(),
    elements: z.array(z.string()).meta({ description: 'Names of the elements that it provides' }),
  })
  .meta({ id: 'PluginVersion' })
export type InstalledVersion = z.infer<typeof installedVersion>

/** A plugin with its installed versions. Pipelines run the active version. */
export const plugin = z
  .strictObject({ name: pluginName, active: pluginVersion, versions: z.array(installedVersion).min(1) })
  .meta({ id: 'Plugin' })
export type Plugin = z.infer<typeof plugin>

export const pluginSwitch = z.strictObject({ version: pluginVersion }).meta({ id: 'PluginSwitch' })
export type PluginSwitch = z.infer<typeof pluginSwitch>
