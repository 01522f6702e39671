import { z } from 'zod'
import { idList } from './ids.ts'
import { inferenceCapability } from './plugin-inference.ts'
import { versionSignature } from './plugin-signature.ts'
import { requestedCapability } from './requested-capability.ts'
import { checkSdkRange, sdkRange } from './sdk-version.ts'
import { viewSpec } from './view.ts'

/**
 * Plugins and their manifests. A plugin is a package of elements, the processing steps of
 * pipelines. Several versions of a plugin can be installed; pipelines run the active one.
 */

/** The capabilities that an element declares; it can use no others. */
export const capabilities = z
  .strictObject({
    frames: z
      .strictObject({
        format: viewSpec.shape.format,
        width: z.int().positive().max(8192).meta({ description: 'Maximum width in pixels' }),
        height: z.int().positive().max(8192).meta({ description: 'Maximum height in pixels' }),
      })
      .optional()
      .meta({ description: 'The pictures of frames that the element reads; none by default' }),
    inference: inferenceCapability.optional().meta({
      description:
        'The models that the element runs on parts of pictures, whose pixels it does not receive; none by default',
    }),
    events: z
      .record(
        z.string().min(1),
        z.record(z.string(), z.enum(['string', 'number', 'boolean', 'any'])),
      )
      .default({})
      .meta({
        description:
          'Types of the events that the element reports, each with the types of the fields that not every event may have',
      }),
    counters: z.array(z.string()).default([]).meta({
      description: 'Statistics that the element counts, such as up, down and total of lines',
    }),
    network: z
      .array(
        z
          .string()
          .regex(
            /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\]):[1-9][0-9]{0,4}$/,
            'must be host:port in lower case',
          ),
      )
      .default([])
      .meta({ description: 'Servers to which the element sends requests, as host:port' }),
    storage_bytes: z
      .int()
      .positive()
      .max(2 ** 30)
      .optional()
      .meta({
        description: 'Maximum size of the files that the element stores on each channel, in bytes',
      }),
    budget_ms: z.number().positive().max(1000).optional().meta({
      description: 'CPU time per frame in milliseconds, beyond which the element is stopped',
    }),
  })
  .meta({ id: 'PluginCapabilities' })
export type Capabilities = z.infer<typeof capabilities>

/** A JSON schema, or null if anything is valid. */
const jsonSchema = z.record(z.string(), z.unknown()).nullable().default(null)

/** An element, as the manifest of its plugin describes it. */
export const manifestElement = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/)
    .meta({ description: 'Name of the element in pipelines' }),
  title: z.string().min(1).meta({ description: 'Name of the element in the catalog' }),
  description: z.string().min(1).meta({ description: 'What the element does' }),
  passthrough: z
    .boolean()
    .meta({ description: 'Whether the element forwards all objects of its input' }),
  runs: z.enum(['inline', 'worker']).meta({
    description:
      'inline: on the main thread of the engine, for built-in elements only; worker: in a thread of its own, or for uploaded plugins in a process',
  }),
  stateless: z.boolean().default(false).meta({
    description:
      'Whether frames are processed independently of each other, so that several can be processed in parallel',
  }),
  needs: z
    .array(z.enum(['pixels', 'inference']))
    .default([])
    .meta({
      description: 'Inputs that the element requires in addition to the metadata of a frame',
    }),
  /**
   * What the element uses and reports. Without it, the element may report any events and counters.
   */
  capabilities: capabilities.optional(),
  params_schema: jsonSchema.meta({
    description: 'Schema of the arguments, which are fixed while a pipeline runs',
  }),
  params_mapping: z.record(z.string(), z.record(z.string(), z.string())).default({}).meta({
    description:
      'Arguments that refer to the catalog: {"models": {"name": "model"}} if the argument model is the name of a model',
  }),
  config_schema: jsonSchema.meta({
    description: 'Schema of the parameters that can be changed while a pipeline runs',
  }),
  input_schema: jsonSchema.meta({
    description: 'Schema of the parts of a frame that the element reads',
  }),
  output_schema: jsonSchema.meta({
    description: 'Schema of the parts of a frame that the element adds',
  }),
})
export type ManifestElement = z.infer<typeof manifestElement>

