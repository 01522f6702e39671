import { z } from 'zod'

const jsonSchema = z.record(z.string(), z.unknown()).nullable().default(null)

/** One element of a plugin, as the catalog shows it. */
export const manifestElement = z.strictObject({
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/),
  title: z.string().min(1),
  description: z.string().min(1),
  passthrough: z.boolean(),
  /** Where it runs: `inline` on the engine's main thread (metadata only), or in a `worker` thread (pixels). */
  runs: z.enum(['inline', 'worker']),
  /** Keeps nothing from frame to frame, so that frames may be processed side by side. */
  stateless: z.boolean().default(false),
  /** What the engine grants it beyond a frame's metadata. */
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

/** A version by semver.org 2.0, without build metadata: two builds of one version are not told apart. */
export const pluginVersion = z
  .string()
  .max(64)
  .regex(
    new RegExp(`^${number}\\.${number}\\.${number}(?:-${word}(?:\\.${word})*)?$`),
    'a version is such as 1.4.0 or 1.4.0-beta.1',
  )

/** The major version of the element SDK that plugins are written for. */
export const SDK_VERSION = 1

/** `plugin.json`: everything the engine knows of a plugin without running its code. */
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
