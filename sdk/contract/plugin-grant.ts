import { z } from 'zod'
import { isolation } from './health.ts'
import { manifest, manifestElement, pluginVersion } from './plugin.ts'
import { versionSignature } from './plugin-signature.ts'
import { requestedCapability } from './requested-capability.ts'

/**
 * What plugins may use and report. A plugin asks for capabilities, such as requests to a server.
 * The engine shows them before the package is installed. If a person agrees, they are granted to
 * the plugin, and the grant is recorded.
 */

/** What a package contains and asks for, before it is installed. */
export const pluginInspection = z
  .strictObject({
    ...manifest.pick({ name: true, version: true, license: true }).shape,
    elements: z.array(
      manifestElement.pick({ name: true, title: true, description: true, capabilities: true }),
    ),
    active: pluginVersion.optional().meta({
      description: 'The version that pipelines run now; absent if the plugin is not installed',
    }),
    installed: z.boolean().meta({ description: 'Whether this version is installed already' }),
    not_granted: z.array(requestedCapability).meta({
      description:
        'What the package asks for beyond what the plugin was granted; everything if no version was uploaded before',
    }),
    signature: versionSignature.meta({ description: 'Who has signed the package' }),
    isolation: isolation.meta({
      description: 'The boundaries in which this machine runs uploaded plugins',
    }),
  })
  .meta({ id: 'PluginInspection' })
export type PluginInspection = z.infer<typeof pluginInspection>

/** A record of what a person has granted to a plugin. */
export const pluginGrant = z
  .strictObject({
    version: pluginVersion.meta({ description: 'The version that asked for the capabilities' }),
    time: z.iso.datetime(),
    client: z.string().optional().meta({
      description:
        'IP address of the client that granted them; absent if the version was installed by a release of the engine without grants',
    }),
    capabilities: z
      .array(requestedCapability)
      .meta({ description: 'What was granted in addition to earlier grants' }),
  })
  .meta({ id: 'PluginGrant' })
export type PluginGrant = z.infer<typeof pluginGrant>