export const pluginName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/)

const NUMBER = '(?:0|[1-9]\\d*)'
const PRERELEASE_IDENTIFIER = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)'
const SEMANTIC_VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE_IDENTIFIER}(?:\\.${PRERELEASE_IDENTIFIER})*)?$`,
)

/** A semantic version without build metadata (Semantic Versioning 2.0.0, semver.org). */
export const pluginVersion = z
  .string()
  .max(64)
  .regex(SEMANTIC_VERSION, 'must be a semantic version such as 1.4.0 or 1.4.0-beta.1')

/**
 * Whether a version is for development, such as `1.4.0-dev` or `1.4.0-dev.2`: uploads of
 * it replace each other.
 */
export const isDevelopmentVersion = (version: string): boolean => /^[^-]*-dev(\.|$)/.test(version)

/**
 * The manifest of a plugin version, `plugin.json`. The engine reads it without
 * running code of the plugin.
 */
export const manifest = z
  .strictObject({
    name: pluginName.meta({
      description: 'Name of the plugin: lower-case letters, digits and hyphens',
    }),
    version: pluginVersion.meta({
      description:
        'Semantic version. Uploads of a development version such as 1.0.0-dev replace each other',
    }),
    license: z
      .string()
      .min(1)
      .meta({ description: 'License of the plugin, as an SPDX expression' }),
    sdk: sdkRange.superRefine((range, context) => {
      const problem = checkSdkRange(range)
      if (problem) context.addIssue({ code: 'custom', message: problem })
    }),
    entry: z
      .string()
      .regex(/^[A-Za-z0-9_-]+\.(ts|js|mjs|py)$/)
      .meta({
        description:
          'File that defines the elements: in JavaScript or TypeScript, its default export',
      }),
    elements: z.array(manifestElement).min(1),
  })
  .meta({ id: 'PluginManifest' })
export type Manifest = z.infer<typeof manifest>

/**
 * A plugin that was stopped on a channel, because it crashed repeatedly. A person decides
 * whether it runs again.
 */
export const quarantinedPlugin = z
  .strictObject({
    plugin: pluginName,
    version: pluginVersion,
    channel: z
      .int()
      .meta({ description: 'Id of the channel; the plugin continues to run on others' }),
    reason: z.string().meta({ description: 'The last crash' }),
    time: z.iso.datetime(),
  })
  .meta({ id: 'QuarantinedPlugin' })
export type QuarantinedPlugin = z.infer<typeof quarantinedPlugin>

/** A plugin version that is installed on the engine. */
export const installedVersion = z
  .strictObject({
    version: pluginVersion,
    origin: z.enum(['built-in', 'folder', 'uploaded']).meta({
      description:
        'built-in: part of Eyrie; folder: in a folder of EYRIE_PLUGINS; uploaded: uploaded through the API, can be deleted',
    }),
    license: z.string(),
    signature: versionSignature.optional().meta({
      description: 'Who has signed this version. Only uploaded versions need a signature',
    }),
    elements: z.array(z.string()).meta({ description: 'Names of the elements of this version' }),
    pipelines: idList.optional().meta({
      description:
        'Ids of the pipelines that run this version, because it is active or because they pin it; absent if none does',
    }),
    capabilities: z.record(z.string(), capabilities).optional().meta({
      description:
        'What elements declare to use, by element. An element that is missing declares nothing',
    }),
    quarantined: z
      .array(quarantinedPlugin.omit({ plugin: true, version: true }))
      .optional()
      .meta({
        description: 'The channels on which this version was stopped after repeated crashes',
      }),
    not_granted: z.array(requestedCapability).optional().meta({
      description:
        'What an uploaded version asks for beyond what the plugin was granted. It does not run until that is granted',
    }),
  })
  .meta({ id: 'PluginVersion' })
export type InstalledVersion = z.infer<typeof installedVersion>

/** A plugin with its installed versions. */
export const plugin = z
  .strictObject({
    name: pluginName,
    active: pluginVersion.meta({
      description: 'The version that pipelines run, unless they pin another',
    }),
    versions: z.array(installedVersion).min(1),
  })
  .meta({ id: 'Plugin' })
export type Plugin = z.infer<typeof plugin>
